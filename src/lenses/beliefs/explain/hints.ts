/** What would lift a belief (BQ-110): dimensions of its confidence, each with a value and the rank that it would give. */

import { DIMENSIONS, type Dimension } from '../dimensions.ts'
import { confidenceInRanking } from '../measures/confidence.ts'
import { decayRate, recency } from '../measures/decay.ts'
import type { Belief, Confidence, DimensionWeights } from '../model.ts'
import type { Evaluation } from '../query/evaluation.ts'
import { byOrder, finalOf, type ScoredBelief } from '../ranking/scored.ts'

interface Hint {
  readonly dimension: Dimension
  /** Null: not known. */
  readonly current: number | null
  /** The least tenth that lifts the belief, all else as it is. */
  readonly target: number
  readonly rank: number
}

/** Of what weighs on the belief most first. `upTo`: the total order down to it. */
export function hintsFor(
  { question, state, asOf, view }: Pick<Evaluation, 'question' | 'state' | 'asOf' | 'view'>,
  scored: ScoredBelief,
  belief: Belief,
  upTo: readonly ScoredBelief[],
): readonly Hint[] {
  const { context, weights } = question
  const rate = decayRate(belief.domains, context.queryDomains, state.settings.decay)
  const rankWith = (confidence: Confidence): number => {
    view.time?.check()
    const parts = {
      ...scored.parts,
      confidence: confidenceInRanking(confidence, context.confidenceWeights),
      recency: recency(confidence.temporal_freshness, scored.createdAt, asOf, rate),
    }
    return rankAmong({ ...scored, final: finalOf(parts, weights) }, upTo)
  }
  const rank = upTo.length
  return byLoss(belief.confidence, context.confidenceWeights).flatMap((dimension): readonly Hint[] => {
    const current = belief.confidence[dimension]
    const found = leastLift(tenthsAbove(current), rank, target => {
      return rankWith({ ...belief.confidence, [dimension]: target })
    })
    return found === null ? [] : [{ dimension, current, ...found }]
  })
}

/** From 1. */
function rankAmong(scored: ScoredBelief, all: readonly ScoredBelief[]): number {
  let rank = 1
  for (const other of all) if (other.entry !== scored.entry && byOrder(other, scored) < 0) rank++
  return rank
}

/** The first of the targets that gives a better rank: more never makes it worse, so the middle one tells about half of them. */
function leastLift(
  targets: readonly number[],
  rank: number,
  rankAt: (target: number) => number,
): { readonly target: number; readonly rank: number } | null {
  let found: { readonly target: number; readonly rank: number } | null = null
  let from = 0
  let to = targets.length
  while (from < to) {
    const middle = (from + to) >> 1
    const target = targets[middle] as number
    const reached = rankAt(target)
    if (reached < rank) {
      found = { target, rank: reached }
      to = middle
    } else from = middle + 1
  }
  return found
}

/** What is unknown comes last. */
function byLoss(confidence: Confidence, weights: DimensionWeights): readonly Dimension[] {
  const loss = (dimension: Dimension) => {
    const value = confidence[dimension]
    return value === null ? -1 : weights[dimension] * -Math.log(Math.max(value, 0.001))
  }
  return DIMENSIONS.toSorted((a, b) => loss(b) - loss(a))
}

function tenthsAbove(value: number | null): readonly number[] {
  return Array.from({ length: 10 }, (_, at) => (at + 1) / 10).filter(tenth => value === null || tenth > value)
}
