/** Several queries in one request (BQ-175): each is answered, or fails, on its own. */
import { nextTurn } from '../../../base/next-turn.ts'
import { QuerentError } from '../../../model/errors.ts'
import type { BeliefsError } from '../errors.ts'
import type { QueryResult } from '../model.ts'
import type { batchAnswer } from '../schema/answers.ts'
import type { Value } from '../schema/values.ts'

export type BatchResult = Value<typeof batchAnswer>

/**
 * `ask` checks and answers one query; `failed` names what it threw. One after the other: they share one embedder. Between
 * them others have their turn, and who has gone is noticed.
 */
export async function runBatch(
  queries: readonly unknown[],
  ask: (query: unknown) => Promise<QueryResult>,
  failed: (thrown: unknown) => BeliefsError,
  signal: AbortSignal,
): Promise<BatchResult> {
  const started = performance.now()
  const results: BatchResult['results'][number][] = []
  for (const query of queries) {
    await nextTurn()
    if (signal.aborted) throw new QuerentError('cancelled', 'the caller ended the batch')
    try {
      results.push({ ok: true, result: await ask(query) })
    } catch (thrown) {
      results.push({ ok: false, error: failed(thrown).toJSON() })
    }
  }
  const succeeded = results.filter(({ ok }) => ok).length
  return {
    results,
    total_time_ms: Math.round((performance.now() - started) * 1000) / 1000,
    succeeded,
    failed: results.length - succeeded,
  }
}
