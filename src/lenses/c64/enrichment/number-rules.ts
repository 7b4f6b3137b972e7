/**
 * What a number in a question stands for. How a place, an operand or an amount is recognised is the same everywhere;
 * which words, units and known places there are is a domain's own, and comes in as rules.
 */
import type { NumberRole } from './parsed-number.ts'
import { isByte } from './parsed-number.ts'
import type { NumberOccurrence } from './scan-numbers.ts'
import { textBefore } from './surroundings.ts'

/** All optional: a domain without rules still gets every number, with roles by notation and size. */
export interface NumberRules {
  /** Whether the commas of this question separate even groups of three digits. */
  readonly commasSeparate?: ((query: string) => boolean) | undefined
  /** Words whose first operand is an address. */
  readonly addressWords?: readonly string[] | undefined
  /** After a decimal these make it prose: "1024 bytes". Plurals are named beside their singulars. */
  readonly units?: readonly string[] | undefined
  /** Decimals that name things, such as models of a machine. */
  readonly names?: ReadonlySet<number> | undefined
  /** Decimals that are no numbers of the domain, such as years. */
  readonly isProse?: ((value: number) => boolean) | undefined
  /** Asked for decimals above 255. */
  readonly isKnownAddress?: ((value: number) => boolean) | undefined
  /** Made once a question; asked for numbers up to 255, which are values otherwise. */
  readonly byteAddresses?: ((query: string) => (occurrence: NumberOccurrence) => boolean) | undefined
}

/** One role an occurrence; they are given in order, since the second of a pair looks at the first. */
export function rolesOf(
  occurrences: readonly NumberOccurrence[],
  query: string,
  rules: NumberRules,
): readonly NumberRole[] {
  const readers = {
    operand: operandPattern(rules.addressWords),
    unit: unitPattern(rules.units),
    isByteAddress: rules.byteAddresses?.(query) ?? (() => false),
  }
  const roles: NumberRole[] = []
  for (const [index, occurrence] of occurrences.entries()) {
    const previous = occurrences[index - 1]
    const paired = previous !== undefined && roles[index - 1] === 'address' && isPair(previous, occurrence, query)
    const next = occurrences[index + 1]
    const leads = next !== undefined && isByte(next.value) && isPair(occurrence, next, query)
    roles.push(roleOf(occurrence, query, rules, { ...readers, paired, leads }))
  }
  return roles
}

interface Surroundings {
  readonly operand: RegExp | null
  readonly unit: RegExp
  readonly isByteAddress: (occurrence: NumberOccurrence) => boolean
  /** The second of a pair whose first is an address. */
  readonly paired: boolean
  /** The first of a pair whose second is a byte. */
  readonly leads: boolean
}

function roleOf(occurrence: NumberOccurrence, query: string, rules: NumberRules, around: Surroundings): NumberRole {
  const { value } = occurrence
  const before = textBefore(query, occurrence.start)
  const isOperand = around.operand?.test(before) === true
  const isDecimal = occurrence.notation === 'decimal' || occurrence.notation === 'grouped'
  if (isDecimal && !/[,#=]\s*$/.test(before) && around.unit.test(query.slice(occurrence.end))) return 'prose'
  if (isDecimal && !isOperand && isNamed(occurrence, rules)) {
    return isByte(value) && (around.paired || /[#=]\s*$/.test(before)) ? 'value' : 'prose'
  }
  if (isOperand) return 'address'
  if (isByte(value)) return around.isByteAddress(occurrence) ? 'address' : 'value'
  if (!isDecimal || around.leads || rules.isKnownAddress?.(value) === true) return 'address'
  return 'candidate'
}

/** Whether a decimal is a name, a year or the like, or an amount with commas in it. */
function isNamed({ value, notation }: NumberOccurrence, rules: NumberRules): boolean {
  if (rules.names?.has(value) === true || rules.isProse?.(value) === true) return true
  return notation === 'grouped' && rules.isKnownAddress?.(value) !== true
}

function isPair(first: NumberOccurrence, second: NumberOccurrence, query: string): boolean {
  return /^\s*,\s*$/.test(query.slice(first.end, second.start))
}

function operandPattern(words: readonly string[] = []): RegExp | null {
  return words.length === 0 ? null : new RegExp(String.raw`(?<![\p{L}\p{N}_])(?:${words.join('|')})\s*\(?\s*$`, 'iu')
}

function unitPattern(units: readonly string[] = []): RegExp {
  const percent = String.raw`\s?%(?![\p{L}\p{N}_])`
  const words = String.raw`[\s-]?(?:${units.join('|')})(?![\p{L}\p{N}_])`
  return new RegExp(units.length === 0 ? `^${percent}` : `^(?:${percent}|${words})`, 'iu')
}
