/**
 * Explains why a belief has its rank (BQ-106 to BQ-109): the components of its score, which add up to the score, and the data behind each
 * component. Uses only the query, the shown belief, and the requester's own trust edges; trust that rests on other agents' edges is shown
 * only as a band (low, medium or high).
 */
import { contentWords, foldContent, hasPhrase, hasTokens, tokensOf } from '../matching/operators.ts'
import { ageDays, decayRule, overall, twelveDecimals, weakestDimension } from '../measures/confidence.ts'
import type { Belief, Explanation, RankedBelief, RankingWeights } from '../model.ts'
import type { Evaluation } from '../query/evaluation.ts'
import type { ScoredBelief, TrustFound } from '../ranking/scored.ts'
import type { CheckedWarning } from '../schema/filters.ts'
import type { CheckedText } from '../schema/values.ts'
import { type DirectTrust, type TrustIn, trustBand } from '../trust/edge.ts'

/**
 * Minimum number of results for a warning that trust is concentrated on one holder. With fewer results a large share is normal: of two
 * holders, one always has at least half.
 */
const MIN_RESULTS = 5
const WARN = 0.3
const CRITICAL = 0.5

/**
 * The fields of a result that are needed to compute each holder's share of the trust on a page (BQ-197); all of them are shown on the page.
 */
export interface TrustShare {
  readonly belief: Pick<RankedBelief['belief'], 'holder_id'>
  readonly score: { readonly components: Pick<RankedBelief['score']['components'], 'trust_score'> }
  readonly federation_id?: RankedBelief['federation_id']
}

export function shareOf({ belief, score, federation_id }: RankedBelief): TrustShare {
  return {
    belief: { holder_id: belief.holder_id },
    score: { components: { trust_score: score.components.trust_score } },
    ...(federation_id !== undefined && { federation_id }),
  }
}

const CODES = { critical: 'trust_concentration_critical', warn: 'trust_concentration_warn' } as const

export function isOfConcentration(code: string): boolean {
  return Object.values<string>(CODES).includes(code)
}

/**
 * A warning for each holder whose share of the summed trust scores of a page is above 30 %, largest share first. The requester's own
 * beliefs count in the sum, but cause no warning.
 */
export function concentrationWarnings(beliefs: readonly TrustShare[], requester: string): readonly CheckedWarning[] {
  if (beliefs.length < MIN_RESULTS) return []
  const sums = new Map<string, number>()
  let total = 0
  for (const { belief, score, federation_id } of beliefs) {
    const { trust_score } = score.components
    // If a federation hides its holders, all of its beliefs count as held by one holder.
    const holder = belief.holder_id ?? `the federation ${federation_id}`
    sums.set(holder, (sums.get(holder) ?? 0) + trust_score)
    total += trust_score
  }
  return [...sums]
    .map(([holder, sum]) => ({ holder, share: total === 0 ? 0 : sum / total }))
    .filter(({ holder, share }) => holder !== requester && share > WARN)
    .sort((a, b) => b.share - a.share)
    .map(({ holder, share }) => ({
      code: share > CRITICAL ? CODES.critical : CODES.warn,
      message: `${Math.floor(share * 1000) / 10} % of the trust in this page is trust in ${holder}.`,
    }))
}

/** Explains in one paragraph why a belief has its rank; mentions only this belief, the query and the requester (BQ-109). */
function summaryOf(world: ExplanationWorld, explained: ExplainedBelief): string {
  const { scored, rank, total, penalty } = explained
  const sentences = [
    `Number ${rank} of ${total} with a score of ${three(scored.final)}: ${contributions(world, explained)}.`,
    strongest(world, explained),
    `Trust: ${trustInWords(explained.trust)}.`,
    weakness(world, explained),
  ]
  if (penalty < 0) sentences.push(`Similarity to beliefs above it lowers its score by ${three(-penalty)} here.`)
  return sentences.filter(sentence => sentence !== '').join(' ')
}

const PARTS: Readonly<Record<keyof RankingWeights, string>> = {
  semantic: 'meaning',
  confidence: 'confidence',
  trust: 'trust',
  recency: 'recency',
}
const NAMES = Object.keys(PARTS) as (keyof RankingWeights)[]

function contributions({ question: { weights } }: ExplanationWorld, { scored: { parts } }: ExplainedBelief): string {
  return NAMES.filter(name => parts[name] !== null)
    .map(name => `${PARTS[name]} gives ${three(weights[name] * (parts[name] as number))}`)
    .join(', ')
}

function strongest({ question: { weights } }: ExplanationWorld, { scored: { parts, final } }: ExplainedBelief): string {
  const given = NAMES.map(name => ({ name, share: weights[name] * (parts[name] ?? 0) }))
  const most = given.reduce((best, part) => (part.share > best.share ? part : best))
  return final > 0 ? `Most of it is ${PARTS[most.name]}, ${Math.round((100 * most.share) / final)} %.` : ''
}

function trustInWords({ trust, of, isShared }: TrustFound): string {
  const { kind, value, direct, transitive } = trust
  const whom = of === 'holder' ? 'the holder' : 'the federation as a whole'
  switch (kind) {
    case 'self':
      return 'it is your own'
    case 'direct':
      if (isShared) return `you trust ${whom} yourself, ${trustBand(value)}`
      if (direct?.distrusted) return `you distrust ${whom}`
      return `you trust ${whom} yourself, at ${three(direct?.value ?? 0)} after fading`
    case 'transitive':
      return `${whom} is trusted through ${(transitive?.sources ?? 0) > 1 ? 'several' : 'one'} you trust, ${trustBand(transitive?.level ?? 0)}`
    case 'reputation':
      return `${whom} is trusted by reputation`
    case 'default':
      return `${whom} counts as a stranger`
  }
}

function weakness({ question }: ExplanationWorld, { belief: { confidence } }: ExplainedBelief): string {
  const weakest = weakestDimension(confidence, question.context.confidenceWeights)
  const value = weakest === null ? null : confidence[weakest]
  if (weakest === null || value === null) return 'Its confidence is unknown, so the usual value is assumed.'
  return value === 1 ? '' : `Its confidence is lowered most by ${weakest.replaceAll('_', ' ')}, ${three(value)}.`
}

function three(value: number): string {
  return value.toFixed(3)
}

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

/** A component of the score as shown in an explanation: its value, its weight, and value times weight. */
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
    /** Distance to the query's text, 1 minus the raw cosine; null if the belief was compared by words instead of vectors. */
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

/**
 * Terms of the query's text that a content contains, each once: phrases and required terms first, then the text's other words in order,
 * without stop words.
 */
function matchedTerms({ base, include, phrases }: CheckedText, content: string): readonly string[] {
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

function explainTrust(found: TrustFound): Omit<TrustPart, 'value' | 'weight' | 'contribution'> {
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

/** The query, its time and the node's state, from which explanations are computed in addition to the belief itself. */
export type ExplanationWorld = Pick<Evaluation, 'question' | 'understood' | 'asOf' | 'state'>

/** A belief with its score and rank, as input of an explanation. */
export interface ExplainedBelief {
  readonly scored: ScoredBelief
  readonly belief: Belief
  readonly trust: TrustFound
  /** 0, or a negative number by which similarity to results above the belief lowered its score. */
  readonly penalty: number
  /** Rank of the belief among all matches ordered by score, from 1. */
  readonly rank: number
  /** Number of all matches of the query. */
  readonly total: number
}

/**
 * Percentile of a rank among `total` matches (BQ-110): 100 · (total − rank) / (total − 1), so 100 for the first and 0 for the last; 100 for
 * a single match.
 */
function percentileOf(rank: number, total: number): number {
  return total <= 1 ? 100 : twelveDecimals((100 * (total - rank)) / (total - 1))
}
