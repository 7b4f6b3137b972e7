/**
 * The stages of a `collections` query: each collection is searched by meaning for as many records as it may contribute, and the lists are
 * merged into one (CO-007, CO-013, CO-019, CO-029 to CO-031). A score is the cosine, limited to 0 to 1. Results are shown even when the
 * engine judges them not relevant.
 */

import type { Deadline } from '../../base/clock.ts'
import { compareText } from '../../base/compare.ts'
import { nextTurn } from '../../base/turns.ts'
import type { Candidate } from '../../model/candidate.ts'
import type { Entry, EntryKey } from '../../model/entry.ts'
import type { Filter } from '../../model/filter.ts'
import { constant, max, NO_NUMBERS, number } from '../../model/formula.ts'
import { recordDate } from '../../model/instant.ts'
import type { QueryContext } from '../../pipeline/context.ts'
import { DEFAULT_STAGES } from '../../pipeline/default-stages.ts'
import { byFormula, scoredBy } from '../../pipeline/formula.ts'
import { allOf } from '../../pipeline/resolve-query.ts'
import {
  type CollectionAnswer,
  failedCollection,
  type NumericDate,
  type SourceCondition,
  type SourceErrorCode,
  type SourceRecord,
} from '../../pipeline/source.ts'
import type { Plan, Retrieval, Scoring, Stages } from '../../pipeline/stage.ts'
import { judge } from '../../pipeline/verdict.ts'
import { type CollectionsOptions, type CollectionsRequest, type Period, requestOf } from './request.ts'
import { arranged, foundIn } from './results.ts'

export const COLLECTIONS_STAGES: Partial<Stages> = {
  parse: (query, context) => {
    const plan = DEFAULT_STAGES.parse({ ...query, syntax: 'plain', any: true }, context)
    const { collections } = requestIn(plan, context)
    const filter = allOf([inOneOf(collections), ...(plan.filter === null ? [] : [plan.filter])])
    return { ...plan, filter, mode: plan.mode === 'hybrid' ? 'meaning' : plan.mode }
  },
  retrieve: (plan, depth, context) =>
    plan.mode === 'meaning' ? retrieve(plan, context) : DEFAULT_STAGES.retrieve(plan, depth, context),
  score: (retrieval, plan, context) =>
    plan.mode === 'meaning' ? score(retrieval, plan, context) : DEFAULT_STAGES.score(retrieval, plan, context),
}

function requestIn({ query }: Pick<Plan, 'query'>, { now }: QueryContext) {
  return requestOf(query.text, query.options as CollectionsOptions, now)
}

function inOneOf(collections: readonly string[]): Filter {
  return { op: 'in', field: 'collection', values: collections }
}

async function retrieve(plan: Plan, context: QueryContext): Promise<Retrieval> {
  const request = requestIn(plan, context)
  const retrievals: Retrieval[] = []
  const collected = await collectResults(request, context.deadline, async (collection, limit, where) => {
    const conditions = where.map(({ key, op, value }): Filter => ({ op, field: `metadata.${key}`, value }))
    const filter = allOf([inOneOf([collection]), ...conditions, ...(plan.filter === null ? [] : [plan.filter])])
    const retrieval = await DEFAULT_STAGES.retrieve({ ...plan, filter }, limit, context)
    retrievals.push(retrieval)
    return answerOf(collection, retrieval, context)
  })
  const lists = await Promise.all(collected.map(one => context.turns.run(foundIn(one, request))))
  for (const [at, one] of collected.entries()) {
    for (const { code, message, ...details } of warningsOf(one, undatedAmong(lists[at] ?? [], request.period))) {
      context.note({ code, message, details: JSON.parse(JSON.stringify(details)) })
    }
  }
  const results = await context.turns.run(arranged(lists.flat(), request))
  const candidates = new Map(retrievals.flatMap(one => one.candidates.map(candidate => [candidate.entry, candidate])))
  return {
    ...joined(retrievals),
    candidates: results.map(({ key, why, relatedKeys }, place): Candidate => {
      const candidate = candidates.get(key as EntryKey) as Candidate
      const signals = { ...candidate.signals, place, ...(why.includes('words') && { found_by_words: 1 }) }
      return { ...candidate, signals, ...(relatedKeys !== undefined && { related: relatedKeys }) }
    }),
  }
}

function answerOf(
  collection: string,
  { candidates, allow, exhausted }: Retrieval,
  context: QueryContext,
): CollectionAnswer {
  if (allow?.size === 0 && !exists(collection, context)) {
    return failedCollection(collection, {
      code: 'collection_not_found',
      message: `${collection}: there is no such collection`,
    })
  }
  const entries = new Map(context.reader.entries(candidates.map(({ entry }) => entry)).map(entry => [entry.key, entry]))
  return {
    ...{ collection, space: 'cosine', exhausted, deviation: null, numericDate: null, error: null },
    records: candidates.flatMap(candidate => recordOf(candidate, entries.get(candidate.entry))).sort(nearestFirst),
  }
}

/** Compares two records by distance; equal distances by id and then holder, since internal entry keys change with an export and import. */
function nearestFirst(a: SourceRecord, b: SourceRecord): number {
  return (a.distance ?? 0) - (b.distance ?? 0) || compareText(a.id, b.id) || compareText(a.holder ?? '', b.holder ?? '')
}

/** Whether the viewer sees at least one entry of the collection, whatever other conditions the query has. */
function exists(collection: string, { memo, reader, accessScope }: QueryContext): boolean {
  return memo.matching(reader, accessScope, inOneOf([collection])).size > 0
}

function recordOf({ signals: { meaning }, entry: key }: Candidate, entry: Entry | undefined): readonly SourceRecord[] {
  if (entry === undefined || meaning === undefined) return []
  const { id, audience, title, content, tags, metadata } = entry
  return [{ id, holder: audience.holder, title, content, tags, metadata, distance: 1 - meaning, key }]
}

/** Joins the candidates of all collections into one list. The judgement of relevance uses the highest evidence found in any collection. */
function joined(retrievals: readonly Retrieval[]): Retrieval {
  const best = (name: string) =>
    retrievals.toSorted((a, b) => (b.statistics[name] ?? -1) - (a.statistics[name] ?? -1))[0]
  const { bestCosine } = best('bestCosine')?.statistics ?? {}
  const byWords = best('bmTop')?.statistics ?? {}
  const rows = retrievals.reduce((sum, { statistics }) => sum + (statistics['rows'] ?? 0), 0)
  const allow = retrievals
    .map(one => one.allow)
    .reduce((all, one) => (all === null || one === null ? (all ?? one) : all.or(one)), null)
  return {
    candidates: [],
    depth: Math.max(0, ...retrievals.map(({ depth }) => depth)),
    allow,
    statistics: { ...byWords, ...(bestCosine !== undefined && { bestCosine }), rows },
    exhausted: true,
    complete: retrievals.every(({ complete }) => complete),
  }
}

/** Formula of a result's score: its cosine, limited to 0 to 1. */
const FORMULA = max('score', [
  number('cosine', 'meaning', { component: 'meaning', note: 'the cosine' }),
  constant('least score', 0, { shown: ({ meaning = 0 }) => meaning < 0 }),
])

/**
 * Gives each candidate its score without changing their order. The order is already final: the lists of all collections are merged, also
 * with the order by words and by related items where the query asks for it.
 */
function score(retrieval: Retrieval, plan: Plan, context: QueryContext): Scoring {
  const made = byFormula(retrieval.candidates.map(atMostOne), {
    formula: FORMULA,
    numbers: NO_NUMBERS,
    remarks: ({ signals }) => (signals['found_by_words'] === undefined ? [] : ['words of the query']),
  })
  return {
    ...made,
    scored: made.scored.map(one => ({ ...one, order: -(one.signals['place'] ?? 0) })),
    rate: passages => passages.map(atMostOne).map(scoredBy(made.measure)),
    ...judge(retrieval, plan, context),
    ceiling: null,
  }
}

/** Limits a cosine to 1, which it may exceed by rounding. */
function atMostOne(candidate: Candidate): Candidate {
  const { meaning } = candidate.signals
  if (meaning === undefined || meaning <= 1) return candidate
  return { ...candidate, signals: { ...candidate.signals, meaning: 1 } }
}

// Searches the collections. A collection is searched again for more records while too few of those found are within the period or usable
// for a merge with words, so that old records do not displace new ones. In the end it has given as many fitting records as wanted, or has
// no more.

/** Searches a collection for at most `limit` records, nearest first. */
type Ask = (collection: string, limit: number, where: readonly SourceCondition[]) => Promise<CollectionAnswer>

/**
 * For a merge of the order by meaning with an order by words: number of records within the period that are retrieved for each wanted
 * result.
 */
const POOL = 8

export function collectResults(
  request: CollectionsRequest,
  deadline: Deadline,
  ask: Ask,
): Promise<readonly CollectionAnswer[]> {
  return Promise.all(request.collections.map(collection => collectFrom(collection, request, deadline, ask)))
}

async function collectFrom(
  collection: string,
  request: CollectionsRequest,
  deadline: Deadline,
  ask: Ask,
): Promise<CollectionAnswer> {
  const { period, nResults, hybrid } = request
  const wanted = hybrid ? nResults * POOL : nResults
  const given = Object.entries(request.where).flatMap(([key, value]): SourceCondition[] =>
    value === undefined ? [] : [{ key, op: 'eq', value }],
  )
  let where = given
  for (let limit = wanted; ; limit *= 2) {
    // A local store searches on this thread, so before each collection the event loop gets a turn and other work can run.
    if (request.collections.length > 1) await nextTurn()
    const answer = await ask(collection, limit, where)
    const survivors = isBounded(period) ? answer.records.filter(record => keeps(period, record)) : answer.records
    const isDone = survivors.length >= wanted || answer.exhausted || answer.error !== null
    if (isDone || deadline.over) return { ...answer, records: survivors.slice(0, wanted) }
    where = [...given, ...conditionsOf(period, answer.numericDate)]
  }
}

function isBounded({ since, until }: Period): boolean {
  return since !== null || until !== null
}

/** Whether a record's date is within the period. For records without a date the option `undated` alone decides. */
function keeps({ since, until, undated }: Period, { metadata }: Pick<SourceRecord, 'metadata'>): boolean {
  const date = recordDate(metadata)
  if (date === null) return undated === 'include'
  return (since === null || date >= since) && (until === null || date < until)
}

/** Number of the given records that have no date; 0 when the query has no period. */
export function undatedAmong(kept: readonly Pick<SourceRecord, 'metadata'>[], period: Period): number {
  return isBounded(period) ? kept.filter(({ metadata }) => recordDate(metadata) === null).length : 0
}

/**
 * Conditions with which the store can preselect records of the period without losing any; none where they would lose records without a
 * date.
 */
function conditionsOf({ since, until, undated }: Period, numeric: NumericDate | null): readonly SourceCondition[] {
  if (numeric === null || (undated === 'include' && numeric.undated === null)) return []
  const { key, unit } = numeric
  const scale = unit === 's' ? 1000 : 1
  const conditions: SourceCondition[] = []
  if (since !== null) conditions.push({ key, op: 'gte', value: since / scale })
  // A condition `date < limit` drops records without a date, which are stored with an infinitely late date; so it is used only where these
  // are excluded.
  if (until !== null && undated === 'exclude') conditions.push({ key, op: 'lt', value: until / scale })
  if (undated === 'exclude' && numeric.undated !== null && until === null) {
    conditions.push({ key, op: 'lt', value: numeric.undated })
  }
  return conditions
}

export interface Warning {
  readonly collection: string
  readonly code: 'query_failed' | 'collection_not_found' | 'dimension_mismatch' | 'undated_kept' | 'not_normalised'
  readonly message: string
  /** Why searching a collection failed, as an error code of the store. */
  readonly reason?: SourceErrorCode | undefined
  readonly count?: number | undefined
}

/** Largest difference between a vector's length and 1 at which the vector counts as normalised. */
const UNIT_TOLERANCE = 0.01

/** Warnings about one collection's part of an answer. `undatedKept`: number of results without a date in a query with a period. */
export function warningsOf(
  { collection, error, deviation }: CollectionAnswer,
  undatedKept: number,
): readonly Warning[] {
  const warnings: Warning[] = []
  if (error !== null) {
    const isNamed = error.code === 'collection_not_found' || error.code === 'dimension_mismatch'
    const code = isNamed ? (error.code as Warning['code']) : 'query_failed'
    warnings.push({ collection, code, message: error.message, reason: error.code })
  }
  if (deviation !== null && deviation > UNIT_TOLERANCE) {
    const message = `${collection}: its vectors are not of length 1, so its scores cannot be compared`
    warnings.push({ collection, code: 'not_normalised', message })
  }
  if (undatedKept > 0) {
    const message = `${collection}: ${undatedKept} without a date kept; --undated exclude leaves them out`
    warnings.push({ collection, code: 'undated_kept', message, count: undatedKept })
  }
  return warnings
}
