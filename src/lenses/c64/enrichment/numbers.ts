/** Finds the numbers of a question, in the notations of assemblers and BASICs and in all bases, and determines the role of each. */

/** Largest number that is recognised: two bytes. */
const MAX_NUMBER = 0xffff
const MAX_BYTE = 0xff

/**
 * What a number stands for, most specific first: certainly an address, possibly an address, an amount, or part of the prose (a year, "16
 * colours"). Plugins ignore numbers in prose.
 */
export type NumberRole = 'address' | 'candidate' | 'value' | 'prose'

const ROLES: readonly NumberRole[] = ['address', 'candidate', 'value', 'prose']

export interface ParsedNumber {
  /** The number as first written in the question. */
  readonly sourceToken: string
  /** Value of the number, 0 to 65535. */
  readonly value: number
  readonly decimal: string
  /** The number in hexadecimal: `$` and two digits up to 255, four digits above. */
  readonly hex: string
  /** The number in binary: `%` and eight digits; absent above 255. */
  readonly binary?: string
  readonly role?: NumberRole
  /** Start of each occurrence in the question, in UTF-16 units, ascending. */
  readonly at?: readonly number[]
}

export function isByte(value: number): boolean {
  return value <= MAX_BYTE
}

function toHex(value: number): string {
  return `$${digits(value, 16, isByte(value) ? 2 : 4)}`
}

/** An address: `$` and always four digits. */
export function toAddress(value: number): string {
  return `$${digits(value, 16, 4)}`
}

function toBinary(value: number): string {
  return `%${digits(value, 2, 8)}`
}

function digits(value: number, base: number, width: number): string {
  return value.toString(base).toUpperCase().padStart(width, '0')
}

/** Positions of a number in the query. If the number was made without positions, it is searched for by its token. */
export function placesOf(number: ParsedNumber, query: string): readonly number[] {
  if (number.at !== undefined) return number.at
  const first = query.indexOf(number.sourceToken)
  return first < 0 ? [] : [first]
}

/**
 * Numbers of a question in order of appearance, each value once, with its first spelling and its most specific role. The result is frozen.
 */
export function extractNumbers(query: string, rules: NumberRules = {}): readonly ParsedNumber[] {
  const occurrences = scanNumbers(query, rules)
  const roles = rolesOf(occurrences, query, rules)
  const byValue = new Map<number, { token: string; role: NumberRole; at: number[] }>()
  for (const [index, { token, value, start }] of occurrences.entries()) {
    const role = roles[index] ?? 'value'
    const known = byValue.get(value)
    if (known === undefined) byValue.set(value, { token, role, at: [start] })
    else {
      known.at.push(start)
      if (ROLES.indexOf(role) < ROLES.indexOf(known.role)) known.role = role
    }
  }
  return Object.freeze([...byValue].map(([value, { token, role, at }]) => parsed(value, token, role, at)))
}

function parsed(value: number, sourceToken: string, role: NumberRole, at: readonly number[]): ParsedNumber {
  const forms = { sourceToken, value, decimal: String(value), hex: toHex(value) }
  const binary = isByte(value) ? { binary: toBinary(value) } : {}
  return Object.freeze({ ...forms, ...binary, role, at: Object.freeze([...at]) })
}

export interface NumberOccurrence {
  readonly token: string
  readonly value: number
  /** Position in UTF-16 units; the end is exclusive. */
  readonly start: number
  readonly end: number
  /** `grouped`: decimal with commas as thousands separators. */
  readonly notation: 'hex' | 'binary' | 'decimal' | 'grouped'
  /** Number of digits of the number as written. */
  readonly digits: number
}

/** All occurrences of numbers in a text, in order. */
export function scanNumbers(text: string, rules: NumberRules = {}): readonly NumberOccurrence[] {
  const found: NumberOccurrence[] = []
  const { separate, grouping } = patternsOf(rules)
  const pattern = new RegExp(rules.commasSeparate?.(text) === true ? separate : grouping, 'giu')
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    const numbers = numbersOf(match)
    found.push(...numbers)
    const [first] = numbers
    const second = first !== undefined && match.groups?.['dollar'] !== undefined ? rangeEnd(text, first) : null
    if (second === null) continue
    found.push(second)
    pattern.lastIndex = second.end
  }
  return found
}

const WORD = String.raw`[\p{L}\p{N}_]`
const BEFORE = `(?<!${WORD})`
/** A number that begins with a digit must not directly follow a sign of another notation either. */
const BEFORE_DIGIT = String.raw`(?<![\p{L}\p{N}_$%&])`
const AFTER = String.raw`(?!${WORD}|\.\d)`
/** A decimal may be followed by a percent sign, unless that sign begins a binary number. */
const AFTER_DECIMAL = String.raw`(?![\p{L}\p{N}_$&]|\.\d|%${WORD})`
const HEX = '[0-9a-f]'

const PASSED_OVER = [
  String.raw`(?:\d{4}-\d{2}-\d{2}(?:t\d{2}[\d:.]*z?)?)`,
  String.raw`(?:\d{1,2}:[0-5]\d(?::[0-5]\d)?(?:\.\d+)?(?!\d))`,
  String.raw`(?:(?<!\d)\d+(?:\.\d+)+|(?<!\.)\.\d+)`,
]
const MARKED = [
  `${BEFORE_DIGIT}0x(?<zeroX>${HEX}{1,4})${AFTER}`,
  `${BEFORE}&(?<ampersand>${HEX}{4})${AFTER}`,
  // Four digits of which at least one is decimal, so that "beach" is not a number; or a leading zero.
  String.raw`${BEFORE_DIGIT}(?<trailingH>0${HEX}{1,4}|(?=[a-f]{0,3}\d)${HEX}{4})h${AFTER}`,
  `${BEFORE}%(?<percent>[01](?:_?[01]){0,15})${AFTER}`,
  `${BEFORE_DIGIT}0b(?<zeroB>[01]{1,16})${AFTER}`,
]
const GROUPED = String.raw`(?<![\p{L}\p{N}_$%&,])(?<grouped>[1-9]\d{0,2}(?:,\d{3})+)(?!,?\d)${AFTER_DECIMAL}`
/** Maximum number of keywords in a row that may touch a number. */
const MAX_WORDS = 8

interface Patterns {
  readonly separate: string
  readonly grouping: string
}

const PATTERNS = new WeakMap<NumberRules, Patterns>()

function patternsOf(rules: NumberRules): Patterns {
  const known = PATTERNS.get(rules)
  if (known !== undefined) return known
  // A keyword that touches a number stands alone or in a row of keywords and numbers: `1TO10`.
  const keyword = anyOf(rules.keywords)
  const row = String.raw`(?<=(?<![\p{L}\p{N}_$%&])(?:\d{0,5}${keyword}){1,${MAX_WORDS}})`
  const mnemonic = `(?<=${BEFORE}${anyOf(rules.mnemonics)})`
  const dollar = String.raw`(?:${BEFORE}|${row}|${mnemonic}|(?<=\$${HEX}{1,4}))\$(?<dollar>${HEX}{1,4})${AFTER}`
  const wordBehind = String.raw`(?=${keyword}{1,${MAX_WORDS}}(?![\p{L}_]))`
  const decimal = String.raw`(?:${BEFORE_DIGIT}|${row})(?<decimal>\d{1,5})(?:${AFTER_DECIMAL}|${wordBehind})`
  const marked = [...PASSED_OVER, dollar, ...MARKED]
  const made = { separate: [...marked, decimal].join('|'), grouping: [...marked, GROUPED, decimal].join('|') }
  PATTERNS.set(rules, made)
  return made
}

/** Pattern for one of these words; without words it never matches. */
function anyOf(words: readonly string[] = []): string {
  return words.length === 0 ? '(?:(?!))' : `(?:${words.join('|')})`
}

/** Notation of each group of the pattern; groups not listed are hexadecimal. */
const NOTATIONS: Readonly<Record<string, NumberOccurrence['notation']>> = {
  percent: 'binary',
  zeroB: 'binary',
  decimal: 'decimal',
}
const RADIX = { hex: 16, binary: 2, decimal: 10, grouped: 10 } as const

/** Numbers of a match. Empty if the match only has to be skipped, or the number is too large. */
function numbersOf(match: RegExpExecArray): readonly NumberOccurrence[] {
  const [token] = match
  const named = Object.entries(match.groups ?? {}).find(([, digits]) => digits !== undefined)
  if (named === undefined) return []
  const [form, digits] = named
  if (form === 'grouped') return groupedOf(token, match.index)
  return occurrence(token, digits, match.index, NOTATIONS[form] ?? 'hex')
}

/** One number with thousands separators, if it is not too large; otherwise the commas separate several numbers. */
function groupedOf(token: string, start: number): readonly NumberOccurrence[] {
  const whole = occurrence(token, token.replaceAll(',', ''), start, 'grouped')
  if (whole.length > 0) return whole
  let at = start
  return token.split(',').flatMap(part => {
    const found = occurrence(part, part, at, 'decimal')
    at += part.length + 1
    return found
  })
}

function occurrence(
  token: string,
  digits: string,
  start: number,
  notation: NumberOccurrence['notation'],
): readonly NumberOccurrence[] {
  const bare = digits.replaceAll('_', '')
  const value = Number.parseInt(bare, RADIX[notation])
  if (value > MAX_NUMBER) return []
  return [{ token, value, start, end: start + token.length, notation, digits: bare.length }]
}

/**
 * End of a range such as `$800-9FF` or `$800-1000`, which needs no `$` of its own. With fewer digits than the beginning it is not an end
 * but a subtrahend: `$1000-1`.
 */
function rangeEnd(text: string, first: NumberOccurrence): NumberOccurrence | null {
  const pattern = new RegExp(`[-–](${HEX}{${first.digits},4})${AFTER}`, 'iuy')
  pattern.lastIndex = first.end
  const digits = pattern.exec(text)?.[1]
  return digits === undefined ? null : (occurrence(digits, digits, first.end + 1, 'hex')[0] ?? null)
}

/** Rules of a domain for numbers, all optional. Without rules every number is still found, with a role determined by notation and size. */
export interface NumberRules {
  /** Words that may directly touch a number on either side, because some languages need no blanks. */
  readonly keywords?: readonly string[] | undefined
  /** Words that may be directly followed by a dollar sign. */
  readonly mnemonics?: readonly string[] | undefined
  /** Whether commas in this question separate numbers even where they could be thousands separators. */
  readonly commasSeparate?: ((query: string) => boolean) | undefined
  /** Words whose first operand is an address. */
  readonly addressWords?: readonly string[] | undefined
  /** Units after a decimal that make it prose: "1024 bytes". Plurals are listed separately. */
  readonly units?: readonly string[] | undefined
  /** Decimals that are names, such as models of a machine. */
  readonly names?: ReadonlySet<number> | undefined
  /** Whether a decimal is not a number of the domain, such as a year. */
  readonly isProse?: ((value: number) => boolean) | undefined
  /** Whether a decimal above 255 is a known address. */
  readonly isKnownAddress?: ((value: number) => boolean) | undefined
  /** Called once per question; returns a function that says whether a number up to 255 is an address. Otherwise it is a value. */
  readonly byteAddresses?: ((query: string) => (occurrence: NumberOccurrence) => boolean) | undefined
}

/** The role of each occurrence. They are determined in order, because the second number of a pair depends on the first. */
function rolesOf(occurrences: readonly NumberOccurrence[], query: string, rules: NumberRules): readonly NumberRole[] {
  const operand = operandPattern(rules)
  const unit = unitPattern(rules.units)
  const isByteAddress = rules.byteAddresses?.(query)
  const roles: NumberRole[] = []
  const roleOf = (occurrence: NumberOccurrence, index: number): NumberRole => {
    const { value, start, end, notation } = occurrence
    const before = textBefore(query, start)
    const isOperand = operand?.test(before) === true
    const isDecimal = notation === 'decimal' || notation === 'grouped'
    if (isDecimal && !/[,#=]\s*$/.test(before) && unit.test(query.slice(end))) return 'prose'
    if (isDecimal && !isOperand && isNamed(occurrence, rules)) {
      const previous = occurrences[index - 1]
      const isPaired = previous !== undefined && roles[index - 1] === 'address' && isPair(previous, occurrence, query)
      return isByte(value) && (isPaired || /[#=]\s*$/.test(before)) ? 'value' : 'prose'
    }
    if (isOperand) return 'address'
    if (isByte(value)) return isByteAddress?.(occurrence) === true ? 'address' : 'value'
    const next = occurrences[index + 1]
    const leads = next !== undefined && isByte(next.value) && isPair(occurrence, next, query)
    return !isDecimal || leads || rules.isKnownAddress?.(value) === true ? 'address' : 'candidate'
  }
  for (const [index, occurrence] of occurrences.entries()) roles.push(roleOf(occurrence, index))
  return roles
}

/** Whether a decimal is a name, a year or the like, or an amount with thousands separators. */
function isNamed({ value, notation }: NumberOccurrence, rules: NumberRules): boolean {
  if (rules.names?.has(value) === true || rules.isProse?.(value) === true) return true
  return notation === 'grouped' && rules.isKnownAddress?.(value) !== true
}

function isPair(first: NumberOccurrence, second: NumberOccurrence, query: string): boolean {
  return /^\s*,\s*$/.test(query.slice(first.end, second.start))
}

function operandPattern({ addressWords: words = [], keywords }: NumberRules): RegExp | null {
  if (words.length === 0) return null
  const row = `${BEFORE}(?:\\d{0,5}${anyOf(keywords)}){0,${MAX_WORDS}}\\d{0,5}`
  return new RegExp(String.raw`${row}(?:${words.join('|')})\s*\(?\s*$`, 'iu')
}

function unitPattern(units: readonly string[] = []): RegExp {
  const percent = String.raw`\s?%(?![\p{L}\p{N}_])`
  const words = String.raw`[\s-]?(?:${units.join('|')})(?![\p{L}\p{N}_])`
  return new RegExp(units.length === 0 ? `^${percent}` : `^(?:${percent}|${words})`, 'iu')
}

/**
 * Number of characters looked at before a number. It is longer than any searched word with its following blanks, and keeps the time linear
 * for long questions.
 */
const NEAR = 48

/** The text before `at`, a position in UTF-16 units; at most `NEAR` units. */
export function textBefore(query: string, at: number): string {
  return query.slice(Math.max(0, at - NEAR), at)
}
