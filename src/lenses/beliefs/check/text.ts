/** From the text of a query to what it embeds, demands, shuts out and leans towards (BQ-032 to BQ-036, BQ-041). */
import { QuerentError } from '../../../model/errors.ts'
import type { QueryToken } from '../../../model/plan.ts'
import { cleanText, lexQuery } from '../../../text/query-lexer.ts'
import { residualText } from '../../../text/query-parser.ts'
import type { CheckedText } from './checked.ts'
import type { Place } from './faults.ts'

/** Null for a blank text: list mode. */
export function text(value: unknown, at: Place): CheckedText | null | undefined {
  if (typeof value !== 'string') return at.fault('type', 'a text to search by, or "" beside filters', value)
  if (isLonger(value, MOST_CODE_POINTS)) {
    return at.fault('too_complex', `a text of at most ${MOST_CODE_POINTS} characters`, value)
  }
  if (isBlankText(value)) return null
  const clean = cleanText(value)
  const tokens = lexed(clean, at)
  return tokens === undefined ? undefined : checkedText(clean, tokens, at)
}

/** Whether `text` takes it for no text at all; a blank behind a backslash is one too. */
export function isBlankText(value: unknown): boolean {
  return typeof value === 'string' && cleanText(value).replace(/\\\s/g, ' ').trim() === ''
}

const MOST_CODE_POINTS = 4_096
const MOST_OPERATORS = 32

function checkedText(clean: string, tokens: readonly QueryToken[], at: Place): CheckedText | undefined {
  const operators = tokens.reduce((sum, token) => sum + operatorsOf(token), 0)
  if (operators > MOST_OPERATORS) return at.fault('too_complex', `at most ${MOST_OPERATORS} operators`, operators)
  const base = residualText(tokens)
  if (base.trim() === '') {
    const reason = tokens.some(token => token.sign === '-') ? 'only_exclusions' : 'empty_query'
    return at.fault(
      reason,
      'something to look for; what is shut out is not enough, and \\- is a sign that is text',
      clean,
    )
  }
  const texts = (kind: QueryToken['kind'] | null, sign: QueryToken['sign']) =>
    tokens.flatMap(token => {
      if (token.kind === 'field' || token.sign !== sign || (kind !== null && token.kind !== kind)) return []
      return [token.text]
    })
  return {
    text: clean,
    base,
    include: texts(null, '+'),
    exclude: texts(null, '-'),
    phrases: texts('phrase', null),
    boosts: tokens.flatMap(token => {
      if (token.kind === 'field' || token.boost === 1) return []
      return [{ text: token.text, factor: token.boost }]
    }),
  }
}

/** The lexer stops at the first thing that is wrong. */
function lexed(clean: string, at: Place): readonly QueryToken[] | undefined {
  try {
    return lexQuery(clean)
  } catch (error) {
    if (!(error instanceof QuerentError) || error.code !== 'query_syntax') throw error
    const { reason, position, length } = error.details
    const from = Number(position)
    const shown = clean.slice(from, from + Math.max(Number(length), 1))
    return at.fault(String(reason), `a text without this: ${error.message}`, shown)
  }
}

function operatorsOf(token: QueryToken): number {
  if (token.kind === 'field') return 1
  const sign = token.sign !== null || token.kind === 'phrase' ? 1 : 0
  return sign + (token.boost === 1 ? 0 : 1)
}

function isLonger(value: string, codePoints: number): boolean {
  if (value.length <= codePoints) return false
  if (value.length > 2 * codePoints) return true
  return Array.from(value).length > codePoints
}
