/** The numbers of a question, found once for all plugins. */
import { type NumberRules, rolesOf } from './number-rules.ts'
import { isByte, type NumberRole, type ParsedNumber, ROLES, toBinary, toHex } from './parsed-number.ts'
import { scanNumbers } from './scan-numbers.ts'

/** In order of appearance, each value once, under its first spelling and with its most telling role. Frozen. */
export function extractNumbers(query: string, rules: NumberRules = {}): readonly ParsedNumber[] {
  const occurrences = scanNumbers(query, rules.commasSeparate?.(query) === true)
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
