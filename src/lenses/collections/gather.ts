/**
 * Asks the collections, again and deeper where a period or a fusion needs more than was given: so that old records do not
 * crowd out new ones. At the end each collection has as many survivors as were wanted, or is exhausted.
 */
import type { Deadline } from '../../base/clock.ts'
import { nextTurn } from '../../base/next-turn.ts'
import type { CollectionAnswer, SourceCondition } from '../../pipeline/source.ts'
import { conditionsOf, isBounded, keeps } from './period.ts'
import type { CollectionsRequest } from './request.ts'

export interface Asked {
  /** At most `limit` records of a collection, nearest first. */
  ask(collection: string, limit: number, where: readonly SourceCondition[]): Promise<CollectionAnswer>
  readonly deadline: Deadline
}

/** How many survivors a fusion with words is given for each result wanted. */
const POOL = 8

export function gather(request: CollectionsRequest, asked: Asked): Promise<readonly CollectionAnswer[]> {
  return Promise.all(request.collections.map(collection => gatherFrom(collection, request, asked)))
}

async function gatherFrom(collection: string, request: CollectionsRequest, asked: Asked): Promise<CollectionAnswer> {
  const { period, nResults, hybrid } = request
  const wanted = hybrid ? nResults * POOL : nResults
  const given = givenConditions(request)
  let where: readonly SourceCondition[] = given
  for (let limit = wanted; ; limit *= 2) {
    // A store on this machine answers on this thread: one collection in each turn of the event loop.
    if (request.collections.length > 1) await nextTurn()
    const answer = await asked.ask(collection, limit, where)
    const survivors = isBounded(period) ? answer.records.filter(record => keeps(period, record)) : answer.records
    const isDone = survivors.length >= wanted || answer.exhausted || answer.error !== null
    if (isDone || asked.deadline.over) return { ...answer, records: survivors.slice(0, wanted) }
    where = [...given, ...conditionsOf(period, answer.numericDate)]
  }
}

function givenConditions({ where }: CollectionsRequest): readonly SourceCondition[] {
  return Object.entries(where).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, op: 'eq', value } as const],
  )
}
