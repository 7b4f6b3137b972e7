/**
 * The grammar of queries: converts a query's text to terms, required and excluded words, and filters. The guide "query-language" describes
 * the grammar for users.
 */
import type { Instant } from '../base/clock.ts'
import { compareText } from '../base/compare.ts'
import { editDistance } from '../base/near-names.ts'
import { QuerentError, showValue } from '../model/errors.ts'
import { type FieldName, type Filter, LINKED, type Scalar, TIME_FIELDS } from '../model/filter.ts'
import { MAX_QUERY_LENGTH } from '../model/limits.ts'
import type { Note } from '../model/page.ts'
import type {
  Boosted,
  FieldCondition,
  FieldOperand,
  FieldOperator,
  FieldToken,
  Operand,
  ParsedQuery,
  PhraseToken,
  QueryTerm,
  QueryToken,
  WordToken,
} from '../model/plan.ts'
import type { Syntax } from '../model/query.ts'
import { lexLeniently, type Unread, wordsIn } from './lenient-query.ts'
import { cleanText, lexQuery, querySyntax } from './query-lexer.ts'
import { isAge, parseTimeSpan, type TimeSpan } from './time-value.ts'

export interface ParseOptions {
  /** Field names that conditions `name:value` may use, in addition to every metadata path. */
  readonly fields: readonly FieldName[]
  /** Time from which relative times in the query, such as `7d`, count back. */
  readonly now: Instant
  /** Whether a blank query is permitted, because the request has other filters. Default false. */
  readonly allowEmpty?: boolean | undefined
  /** Which syntax the query has: `lenient` (default), `strict`, or `plain` text without operators. */
  readonly syntax?: Syntax | undefined
  /**
   * In strict syntax: whether a sign alone and a condition on an unknown field are read as text, as BQ-032 requires. Default false: they
   * are errors.
   */
  readonly allowsLoneSigns?: boolean | undefined
}

/** Largest number of phrases, required and excluded words, and field conditions in one query. Each costs a look-up over all entries. */
const MAX_CONDITIONS = 100

/**
 * Parses a query. Throws `invalid_argument` for a blank text. Strict syntax also throws `query_syntax`, with the position of the error in
 * the text, and `too_large` for a text that is too long or has too many conditions; the other syntaxes read what they can, and add notes on
 * what was not read.
 */
export function parseQuery(given: string, options: ParseOptions): ParsedQuery {
  const text = checkText(given, options)
  const { tokens, unread } = tokensOf(given, text, options)
  return parsedFrom(text, tokens, options, [
    ...(text.length < given.length ? [cutNote(given.length)] : []),
    ...unreadNotes(unread),
  ])
}

/** Makes the parsed query from tokens; also used again after some conditions were turned into text. */
export function parsedFrom(
  text: string,
  tokens: readonly QueryToken[],
  options: ParseOptions,
  notes: readonly Note[],
): ParsedQuery {
  const fields = tokens.filter(isField).map(token => conditionOf(token, options))
  return {
    text,
    tokens,
    terms: tokens.flatMap(termsOf),
    phrases: tokens.filter(isPhrase).filter(hasSign(null)).map(operandOf),
    preferred: [],
    must: tokens.filter(isOperand).filter(hasSign('+')).map(operandOf),
    mustNot: tokens.filter(isOperand).filter(hasSign('-')).map(operandOf),
    fields,
    filter: all(fields.map(condition => condition.filter)),
    residual: residualText(tokens),
    boosts: tokens.filter(isOperand).flatMap(boostOf),
    notes,
  }
}

function tokensOf(
  given: string,
  text: string,
  options: ParseOptions,
): { readonly tokens: readonly QueryToken[]; readonly unread: readonly Unread[] } {
  const { syntax = 'lenient', fields } = options
  if (syntax === 'plain') return { tokens: wordsIn(text, { position: 0, length: text.length }), unread: [] }
  const isField = (name: string) => resolveField(name, fields) !== null
  if (syntax === 'strict') {
    const tokens = lexQuery(text, { isField })
    checkConditions(tokens)
    if (options.allowsLoneSigns !== true) refuseUnread(tokens, fields)
    return { tokens, unread: [] }
  }
  const faultOf = (token: FieldToken) => faultIn(() => conditionOf(token, options))
  const { tokens, unread } = lexLeniently(given, text, { isField, faultOf, mostConditions: MAX_CONDITIONS })
  const known = new Set(unread.map(({ position }) => position))
  const more = unreadWords(tokens, fields).filter(({ position }) => !known.has(position))
  return { tokens, unread: [...unread, ...more].sort((a, b) => a.position - b.position) }
}

function faultIn(read: () => unknown): QuerentError | null {
  try {
    read()
    return null
  } catch (error) {
    if (error instanceof QuerentError && error.code === 'query_syntax') return error
    throw error
  }
}

/**
 * Pattern of a word that looks like a condition `name:value` on an unknown field. Web addresses, times and `::` do not match, since they
 * are text.
 */
const UNKNOWN_FIELD = /^([\p{L}_][\p{L}\p{N}_.-]+):[^\s:/\\]/u

/** Words that look like operators but are read as text, with the reason: a sign alone, or a condition on a field that does not exist. */
function unreadWords(tokens: readonly QueryToken[], fields: readonly FieldName[]): readonly Unread[] {
  const slips = new Map(misspeltFields(tokens, fields).map(({ written, meant }) => [written, meant]))
  return tokens.flatMap((token): readonly Unread[] => {
    if (token.kind !== 'word' || token.sign !== null || token.glued) return []
    const { position, length, text } = token
    // A token whose text is shorter than what was typed contains an escape: the user meant it as text, so it is not reported.
    if (text.length !== length) return []
    if (text === '-' || text === '+') return [{ position, length, text, why: 'the sign stands alone' }]
    const name = UNKNOWN_FIELD.exec(text)?.[1]
    if (name === undefined || resolveField(name, fields) !== null) return []
    const meant = slips.get(name)
    const hint = meant === undefined ? '' : `; did you mean "${meant}:"?`
    return [{ position, length, text, why: `there is no field "${name}"${hint}` }]
  })
}

function refuseUnread(tokens: readonly QueryToken[], fields: readonly FieldName[]): void {
  const [first] = unreadWords(tokens, fields)
  if (first === undefined) return
  const isSign = first.text.length === 1
  const hint = isSign
    ? 'Write it directly before a word or a quote, or a backslash before it for text.'
    : 'Name a field that exists, or write \\: for a colon that is text.'
  throw querySyntax(isSign ? 'lone_sign' : 'unknown_field', first, first.why, hint)
}

/** Largest number of parts of a query that a note lists. */
const MAX_SHOWN = 5
const LONGEST_SHOWN = 40

function unreadNotes(unread: readonly Unread[]): readonly Note[] {
  if (unread.length === 0) return []
  const shown = unread.slice(0, MAX_SHOWN).map(({ text, why }) => {
    return `${text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN - 1).toWellFormed()}…` : text} (${why})`
  })
  const more = unread.length > MAX_SHOWN ? `; and ${unread.length - MAX_SHOWN} more` : ''
  return [{ code: 'read_as_text', message: `Searched as text: ${shown.join('; ')}${more}.` }]
}

/** Note for a query that is longer than the part of it that is searched. */
export function cutNote(length: number): Note {
  const message = `The text has ${length} characters; the first ${MAX_QUERY_LENGTH} were searched.`
  return { code: 'text_cut', message }
}

/** The words and phrases of a query in their order, without excluded ones and field conditions: the text to embed. */
export function residualText(tokens: readonly QueryToken[]): string {
  let text = ''
  let gap = false
  for (const token of tokens) {
    const kept = token.kind !== 'field' && token.sign !== '-'
    if (!kept) {
      gap = true
      continue
    }
    const joined = token.kind === 'word' && token.glued && !gap
    text += text === '' || joined ? token.text : ` ${token.text}`
    gap = false
  }
  return text
}

function checkText(given: string, options: ParseOptions): string {
  if (given.length > MAX_QUERY_LENGTH && options.syntax === 'strict') {
    const message = `text: ${given.length} characters, at most ${MAX_QUERY_LENGTH} are allowed`
    throw new QuerentError('too_large', message, { field: 'text', value: given.length, limit: MAX_QUERY_LENGTH })
  }
  // The text is cut before it is cleaned: if the cut splits a surrogate pair, cleaning replaces the remaining half.
  const text = cleanText(given.slice(0, MAX_QUERY_LENGTH))
  if (text.trim() === '' && options.allowEmpty !== true) {
    const expected = 'a question, or a filter to list by'
    const details = { field: 'text', value: showValue(given), expected }
    throw new QuerentError('invalid_argument', `text: it is empty; expected ${expected}`, details)
  }
  return text
}

function checkConditions(tokens: readonly QueryToken[]): void {
  const isPositive = (token: QueryToken) => token.sign !== '-'
  const first = tokens.find(token => !isPositive(token))
  if (first !== undefined && !tokens.some(isPositive)) {
    const hint = 'Say also what to look for, or write \\- for a sign that is text.'
    throw querySyntax('only_exclusions', first, 'the question only shuts things out', hint)
  }
  const count = tokens.filter(token => token.kind !== 'word' || token.sign !== null).length
  if (count > MAX_CONDITIONS) {
    const message = `text: ${count} phrases, signs and fields, at most ${MAX_CONDITIONS} are allowed`
    throw new QuerentError('too_large', message, { field: 'text', value: count, limit: MAX_CONDITIONS })
  }
}

function conditionOf(token: FieldToken, options: ParseOptions): FieldCondition {
  const field = resolveField(token.name, options.fields) as FieldName
  const filter = fieldFilter(token, field, options.now)
  return { field, filter, position: token.position, length: token.length }
}

function termsOf(token: QueryToken): readonly QueryTerm[] {
  if (token.kind === 'field' || token.sign === '-') return []
  const words = token.kind === 'phrase' ? token.text.split(' ') : [token.text]
  return words.map(text => ({ text, boost: token.boost, position: token.position, length: token.length }))
}

function operandOf(token: WordToken | PhraseToken): Operand {
  return { text: token.text, phrase: token.kind === 'phrase', position: token.position, length: token.length }
}

function boostOf(token: WordToken | PhraseToken): readonly Boosted[] {
  if (token.boost === 1) return []
  return [{ text: token.text, boost: token.boost, position: token.position, length: token.length }]
}

function all(filters: readonly Filter[]): Filter | null {
  if (filters.length === 0) return null
  return filters.length === 1 ? (filters[0] as Filter) : { op: 'and', of: filters }
}

function isField(token: QueryToken): token is FieldToken {
  return token.kind === 'field'
}

function isPhrase(token: QueryToken): token is PhraseToken {
  return token.kind === 'phrase'
}

function isOperand(token: QueryToken): token is WordToken | PhraseToken {
  return token.kind !== 'field'
}

function hasSign(sign: QueryToken['sign']): (token: QueryToken) => boolean {
  return token => token.sign === sign
}

// Converts field conditions `name:value` to filters. Which values are valid depends on the type of the field.

/** Text fields of an entry, and whether `name:value` compares the whole text of the field, or searches a part of it. */
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
 * The field that a name in a query means: a known field name, `tag` for `tags`, `metadata.x` for `meta.x`; null: none. Every path in
 * metadata is a field.
 */
export function resolveField(name: string, known: readonly FieldName[]): FieldName | null {
  if (known.includes(name)) return name
  if (name === 'tags') return 'tag'
  const path = /^(?:metadata|meta)((?:\.[^.]+)+)$/.exec(name)
  return path === null ? null : `metadata${path[1]}`
}

/**
 * The filter of a field condition, negated where the condition has a minus sign. Throws `query_syntax` for a value that the field cannot
 * have.
 */
export function fieldFilter(token: FieldToken, field: FieldName, now: Instant): Filter {
  const filter = positiveFilter(token, field, now)
  return token.sign === '-' ? { op: 'not', of: filter } : filter
}

/** A comparison of a field with one value, by an operator. */
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

/**
 * Filter for a field whose values may have any type: an unquoted number matches both the number and the text, a quoted one only the text.
 */
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

/** Splits an unquoted range of values (`a..b`, `a..` or `..b`) into its ends; null for other texts, and for three dots. */
function splitRange(operand: FieldOperand): { readonly from: string | null; readonly to: string | null } | null {
  const at = operand.text.indexOf('..')
  if (operand.quoted || at < 0 || operand.text.includes('...') || operand.text === '..') return null
  return { from: operand.text.slice(0, at) || null, to: operand.text.slice(at + 2) || null }
}

/** Filter for a range of values. Both ends are included, unless `open` is true, which excludes the upper one. */
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

// Finds words that look like a field condition with a misspelt field name: they are searched as text, and a note tells the user.

interface MisspeltField {
  readonly written: string
  readonly meant: FieldName
}

/**
 * Misspelt field names in a query, at most five, each with the field that was meant. A name counts as misspelt where it has one slip (a
 * letter wrong, missing, too many, or two swapped) or only the wrong case.
 */
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

/**
 * Whether a written name, in lower case, equals the field's name, or has the same first letter and one slip. Field names of fewer than four
 * letters must be equal, since they resemble too many words.
 */
function isSlip(written: string, field: FieldName): boolean {
  if (written === field) return true
  return field.length >= 4 && written[0] === field[0] && editDistance(written, field, 1) === 1
}
