/** How the lens stands in this engine (BQ-040, BQ-177), for whoever runs the node. */
import { nextTurn } from '../../../base/turns.ts'
import { modelKey } from '../../../embed/embedder.ts'
import { QuerentError } from '../../../model/errors.ts'
import { countersOf } from '../beliefs-counters.ts'
import { type CalibrationResult, calibrate, SHIPPED } from '../calibration/calibrate.ts'
import type { BeliefsError } from '../errors.ts'
import type { QueryResult } from '../model.ts'
import { thresholdsOf } from '../query/understand.ts'
import type { batchAnswer, diagnosticsAnswer } from '../schema/questions.ts'
import type { Value } from '../schema/values.ts'
import type { BeliefsState } from '../state.ts'

type BatchResult = Value<typeof batchAnswer>

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

/** `rerun`: calibrate the embedder's model now, which embeds some hundred texts. Nothing is kept of it. */
export async function diagnose(
  state: BeliefsState,
  rerun: boolean,
  signal: AbortSignal,
): Promise<Value<typeof diagnosticsAnswer>> {
  const { host, settings } = state
  return {
    calibration: await calibrationOf(state, rerun, signal),
    counters: countersOf(host).values,
    settings: {
      conflicts: settings.conflicts,
      sybil_rule: settings.sybilRule,
      sybil_threshold: settings.sybilThreshold,
      sybil_cap: settings.sybilCap,
      new_agent_cap: settings.newAgentCap,
      default_trust: settings.defaultTrust,
    },
  }
}

async function calibrationOf(
  { host: { embedder }, settings }: BeliefsState,
  rerun: boolean,
  signal: AbortSignal,
): Promise<Value<typeof diagnosticsAnswer>['calibration']> {
  if (embedder === null) return null
  const model = modelKey(embedder.model)
  const inUse = thresholdsOf(settings, model)
  const shipped = SHIPPED.get(model)
  return {
    model,
    in_use: inUse === null ? null : { ...inUse },
    from: settings.thresholds.has(model) ? 'settings' : shipped === undefined ? 'nothing' : 'shipped',
    shipped: shipped === undefined ? null : shownResult(shipped),
    rerun: rerun ? shownResult(await calibrate(embedder, signal)) : null,
  }
}

function shownResult(result: CalibrationResult) {
  return {
    threshold: result.threshold,
    related_pairs: result.relatedPairs,
    related_passed: result.relatedPassed,
    unrelated_pairs: result.unrelatedPairs,
    unrelated_passed: result.unrelatedPassed,
  }
}
