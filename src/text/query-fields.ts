/** Field conditions: from a token `name:value` to a filter. What a value may be depends on what the field holds. */
import type { Instant } from '../base/clock.ts'
import { compareText } from '../base/compare.ts'
import { editDistance } from '../base/near-names.ts'
import { type FieldName, type Filter, LINKED, type Scalar, TIME_FIELDS } from '../model/filter.ts'
import type { FieldOperand, FieldOperator, FieldToken, QueryToken } from '../model/plan.ts'
import { querySyntax } from './query-lexer.ts'
import { isAge, parseTimeSpan, type TimeSpan } from './time-value.ts'

/** Text fields of an entry, and what a plain `name:value` means for each: the whole text, or a part of it. */
const TEXT_FIELDS: Readonly<Record<FieldName, 'whole' | 'part'>> = {
  id: 'whole',
  collection: 'whole',
  kind: 'whole',
  holder: 'whole',
  tag: 'whole',
  [LINKED]: 'whole',
  title: 'part',
  origin: 'part',
}

/**
 * The field meant by a name in a question, or null: a known name, `tags` for `tag`, `meta.x` for `metadata.x`. Any
 * metadata path is a field.
 */
export function resolveField(name: string, known: readonly FieldName[]): FieldName | null {
  if (known.includes(name)) return name
  if (name === 'tags') return 'tag'
  const path = /^(?:metadata|meta)((?:\.[^.]+)+)$/.exec(name)
  return path === null ? null : `metadata${path[1]}`
}

/** The filter of a condition, its sign worked in. Throws `query_syntax` for a value the field cannot have. */
export function fieldFilter(token: FieldToken, field: FieldName, now: Instant): Filter {
  const filter = positiveFilter(token, field, now)
  return token.sign === '-' ? { op: 'not', of: filter } : filter
}

/** A value that a field is compared with, and how. */
interface Comparison {
  readonly token: FieldToken
  readonly field: FieldName
  readonly operator: FieldOperator
  readonly operand: FieldOperand
}

function positiveFilter(token: FieldToken, field: FieldName, now: Instant): Filter {
  if (field === LINKED && ![':', ':=', ':()'].includes(token.operator)) {
    throw invalidValue(token, 'linked takes the name of a note', 'Write linked:name or linked:"two words".')
  }
  if (token.operator === ':*') return { op: 'exists', field }
  const operator = token.operator === ':()' ? ':' : token.operator
  return anyOf(token.operands.map(operand => filterOf({ token, field, operator, operand }, now)))
}

function filterOf(comparison: Comparison, now: Instant): Filter {
  const { field } = comparison
  if (TIME_FIELDS.includes(field)) return timeFilter(comparison, now)
  return Object.hasOwn(TEXT_FIELDS, field) ? textFilter(comparison) : openFilter(comparison)
}

function textFilter({ token, field, operator, operand }: Comparison): Filter {
  const part = operator === ':~' || (operator === ':' && TEXT_FIELDS[field] === 'part')
  if (part) return { op: 'contains', field, text: operand.text }
  if (operator === ':' || operator === ':=') return { op: 'eq', field, value: operand.text }
  throw invalidValue(
    token,
    `${field} holds text and has no order`,
    'Put the value in quotes if the sign belongs to it.',
  )
}

function timeFilter(comparison: Comparison, now: Instant): Filter {
  const { token, field, operator, operand } = comparison
  const range = operator === ':' ? splitRange(operand) : null
  if (range !== null) {
    const from = range.from === null ? null : timeSpan(comparison, range.from, now).start
    const last = range.to === null ? null : timeSpan(comparison, range.to, now)
    return between(comparison, from, last === null ? null : last.end, last !== null && last.start < last.end)
  }
  const span = timeSpan(comparison, operand.text, now)
  const isPoint = span.start === span.end
  switch (operator) {
    case ':>':
      return { op: isPoint ? 'gt' : 'gte', field, value: span.end }
    case ':>=':
      return { op: 'gte', field, value: span.start }
    case ':<':
      return { op: 'lt', field, value: span.start }
    case ':<=':
      return { op: isPoint ? 'lte' : 'lt', field, value: span.end }
    case ':~':
      throw invalidValue(token, `${field} is a time and has no parts`, TIME_HINT)
    default:
      if (isAge(operand.text)) return between(comparison, span.start, now, false)
      return isPoint ? { op: 'eq', field, value: span.start } : between(comparison, span.start, span.end, true)
  }
}

const TIME_HINT =
  'Write a date (2026-03-01, 2026-03, 2026), a time with zone (2026-03-01T12:00:00Z), an age (24h, 7d, 2w, 6mo), today or yesterday.'

function timeSpan({ token, field }: Comparison, text: string, now: Instant): TimeSpan {
  const span = parseTimeSpan(text, now)
  if (span === null) throw invalidValue(token, `${field}: ${shown(text)} is no time`, TIME_HINT)
  return span
}

/** Fields whose type is not known beforehand: a bare number also finds the number, a quoted one only the text. */
function openFilter(comparison: Comparison): Filter {
  const { field, operator, operand } = comparison
  const { text } = operand
  const number = operand.quoted ? null : parseNumber(text)
  const range = operator === ':' ? splitRange(operand) : null
  if (range !== null) {
    const ends = [range.from, range.to].map(end => (end === null ? null : parseNumber(end)))
    const numeric = [range.from, range.to].every((end, at) => end === null || ends[at] !== null)
    const [from, to] = numeric ? ends : [range.from, range.to]
    return between(comparison, from ?? null, to ?? null, false)
  }
  switch (operator) {
    case ':>':
      return { op: 'gt', field, value: number ?? text }
    case ':>=':
      return { op: 'gte', field, value: number ?? text }
    case ':<':
      return { op: 'lt', field, value: number ?? text }
    case ':<=':
      return { op: 'lte', field, value: number ?? text }
    case ':~':
      return { op: 'contains', field, text }
    default:
      if (operand.quoted) return { op: 'eq', field, value: text }
      if (number !== null) return { op: 'in', field, values: [text, number] }
      if (text === 'true' || text === 'false') return { op: 'in', field, values: [text, text === 'true'] }
      return { op: 'eq', field, value: text }
  }
}

/** `a..b`, `a..`, `..b`, unquoted; three dots are no range. */
function splitRange(operand: FieldOperand): { readonly from: string | null; readonly to: string | null } | null {
  const at = operand.text.indexOf('..')
  if (operand.quoted || at < 0 || operand.text.includes('...') || operand.text === '..') return null
  return { from: operand.text.slice(0, at) || null, to: operand.text.slice(at + 2) || null }
}

/** Both ends belong to it unless `open` leaves out the upper one. */
function between({ token, field }: Comparison, from: Scalar | null, to: Scalar | null, open: boolean): Filter {
  if (from !== null && to !== null && (isAfter(from, to) || (open && from === to))) {
    throw invalidValue(token, 'the range ends before it begins', 'Write the smaller value first.')
  }
  const lower: readonly Filter[] = from === null ? [] : [{ op: 'gte', field, value: from }]
  const upper: readonly Filter[] = to === null ? [] : [{ op: open ? 'lt' : 'lte', field, value: to }]
  const bounds = [...lower, ...upper]
  return bounds.length === 1 ? (bounds[0] as Filter) : { op: 'and', of: bounds }
}

function isAfter(a: Scalar, b: Scalar): boolean {
  return typeof a === 'string' && typeof b === 'string' ? compareText(a, b) > 0 : a > b
}

function anyOf(filters: readonly Filter[]): Filter {
  return filters.length === 1 ? (filters[0] as Filter) : { op: 'or', of: filters }
}

function parseNumber(text: string): number | null {
  if (!/^-?\d+(\.\d+)?([eE][+-]?\d{1,3})?$/.test(text)) return null
  const number = Number(text)
  return Number.isFinite(number) ? number : null
}

function invalidValue(token: FieldToken, message: string, hint: string): Error {
  return querySyntax('invalid_value', token, message, hint)
}

function shown(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 39)}…` : text)
}

// Words that look like a field condition with a slip in the name: searched as text, and a note says so.

interface MisspeltField {
  readonly written: string
  readonly meant: FieldName
}

/** At most five; one slip (a letter wrong, missing, too many or swapped) or only the case is wrong. */
export function misspeltFields(tokens: readonly QueryToken[], fields: readonly FieldName[]): readonly MisspeltField[] {
  const found: MisspeltField[] = []
  for (const token of tokens) {
    if (found.length === 5) break
    const written =
      token.kind === 'word' && !token.glued ? /^([A-Za-z_]{2,20}):[^\s:/]/.exec(token.text)?.[1] : undefined
    const meant = written === undefined ? undefined : fields.find(field => isSlip(written.toLowerCase(), field))
    if (written !== undefined && meant !== undefined && written !== meant) found.push({ written, meant })
  }
  return found
}

/** Short names are too near to everything: there only the case may be wrong. */
function isSlip(written: string, field: FieldName): boolean {
  if (written === field) return true
  return field.length >= 4 && written[0] === field[0] && editDistance(written, field, 1) === 1
}
