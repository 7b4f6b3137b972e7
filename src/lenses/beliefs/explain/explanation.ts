/**
 * Why a belief stands where it does (BQ-106 to BQ-109): the parts of its score, whose contributions add up to it, and what
 * each rests on. Made of what the requester is shown, its own edges, and its question; of others' edges it tells no more
 * than a band.
 */

import { contentWords, foldContent, hasPhrase, hasTokens, tokensOf } from '../matching/literal.ts'
import { overall, weakestDimension } from '../measures/confidence.ts'
import { ageDays, decayRule } from '../measures/decay.ts'
import { twelveDecimals } from '../measures/rounding.ts'
import type { Explanation, RankingWeights } from '../model.ts'
import type { TrustFound } from '../ranking/trust-found.ts'
import type { CheckedText } from '../schema/text.ts'
import { type DirectTrust, type TrustIn, trustBand } from '../trust/trust-in.ts'
import { type ExplainedBelief, type ExplanationWorld, percentileOf } from './explained.ts'
import { summaryOf } from './summary.ts'

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

/** Each once: phrases and included terms first, then the words of the text, in its order. Words that say nothing are left out. */
export function matchedTerms({ base, include, phrases }: CheckedText, content: string): readonly string[] {
  const folded = foldContent(content)
  return [
    ...new Set([
      ...phrases.filter(phrase => hasPhrase(folded, foldContent(phrase).trim())),
      ...include.filter(term => hasTokens(folded, tokensOf(term))),
      ...contentWords(base).filter(word => hasTokens(folded, [word])),
    ]),
  ]
}

type TrustPart = Explanation['trust']

export function explainTrust(found: TrustFound): Omit<TrustPart, 'value' | 'weight' | 'contribution'> {
  const { trust, of, isShared } = found
  return { kind: trust.kind, of, ...(isShared ? { shared: bandOf(trust) } : detailsOf(trust)) }
}

function bandOf({ value, transitive }: TrustIn) {
  return { band: trustBand(value), sources: (transitive?.sources ?? 1) > 1 ? ('several' as const) : ('one' as const) }
}

function detailsOf({ kind, direct, transitive }: TrustIn): Pick<TrustPart, 'direct' | 'transitive'> {
  if (kind === 'direct' && direct !== null) return { direct: ownEdge(direct) }
  if (kind === 'transitive' && transitive !== null) {
    const { level, sources } = transitive
    return { transitive: { band: trustBand(level), sources: sources > 1 ? 'several' : 'one' } }
  }
  return {}
}

function ownEdge({ level, entries, base, days, rate, decayed, value, distrusted }: DirectTrust) {
  return { level, entries: { ...entries }, base, days_since_use: days, rate, decayed, value, distrusted }
}
