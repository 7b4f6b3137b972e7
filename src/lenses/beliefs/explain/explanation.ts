/**
 * Why a belief stands where it does (BQ-106 to BQ-109): the parts of its score, whose contributions add up to it, and what
 * each rests on. Made of what the requester is shown, its own edges, and its question; of others' edges it tells no more
 * than a band.
 */
import { overall, weakestDimension } from '../measures/confidence.ts'
import { ageDays, decayRule } from '../measures/decay.ts'
import { twelveDecimals } from '../measures/rounding.ts'
import type { Explanation, RankingWeights } from '../model.ts'
import { type ExplainedBelief, type ExplanationWorld, percentileOf } from './explained.ts'
import { matchedTerms } from './matched-terms.ts'
import { summaryOf } from './summary.ts'
import { explainTrust } from './trust.ts'

export function explain(world: ExplanationWorld, explained: ExplainedBelief): Explanation {
  const { scored, penalty, rank, total } = explained
  const parts = {
    semantic: semanticPart(world, explained),
    confidence: confidencePart(world, explained),
    trust: trustPart(world, explained),
    recency: recencyPart(world, explained),
  }
  return {
    final: scored.final,
    ...parts,
    diversity_penalty: penalty,
    rank,
    of: total,
    percentile: percentileOf(rank, total),
    summary: summaryOf(world, explained),
  }
}

/** A part, what it counts, and what that gives. */
function counted<T extends number | null>(value: T, weights: RankingWeights, name: keyof RankingWeights) {
  const weight = weights[name]
  return { value, weight: twelveDecimals(weight), contribution: value === null ? 0 : weight * value }
}

function semanticPart(
  { question, understood }: ExplanationWorld,
  { scored, belief }: ExplainedBelief,
): Explanation['semantic'] {
  const { cosine, parts } = scored
  const measuredBy = scored.isByWords ? 'words' : understood.meaning.by
  const isMeasured = measuredBy === 'vector' && cosine !== null
  return {
    ...counted(parts.semantic, question.weights, 'semantic'),
    measured_by: measuredBy,
    /** Raw; null where words stand in for meaning. */
    cosine_distance: isMeasured ? 1 - cosine : null,
    matched_terms: question.semantic === null ? [] : [...matchedTerms(question.semantic, belief.content)],
  }
}

function confidencePart(
  { question }: ExplanationWorld,
  { scored, belief }: ExplainedBelief,
): Explanation['confidence'] {
  const weights = question.context.confidenceWeights
  const { overall: known, missing } = overall(belief.confidence, weights)
  const weakest = weakestDimension(belief.confidence, weights)
  return {
    ...counted(scored.parts.confidence, question.weights, 'confidence'),
    overall: known,
    dimension_weights: { ...weights },
    weakest: weakest === null ? null : { dimension: weakest, value: belief.confidence[weakest] },
    incomplete: missing.length > 0,
    missing: [...missing],
  }
}

function trustPart({ question }: ExplanationWorld, { scored, trust }: ExplainedBelief): Explanation['trust'] {
  return { ...counted(scored.parts.trust, question.weights, 'trust'), ...explainTrust(trust) }
}

function recencyPart(
  { question, state, asOf }: ExplanationWorld,
  { scored, belief }: ExplainedBelief,
): Explanation['recency'] {
  const { rate, pattern } = decayRule(belief.domains, question.context.queryDomains, state.settings.decay)
  return {
    ...counted(scored.parts.recency, question.weights, 'recency'),
    freshness: belief.confidence.temporal_freshness,
    age_days: ageDays(scored.createdAt, asOf),
    rate,
    pattern,
  }
}
