/**
 * An answer piece by piece, in its order, each piece checked against the matrix as it leaves (BQ-150 to BQ-155). A piece is
 * made when it is asked for, and not before: who reads slowly holds the order and nothing else.
 */
import type { JsonObject } from '../../../base/canonical.ts'
import type { CheckedQuery } from '../check/checked.ts'
import { countersOf } from '../counters.ts'
import type { QueryResult, RankedBelief } from '../model.ts'
import type { Call } from '../query/call.ts'
import type { BeliefsState } from '../state.ts'
import { openReading } from './reading.ts'

export interface QueryChunk {
  readonly beliefs: readonly RankedBelief[]
  /** Of the way; never falls, and is 1 in the last chunk alone. */
  readonly progress: number
  /** True in the last chunk alone. */
  readonly done: boolean
  /** In the last chunk, where something failed or was cut short: what, and that it was. */
  readonly errors?: QueryResult['errors']
  readonly partial?: true
}

/** Progress of a chunk that is not the last. */
const MOST_BEFORE_END = 0.99

export async function* streamQuery(
  state: BeliefsState,
  query: CheckedQuery,
  call: Call,
): AsyncGenerator<QueryChunk, void> {
  const { limit, chunkSize } = query.options
  const reading = await openReading(state, query, call)
  const before = reading.passed
  let [read, shown, spentMs, progress] = [0, 0, 0, 0]
  const errors: JsonObject[] = []
  let isPartial = false
  try {
    for (let isLast = false; !isLast; ) {
      const started = performance.now()
      const { beliefs, total_count: total, ...page } = reading.next(Math.min(chunkSize, limit - read))
      errors.push(...page.errors)
      isPartial ||= page.partial
      spentMs += performance.now() - started
      shown += beliefs.length
      read = reading.passed - before
      isLast = !reading.hasMore || read >= limit
      progress = Math.max(progress, Math.min(MOST_BEFORE_END, read / Math.min(limit, Math.max(1, total - before))))
      yield isLast
        ? {
            beliefs,
            progress: 1,
            done: true,
            ...(errors.length > 0 && { errors }),
            ...(isPartial && { partial: true }),
          }
        : { beliefs, progress, done: false }
    }
  } finally {
    countersOf(state.host).countQuery(spentMs, shown)
  }
}
