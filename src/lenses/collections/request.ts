/**
 * Checks a query of the lens `collections` and fills in defaults. Dates become instants (ms since 1970), so that later code does not deal
 * with calendars.
 */
import { z } from 'zod'
import type { JsonObject } from '../../base/canonical.ts'
import type { Instant } from '../../base/clock.ts'
import type { ReadonlyDeep } from '../../base/readonly-deep.ts'
import { type ErrorKind, QuerentError, showValue } from '../../model/errors.ts'
import { isBareDay, readDate } from '../../model/instant.ts'
import { parseWith } from '../../model/parse-input.ts'
import { fold } from '../../text/normalise.ts'
import { camelCased } from '../camel-name.ts'

/** Largest number of results that one query may ask for; a larger list would copy the collection rather than answer a query. */
const MAX_RESULTS = 10_000
const text = z.string().min(1)

/** Schema of the `options` of a query for the lens `collections`. */
export const collectionsOptions = z.strictObject({
  collections: z
    .array(text)
    .min(1)
    .optional()
    .describe('Names of the collections to query, at least 1. Default: items and analysis'),
  n_results: z
    .int()
    .min(1)
    .max(MAX_RESULTS)
    .optional()
    .describe(`Most results of each collection, 1 to ${MAX_RESULTS}. Default: 5`),
  days: z.int().min(0).optional().describe('Only results of the last N days of 24 hours, from 0. Default: any time'),
  since: text.optional().describe('Only results from this ISO date on. Default: any time'),
  until: text
    .optional()
    .describe('Only results up to this ISO date; a day without time is included as a whole. Default: any time'),
  undated: z
    .enum(['include', 'exclude'])
    .optional()
    .describe('Whether records without a date pass a filter by days or dates. Default: include'),
  source: text.optional().describe('Only records with this source_type in their metadata. Default: all'),
  actionability: text.optional().describe('Only records with this value in their metadata. Default: all'),
  min_score: z.number().min(0).max(1).optional().describe('Lowest score of a result, 0 to 1. Default: no limit'),
  fold: z.boolean().optional().describe('Merge an item and its analysis into one result. Default: false'),
  hybrid: z.boolean().optional().describe('Fuse the order by meaning with an order by words. Default: false'),
})

export type CollectionsOptions = ReadonlyDeep<z.output<typeof collectionsOptions>>

const { n_results: _, min_score, ...shared } = collectionsOptions.shape
const notBlank = z.string().refine(given => given.trim() !== '', 'a text that is not blank')
const date = z
  .string()
  .refine(given => readDate(given) !== null, 'an ISO date such as 2026-03-01 or 2026-03-01T12:00:00Z')
  .optional()

/** Schema of the input of a library call, where the number of results has no upper limit. */
const inputSchema = z.object({
  ...shared,
  ...{ query: notBlank, since: date, until: date, source: z.string().optional(), actionability: z.string().optional() },
  collections: z.array(notBlank).min(1).optional(),
  nResults: z.int().min(1).optional(),
  minScore: min_score,
  offset: z.int().min(0).optional(),
  limit: z.int().min(1).optional(),
})

/**
 * Input of a query. `days`: only entries of the last so many times 24 hours. `since` is included in the period; of `until`, a date without
 * time includes the whole day, a time of day is excluded. `limit`: largest number of results of all collections together.
 */
export type CollectionsInput = ReadonlyDeep<z.input<typeof inputSchema>>
export type CollectionsRequest = ReturnType<typeof checkInput>

/** A period that includes `since` and ends before `until`; null: no limit on that side. */
export interface Period {
  readonly since: Instant | null
  readonly until: Instant | null
  readonly undated: 'include' | 'exclude'
}

export const DAY_MS = 86_400_000
/** The earliest time that JavaScript's `Date` can represent, in ms since 1970. */
const EARLIEST: Instant = -8.64e15

/** Makes the checked request from a query's text and its options. Throws `ChromaQueryError`, naming the parameter at fault. */
export function requestOf(query: string, options: CollectionsOptions, now: Instant): CollectionsRequest {
  return checkInput({ ...camelCased(options), query }, now)
}

/** Checks the input of a query and drops unknown fields. Throws `ChromaQueryError`, naming the parameter at fault. */
export function checkedInput(input: CollectionsInput): CollectionsInput {
  return parseWith(inputSchema, input, ([fault]) => {
    const { path = [], value, expected = '' } = fault ?? {}
    if (path[0] !== 'query') return wrongParameter(path.join('.'), value, expected)
    const usage = { code: 'invalid_argument', kind: 'usage', details: { field: 'query' } } as const
    return new ChromaQueryError('query is required', usage)
  })
}

/** Checks the input of a query and fills in its defaults. Throws `ChromaQueryError`, naming the parameter at fault. */
export function checkInput(input: CollectionsInput, now: Instant) {
  const { collections = ['items', 'analysis'], source, actionability, ...given } = checkedInput(input)
  const { query, nResults = 5, fold: isFolded = false, hybrid = false, offset = 0, minScore, limit } = given
  return {
    ...{ query, nResults, fold: isFolded, hybrid, offset, minScore, limit },
    collections: [...new Set(collections)],
    period: periodOf(given, now),
    where: { source_type: source, actionability },
  }
}

/**
 * The period of dates to which a query is limited. Of `days` and `since`, the one with the later begin applies; `days` that reach before
 * the earliest date of JavaScript limit nothing.
 */
function periodOf({ days, since, until, undated = 'include' }: Partial<CollectionsInput>, now: Instant): Period {
  const starts = [
    ...(days === undefined ? [] : [Math.max(EARLIEST, now - days * DAY_MS)]),
    ...(since === undefined ? [] : [readDate(since) ?? EARLIEST]),
  ]
  const end = until === undefined ? null : readDate(until)
  return {
    since: starts.length === 0 ? null : Math.max(...starts),
    until: end === null ? null : end + (isBareDay(until ?? '') ? DAY_MS : 0),
    undated,
  }
}

const WEEK = 7
const MONTH = 30

/** Pattern of a period that a question names in words: `last 10 days`, `últimas 2 semanas`. It is applied after accents are removed. */
const NAMED_PERIOD =
  /\b(?:last|past|previous|ultim[oa]s|pasad[oa]s)\s+(\d{1,3})\s+(days?|dias?|weeks?|semanas?|months?|mes(?:es)?)\b/
/** Number of days in a unit of time, by the first letter of its English or Spanish name. */
const DAYS_OF: Readonly<Record<string, number>> = { d: 1, w: WEEK, s: WEEK, m: MONTH }

const OF_TRENDS =
  /\b(tendencias?|trends?|trending|trendy|de moda|evolucion|evolution|emergentes?|emerging|(?:este|ultimo) mes|mes pasado|(?:this|last|past) month)\b/
const OF_NEWS = new RegExp(
  `\\b(${[
    'recien(te|tes|temente)?|novedad(es)?|ultimamente|hoy|ayer|(esta|ultima)\\s+semana|semana\\s+pasada|actualidad|lo\\s+(ultimo|nuevo)|(hay|que)\\s+de\\s+nuevo',
    'recent|recently|newest|news|lately|today|yesterday|(this|last|past)\\s+week|(s|is|anything|something|whats)\\s+new',
  ].join('|')})\\b`,
)
/**
 * Pattern in which `new` and `latest` concern age: before a plural, as in `new servers` and `latest releases`, but not in `create a new
 * skill`, `new Map()` or `the latest element of the list`.
 */
const NEW_ONES =
  /(?<!\b(?:an?|my|your|un|una|mi|tu|el|la)\s+)\b(?:new|latest|nuev[oa]s|ultim[oa]s)\s+(?:[\p{L}\d-]+\s+){0,2}?[\p{L}\d-]*(?:s|news|research|software|version|release|update|noticia)(?![\p{L}\d(.])/u
const HOW_TO = /\b(?:how\s+(?:to|do|does|can|should|would)|como|why|por\s+que)\b/

/** How many days back a question of an agent looks, derived from its words in Spanish or English (CO-062); null: no limit of days. */
export function agentDays(question: string): number | null {
  const folded = fold(question)
  const [, count, unit = ''] = NAMED_PERIOD.exec(folded) ?? []
  if (count !== undefined) return Number(count) * (DAYS_OF[unit.charAt(0)] ?? 1)
  if (OF_TRENDS.test(folded)) return MONTH
  if (OF_NEWS.test(folded)) return WEEK
  return NEW_ONES.test(folded) && !HOW_TO.test(folded) ? WEEK : null
}

// The only error class that the lens `collections` throws (CO-022), with a message, a cause, and a code that is equal on every interface.

export class ChromaQueryError extends QuerentError {
  override readonly name: string = 'ChromaQueryError'

  constructor(message: string, options: ChromaQueryErrorOptions = {}) {
    const { code = 'query_failed', kind = 'unavailable', details = {}, cause } = options
    const help = kind === 'usage' ? 'Correct what the message names.' : 'Check that the store or server is available.'
    super({ code, type: 'ChromaQueryError', kind, retryable: false, help }, message, details, cause)
  }
}

export interface ChromaQueryErrorOptions {
  readonly code?: string | undefined
  readonly kind?: ErrorKind | undefined
  readonly details?: JsonObject | undefined
  readonly cause?: unknown
}

/** Makes the error that a parameter has a wrong value. */
export function wrongParameter(parameter: string, value: unknown, expected: string): ChromaQueryError {
  return new ChromaQueryError(`${parameter} must be ${expected}, got ${showValue(value)}`, {
    code: 'invalid_argument',
    kind: 'usage',
    details: { field: parameter },
  })
}

/** Makes the error that the store cannot be opened or reached. */
export function notOpened(reason: string, cause?: unknown): ChromaQueryError {
  return new ChromaQueryError(`Failed to initialize VectorStore: ${reason}`, { code: 'store_failed', cause })
}
