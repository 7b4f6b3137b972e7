/** What can be asked, checked. Dates become instants, so nothing after this knows of calendars. */
import type { Instant } from '../../base/clock.ts'
import { isBareDay, readDate } from '../../model/record-date.ts'
import { ChromaQueryError, wrongParameter } from './errors.ts'

export interface CollectionsInput {
  readonly query: string
  /** Default `items` and `analysis`. */
  readonly collections?: readonly string[] | undefined
  /** Most results of each collection; default 5. */
  readonly nResults?: number | undefined
  /** Only what is from the last so many days (of 24 hours, back from now). */
  readonly days?: number | undefined
  /** ISO date; included. */
  readonly since?: string | undefined
  /** ISO date; a day is included as a whole, a time of day is not. */
  readonly until?: string | undefined
  /** What becomes of records without a date where dates matter; default `include`. */
  readonly undated?: 'include' | 'exclude' | undefined
  /** `source_type` of the metadata. */
  readonly source?: string | undefined
  /** `actionability` of the metadata. */
  readonly actionability?: string | undefined
  readonly minScore?: number | undefined
  /** An item and its analysis as one result. */
  readonly fold?: boolean | undefined
  /** Fuse the order by meaning with an order by words. */
  readonly hybrid?: boolean | undefined
  readonly offset?: number | undefined
  readonly limit?: number | undefined
}

export interface CollectionsRequest {
  readonly query: string
  readonly collections: readonly string[]
  readonly nResults: number
  readonly period: Period
  readonly where: Readonly<Record<'source_type' | 'actionability', string | undefined>>
  readonly minScore: number | null
  readonly fold: boolean
  readonly hybrid: boolean
  readonly offset: number
  readonly limit: number | null
}

/** From `since` on and before `until`; null means unbounded. */
export interface Period {
  readonly since: Instant | null
  readonly until: Instant | null
  readonly undated: 'include' | 'exclude'
}

export const DEFAULT_COLLECTIONS: readonly string[] = ['items', 'analysis']
export const DEFAULT_RESULTS = 5
export const DAY_MS = 86_400_000
/** The earliest instant there is. */
const EARLIEST: Instant = -8.64e15

/** What `options` of a query may hold for this lens. */
export interface CollectionsOptions
  extends Omit<CollectionsInput, 'query' | 'nResults' | 'minScore' | 'offset' | 'limit'> {
  readonly n_results?: number | undefined
  readonly min_score?: number | undefined
}

/** Of a query through the pipeline. Throws as `checkInput`. */
export function requestOf(query: string, options: CollectionsOptions, now: Instant): CollectionsRequest {
  const { n_results, min_score, ...rest } = options
  return checkInput({ ...rest, query, nResults: n_results, minScore: min_score }, now)
}

/** Throws `ChromaQueryError`, naming the parameter. */
export function checkInput(input: CollectionsInput, now: Instant): CollectionsRequest {
  const { query, collections = DEFAULT_COLLECTIONS, source, actionability, fold = false, hybrid = false } = input
  if (typeof query !== 'string' || query.trim() === '') throw blankQuery()
  const isList = Array.isArray(collections) && collections.length > 0
  if (!isList || !collections.every(name => typeof name === 'string' && name.trim() !== '')) {
    throw wrongParameter('collections', collections, 'a list of names')
  }
  return {
    query,
    collections: [...new Set(collections)],
    nResults: whole('nResults', input.nResults ?? DEFAULT_RESULTS, 1),
    period: periodOf(input, now),
    where: { source_type: optionalText('source', source), actionability: optionalText('actionability', actionability) },
    minScore: input.minScore === undefined ? null : share('minScore', input.minScore),
    fold: flag('fold', fold),
    hybrid: flag('hybrid', hybrid),
    offset: whole('offset', input.offset ?? 0, 0),
    limit: input.limit === undefined ? null : whole('limit', input.limit, 1),
  }
}

function blankQuery(): ChromaQueryError {
  return new ChromaQueryError('query is required', {
    code: 'invalid_argument',
    kind: 'usage',
    details: { field: 'query' },
  })
}

/** Of `days` and `since` the later one holds; days that reach behind all time filter nothing out. */
function periodOf({ days, since, until, undated = 'include' }: CollectionsInput, now: Instant): Period {
  if (undated !== 'include' && undated !== 'exclude') throw wrongParameter('undated', undated, 'include or exclude')
  const starts = [
    days === undefined ? null : Math.max(EARLIEST, now - whole('days', days, 0) * DAY_MS),
    since === undefined ? null : instant('since', since),
  ].filter(start => start !== null)
  return {
    since: starts.length === 0 ? null : Math.max(...starts),
    until: until === undefined ? null : instant('until', until) + (isBareDay(until) ? DAY_MS : 0),
    undated,
  }
}

function whole(parameter: string, value: number, least: number): number {
  if (Number.isSafeInteger(value) && value >= least) return value
  throw wrongParameter(parameter, value, `an integer of ${least} or more`)
}

function share(parameter: string, value: number): number {
  if (typeof value === 'number' && value >= 0 && value <= 1) return value
  throw wrongParameter(parameter, value, 'a number from 0 to 1')
}

function optionalText(parameter: string, value: string | undefined): string | undefined {
  if (value === undefined || typeof value === 'string') return value
  throw wrongParameter(parameter, value, 'a text')
}

function flag(parameter: string, value: boolean): boolean {
  if (typeof value === 'boolean') return value
  throw wrongParameter(parameter, value, 'true or false')
}

function instant(parameter: string, value: string): Instant {
  const found = readDate(typeof value === 'string' ? value : null)
  if (found === null) throw wrongParameter(parameter, value, 'an ISO date such as 2026-03-01 or 2026-03-01T12:00:00Z')
  return found
}
