/** What an explanation is made of: read while the moment was fixed, so that nothing of it moves. */
import { twelveDecimals } from '../measures/ranking-weights.ts'
import type { Belief } from '../model.ts'
import type { Evaluation } from '../query/evaluation.ts'
import type { ScoredBelief } from '../ranking/scored.ts'
import type { TrustFound } from '../ranking/trust-found.ts'

/** What it is explained from, beside the belief itself. */
export type ExplanationWorld = Pick<Evaluation, 'question' | 'understood' | 'asOf' | 'state'>

/** A belief, and where it came to stand. */
export interface ExplainedBelief {
  readonly scored: ScoredBelief
  readonly belief: Belief
  readonly trust: TrustFound
  /** 0, or below it where diversity counted against it. */
  readonly penalty: number
  /** From 1, in the total order of what matches. */
  readonly rank: number
  /** Of all that match. */
  readonly total: number
}

/** BQ-110: 100 for the first, 0 for the last; 100 for the only one. */
export function percentileOf(rank: number, total: number): number {
  return total <= 1 ? 100 : twelveDecimals((100 * (total - rank)) / (total - 1))
}
