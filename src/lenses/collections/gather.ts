/**
 * Asks the collections, again and deeper where a period or a fusion needs more than was given: so that old records do not
 * crowd out new ones. At the end each collection has as many survivors as were wanted, or is exhausted.
 */
import type { Deadline } from '../../base/clock.ts'
import { nextTurn } from '../../base/turns.ts'
import { recordDate } from '../../model/instant.ts'
import type { CollectionAnswer, NumericDate, SourceCondition, SourceRecord } from '../../pipeline/source.ts'
import type { CollectionsRequest, Period } from './request.ts'

/** At most `limit` records of a collection, nearest first. */
type Ask = (collection: string, limit: number, where: readonly SourceCondition[]) => Promise<CollectionAnswer>

/** How many survivors a fusion with words is given for each result wanted. */
const POOL = 8

export function gather(
  request: CollectionsRequest,
  deadline: Deadline,
  ask: Ask,
): Promise<readonly CollectionAnswer[]> {
  return Promise.all(request.collections.map(collection => gatherFrom(collection, request, deadline, ask)))
}

async function gatherFrom(
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
    // A store on this machine answers on this thread: one collection in each turn of the event loop.
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

/** Undated records are a matter of the policy, whatever the bounds. */
function keeps({ since, until, undated }: Period, { metadata }: Pick<SourceRecord, 'metadata'>): boolean {
  const date = recordDate(metadata)
  if (date === null) return undated === 'include'
  return (since === null || date >= since) && (until === null || date < until)
}

/** How many of what a period kept have no date; 0 where dates do not matter. */
export function undatedAmong(kept: readonly Pick<SourceRecord, 'metadata'>[], period: Period): number {
  return isBounded(period) ? kept.filter(({ metadata }) => recordDate(metadata) === null).length : 0
}

/** Conditions that drop nothing the period keeps; none where undated records would be lost. */
function conditionsOf({ since, until, undated }: Period, numeric: NumericDate | null): readonly SourceCondition[] {
  if (numeric === null || (undated === 'include' && numeric.undated === null)) return []
  const { key, unit } = numeric
  const scale = unit === 's' ? 1000 : 1
  const conditions: SourceCondition[] = []
  if (since !== null) conditions.push({ key, op: 'gte', value: since / scale })
  // An upper bound would drop the undated ones, which stand at the end of time.
  if (until !== null && undated === 'exclude') conditions.push({ key, op: 'lt', value: until / scale })
  if (undated === 'exclude' && numeric.undated !== null && until === null) {
    conditions.push({ key, op: 'lt', value: numeric.undated })
  }
  return conditions
}
