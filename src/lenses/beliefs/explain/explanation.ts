/**
 * Why a belief stands where it does (BQ-106 to BQ-109): the parts of its score, whose contributions add up to it, and what
 * each rests on. Made of what the requester is shown, its own edges, and its question; of others' edges it tells no more
 * than a band.
 */
import type { JsonObject } from '../../../base/canonical.ts'
import { overall, twelveDecimals, weakestDimension } from '../measures/confidence.ts'
import { ageDays, decayRule } from '../measures/decay.ts'
import type { RankingWeights } from '../model.ts'
import { matchedTerms } from './matched-terms.ts'
import { type Explained, percentileOf, type Standing } from './standing.ts'
import { summaryOf } from './summary.ts'
import { explainTrust } from './trust.ts'

export function explain(evaluation: Explained, standing: Standing): JsonObject {
  const { scored, penalty, rank, total } = standing
  const parts = {
    semantic: semanticPart(evaluation, standing),
    confidence: confidencePart(evaluation, standing),
    trust: trustPart(evaluation, standing),
    recency: recencyPart(evaluation, standing),
  }
  return {
    final: scored.final,
    ...parts,
    diversity_penalty: penalty,
    rank,
    of: total,
    percentile: percentileOf(rank, total),
    summary: summaryOf(evaluation, standing),
  }
}

/** A part, what it counts, and what that gives. */
function counted(value: number | null, weights: RankingWeights, name: keyof RankingWeights): JsonObject {
  const weight = weights[name]
  return { value, weight: twelveDecimals(weight), contribution: value === null ? 0 : weight * value }
}

function semanticPart({ question, understood }: Explained, { scored, belief }: Standing): JsonObject {
  const { cosine, parts } = scored
  const isMeasured = understood.meaning.by === 'vector' && cosine !== null
  return {
    ...counted(parts.semantic, question.weights, 'semantic'),
    measured_by: understood.meaning.by,
    /** Raw; null where words stand in for meaning. */
    cosine_distance: isMeasured ? 1 - cosine : null,
    matched_terms: question.semantic === null ? [] : [...matchedTerms(question.semantic, belief.content)],
  }
}

function confidencePart({ question }: Explained, { scored, belief }: Standing): JsonObject {
  const weights = question.context.confidenceWeights
  const { overall: known, missing } = overall(belief.confidence, weights)
  const weakest = weakestDimension(belief.confidence, weights)
  return {
    ...counted(scored.parts.confidence, question.weights, 'confidence'),
    overall: known,
    dimension_weights: { ...weights },
    weakest: weakest === null ? null : { dimension: weakest, value: belief.confidence[weakest] },
    missing: [...missing],
  }
}

function trustPart({ question }: Explained, { scored, trust }: Standing): JsonObject {
  return { ...counted(scored.parts.trust, question.weights, 'trust'), ...explainTrust(trust) }
}

function recencyPart({ question, state, asOf }: Explained, { scored, belief }: Standing): JsonObject {
  const { rate, pattern } = decayRule(belief.domains, question.context.queryDomains, state.settings.decay)
  return {
    ...counted(scored.parts.recency, question.weights, 'recency'),
    freshness: belief.confidence.temporal_freshness,
    age_days: ageDays(scored.createdAt, asOf),
    rate,
    pattern,
  }
}
