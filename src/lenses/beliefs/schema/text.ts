/** From the text of a query to what it embeds, demands, excludes and boosts (BQ-032 to BQ-036, BQ-041). */
import { z } from 'zod'
import { QuerentError } from '../../../model/errors.ts'
import type { QueryToken } from '../../../model/plan.ts'
import { cleanText, lexQuery } from '../../../text/query-lexer.ts'
import { residualText } from '../../../text/query-parser.ts'

export interface CheckedText {
  /** As given, unpaired surrogates replaced and control characters made blanks. */
  readonly text: string
  /** What is embedded: signs and exclusions gone, included words and phrases in place (BQ-036). Not blank. */
  readonly base: string
  /** A word, or the words of a quote. */
  readonly include: readonly string[]
  readonly exclude: readonly string[]
  /** White space made single blanks. */
  readonly phrases: readonly string[]
  /** Factors are in (0, 10], never 1. */
  readonly boosts: readonly { readonly text: string; readonly factor: number }[]
}

/** What is wrong with a text. */
interface TextFault {
  readonly reason: string
  readonly constraint: string
}

const MAX_CODE_POINTS = 4_096
const MAX_OPERATORS = 32
const SEMANTIC = 'a text to search by, or "" beside filters'
const TOO_LONG = `a text of at most ${MAX_CODE_POINTS} characters`

export const semantic = z
  .string(SEMANTIC)
  .superRefine((text, context) => {
    const read = text.length > 2 * MAX_CODE_POINTS ? { reason: 'too_complex', constraint: TOO_LONG } : readText(text)
    if (read !== null && 'reason' in read)
      context.addIssue({ code: 'custom', message: read.constraint, params: { reason: read.reason } })
  })
  .meta({ maxLength: MAX_CODE_POINTS })
  .describe(
    'What to look for, at most 4,096 characters; +word demands, -word excludes, "a phrase" must occur, word^2 counts double, \\ makes a sign text. Empty beside filters: lists what meets them',
  )

/** Null for a blank text: list mode. The lexer stops at the first thing that is wrong. */
export function readText(text: string): CheckedText | TextFault | null {
  if (text.length > MAX_CODE_POINTS && Array.from(text).length > MAX_CODE_POINTS)
    return { reason: 'too_complex', constraint: TOO_LONG }
  if (isBlankText(text)) return null
  const clean = cleanText(text)
  try {
    return textOf(clean, lexQuery(clean))
  } catch (error) {
    if (!(error instanceof QuerentError) || error.code !== 'query_syntax') throw error
    return { reason: String(error.details['reason']), constraint: `a text without this: ${error.message}` }
  }
}

/** Whether it is no text at all; a blank behind a backslash is one too. */
export function isBlankText(text: string): boolean {
  return cleanText(text).replace(/\\\s/g, ' ').trim() === ''
}

function textOf(clean: string, tokens: readonly QueryToken[]): CheckedText | TextFault {
  const operators = tokens.reduce((sum, token) => sum + operatorsOf(token), 0)
  if (operators > MAX_OPERATORS) return { reason: 'too_complex', constraint: `at most ${MAX_OPERATORS} operators` }
  const base = residualText(tokens)
  if (base.trim() === '') {
    const reason = tokens.some(token => token.sign === '-') ? 'only_exclusions' : 'empty_query'
    return {
      reason,
      constraint: 'something to look for; exclusions alone are not enough, and \\- is a sign that is text',
    }
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

function operatorsOf(token: QueryToken): number {
  if (token.kind === 'field') return 1
  const sign = token.sign !== null || token.kind === 'phrase' ? 1 : 0
  return sign + (token.boost === 1 ? 0 : 1)
}
