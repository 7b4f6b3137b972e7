/**
 * The query grammar: from a question to what it looks for, demands, shuts out and filters by. The guide
 * "query-language" describes it for users.
 */
import type { Instant } from '../base/clock.ts'
import { invalidArgument, QuerentError } from '../model/errors.ts'
import type { FieldName, Filter } from '../model/filter.ts'
import { MAX_QUERY_LENGTH } from '../model/limits.ts'
import type { Note } from '../model/page.ts'
import type {
  Boosted,
  FieldCondition,
  FieldToken,
  Operand,
  ParsedQuery,
  PhraseToken,
  QueryTerm,
  QueryToken,
  WordToken,
} from '../model/plan.ts'
import { misspeltFields } from './misspelt-fields.ts'
import { fieldFilter, resolveField } from './query-fields.ts'
import { cleanText, lexQuery } from './query-lexer.ts'
import { querySyntax } from './query-syntax.ts'

export interface ParseOptions {
  /** Names that `name:value` may use, beside every metadata path. */
  readonly fields: readonly FieldName[]
  /** What relative times count back from. */
  readonly now: Instant
  /** A blank question is fine: there are filters elsewhere in the request. Default false. */
  readonly allowEmpty?: boolean | undefined
}

/** Phrases, included and excluded words, and fields of one question. Each costs a look-up over all entries. */
const MAX_CONDITIONS = 100

/**
 * Throws `query_syntax` with a position inside the text, `invalid_argument` for a blank one, `too_large` for one that is
 * too long or has too many conditions.
 */
export function parseQuery(given: string, options: ParseOptions): ParsedQuery {
  const text = checkText(given, options)
  const tokens = lexQuery(text, { isField: name => resolveField(name, options.fields) !== null })
  checkConditions(tokens)
  const fields = tokens.filter(isField).map(token => conditionOf(token, options))
  return {
    text,
    tokens,
    terms: tokens.flatMap(termsOf),
    phrases: tokens.filter(isPhrase).filter(hasSign(null)).map(operandOf),
    must: tokens.filter(isOperand).filter(hasSign('+')).map(operandOf),
    mustNot: tokens.filter(isOperand).filter(hasSign('-')).map(operandOf),
    fields,
    filter: all(fields.map(condition => condition.filter)),
    residual: residualText(tokens),
    boosts: tokens.filter(isOperand).flatMap(boostOf),
    notes: misspeltNotes(tokens, options.fields),
  }
}

/** The words and phrases in their places: what a reader would read aloud. Exclusions and fields are left out. */
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
  if (given.length > MAX_QUERY_LENGTH) {
    const message = `text: ${given.length} characters, at most ${MAX_QUERY_LENGTH} are allowed`
    throw new QuerentError('too_large', message, { field: 'text', value: given.length, limit: MAX_QUERY_LENGTH })
  }
  const text = cleanText(given)
  if (text.trim() === '' && options.allowEmpty !== true) {
    throw invalidArgument('text', given, 'a question, or a filter to list by')
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
  return { field, negated: token.sign === '-', filter, position: token.position, length: token.length }
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

function misspeltNotes(tokens: readonly QueryToken[], fields: readonly FieldName[]): readonly Note[] {
  return misspeltFields(tokens, fields).map(({ written, meant }) => ({
    code: 'field_misspelt',
    message: `There is no field "${written}", so it was searched as text; did you mean "${meant}:"?`,
  }))
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
