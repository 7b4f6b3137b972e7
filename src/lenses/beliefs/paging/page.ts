/**
 * A query from its checked form to its answer: embed, fix the moment, match, rank, spread, check again, show
 * (BQ-024 to BQ-029, BQ-094 to BQ-099).
 */

import { countersOf } from '../counters.ts'
import type { QueryResult } from '../model.ts'
import type { Call } from '../query/call.ts'
import type { CheckedQuery } from '../schema/query.ts'
import type { BeliefsState } from '../state.ts'
import { openReading } from './reading.ts'

export async function runQuery(state: BeliefsState, query: CheckedQuery, call: Call): Promise<QueryResult> {
  const reading = await openReading(state, query, call)
  const started = performance.now()
  const result = await reading.next(query.options.limit)
  const cursor = reading.cursor()
  const elapsedMs = Math.round((performance.now() - started) * 1000) / 1000
  countersOf(state.host).countQuery(elapsedMs, result.beliefs.length)
  return { ...result, ...(cursor !== null && { next_cursor: cursor }), query_time_ms: elapsedMs }
}
