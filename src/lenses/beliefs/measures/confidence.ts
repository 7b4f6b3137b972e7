/**
 * Combines the six confidence dimensions of a belief into one number: the weighted geometric mean of the known dimensions (BQ-012 to
 * BQ-017). An unknown dimension does not count as 0: it is left out, and the weights of the others count for more.
 */
import type { Instant } from '../../../base/clock.ts'
import { decay } from '../../../math/decay.ts'
import { DIMENSIONS, type Dimension } from '../dimensions.ts'
import type { Confidence, DimensionWeights, RankingWeights } from '../model.ts'
import { depthOfDomain, isWithin } from '../schema/values.ts'

/** Confidence dimensions of a belief whose writer states none; their overall confidence is 0.506810379473. */
export const DEFAULT_CONFIDENCE: Confidence = {
  source_reliability: 0.5,
  method_quality: 0.5,
  internal_consistency: 1,
  temporal_freshness: 1,
  corroboration: 0.1,
  domain_applicability: 0.8,
}

export const DEFAULT_WEIGHTS: DimensionWeights = {
  source_reliability: 0.25,
  method_quality: 0.2,
  internal_consistency: 0.15,
  temporal_freshness: 0.15,
  corroboration: 0.15,
  domain_applicability: 0.1,
}

interface Overall {
  /** Overall confidence, 0.001 to 1, rounded to 12 decimals; null: none of the known dimensions has a weight above 0. */
  readonly overall: number | null
  /** Dimensions whose value is unknown, in the order of `DIMENSIONS`, whether they have a weight or not. */
  readonly missing: readonly Dimension[]
}

/**
 * Overall confidence of the dimension values v with weights w, over the known values: `exp(Σ w·ln(max(v, 0.001)) / Σ w)`. With the default
 * weights, .9 .1 .9 .9 .9 .9 gives 0.57995461348.
 */
export function overall(vector: Confidence, weights: DimensionWeights = DEFAULT_WEIGHTS): Overall {
  const value = overallOf(vectorColumn(vector), 0, weightColumn(weights))
  return {
    overall: Number.isNaN(value) ? null : value,
    missing: DIMENSIONS.filter(dimension => vector[dimension] === null),
  }
}

/**
 * Confidence that counts for ranking: the overall confidence, or the overall confidence of the default values if the belief's is unknown
 * (BQ-016).
 */
export function confidenceInRanking(vector: Confidence, weights: DimensionWeights = DEFAULT_WEIGHTS): number {
  return overall(vector, weights).overall ?? (overall(DEFAULT_CONFIDENCE, weights).overall as number)
}

/**
 * Overall confidence computed directly from column arrays. The belief's six dimension values are at the indexes from `at` on in `values`,
 * with NaN for unknown ones; `weights` has six weights in the same order. The result is NaN if no known dimension has a weight above 0.
 */
export function overallOf(values: ArrayLike<number>, at: number, weights: ArrayLike<number>): number {
  let logs = 0
  let total = 0
  for (let i = 0; i < DIMENSIONS.length; i++) {
    const value = values[at + i] as number
    const weight = weights[i] as number
    // A dimension that is unknown or has weight 0 is left out of the mean.
    if (Number.isNaN(value) || weight === 0) continue
    logs += weight * Math.log(Math.max(value, MIN_VALUE))
    total += weight
  }
  return total === 0 ? Number.NaN : twelveDecimals(Math.exp(logs / total))
}

/**
 * Returns a function that computes the confidence for ranking from column arrays: `values` contains the six values of a belief from index
 * `at` on.
 */
export function confidenceByColumn(weights: DimensionWeights): (values: ArrayLike<number>, at: number) => number {
  const column = weightColumn(weights)
  const unknown = confidenceInRanking(DEFAULT_CONFIDENCE, weights)
  return (values, at) => {
    const known = overallOf(values, at, column)
    return Number.isNaN(known) ? unknown : known
  }
}

/** The values of a confidence in the order of `DIMENSIONS`; NaN for unknown. */
export function vectorColumn(vector: Confidence): Float64Array {
  return Float64Array.from(DIMENSIONS, dimension => vector[dimension] ?? Number.NaN)
}

export function weightColumn(weights: DimensionWeights): Float64Array {
  return Float64Array.from(DIMENSIONS, dimension => weights[dimension])
}

/** The default dimension weights, replaced by given ones where present, divided by their sum (BQ-017); null: the sum is 0. */
export function dimensionWeights(given: Readonly<Partial<Record<Dimension, number>>>): DimensionWeights | null {
  return scaled({ ...DEFAULT_WEIGHTS, ...given })
}

/**
 * Dimensions ordered by how much each lowers the overall confidence, `weight · -ln value`, largest first, ties in the order of
 * `DIMENSIONS`; unknown dimensions come last (BQ-110).
 */
export function dimensionsByLoss(
  vector: Confidence,
  weights: DimensionWeights = DEFAULT_WEIGHTS,
): readonly Dimension[] {
  const loss = (dimension: Dimension) => {
    const value = vector[dimension]
    return value === null ? -1 : weights[dimension] * -Math.log(Math.max(value, MIN_VALUE))
  }
  return DIMENSIONS.toSorted((a, b) => loss(b) - loss(a))
}

/** The known dimension that lowers the overall confidence most, by `weight · -ln value`; null: no dimension is known. */
export function weakestDimension(vector: Confidence, weights: DimensionWeights = DEFAULT_WEIGHTS): Dimension | null {
  const [first] = dimensionsByLoss(vector, weights)
  return first === undefined || vector[first] === null ? null : first
}

/** Smallest value with which a dimension enters the geometric mean. With values near 0, one dimension alone would determine the result. */
const MIN_VALUE = 0.001

// The functions below compute how knowledge loses value with age (BQ-018 to BQ-020, BQ-022, BQ-045).

export interface DecayTable {
  /** Decay rates per day, each 0 or more, by domain in normal form; a rate also applies to the domain's subdomains. */
  readonly rates: ReadonlyMap<string, number>
  /** Decay rate per day of domains that are not at or below any domain of the table. */
  readonly otherwise: number
}

export const DEFAULT_DECAY: DecayTable = {
  rates: new Map([
    ['news', 0.1],
    ['prices', 0.5],
    ['stocks', 0.5],
    ['weather', 1],
    ['science', 0.002],
    ['history', 0.0001],
    ['math', 0],
  ]),
  otherwise: 0.01,
}

interface DecayRule {
  /** Decay rate of a belief's freshness per day. */
  readonly rate: number
  /** The domain in the decay table whose rate was chosen; null: none contains a domain of the belief. */
  readonly pattern: string | null
}

/**
 * Chooses the decay rate of a belief from the table's domains that are equal to, or contain, a domain of the belief. The one with the most
 * segments is taken. Of several, one that also contains a domain of the query is preferred, then the smallest rate. If there is none, the
 * default rate applies.
 */
export function decayRule(
  domains: readonly string[],
  queryDomains: readonly string[],
  table: DecayTable = DEFAULT_DECAY,
): DecayRule {
  let best: (DecayRule & { readonly depth: number; readonly asked: boolean }) | null = null
  for (const [pattern, rate] of table.rates) {
    if (!domains.some(domain => isWithin(domain, pattern))) continue
    const asked = queryDomains.some(domain => isWithin(domain, pattern))
    const depth = depthOfDomain(pattern)
    if (best === null || isBefore({ depth, asked, rate, pattern }, best)) best = { depth, asked, rate, pattern }
  }
  return best === null ? { rate: table.otherwise, pattern: null } : { rate: best.rate, pattern: best.pattern }
}

/** The decay rate per day for a belief with these domains: the rate of the most specific domain in the table that contains one of them. */
export function decayRate(
  domains: readonly string[],
  queryDomains: readonly string[],
  table: DecayTable = DEFAULT_DECAY,
): number {
  return decayRule(domains, queryDomains, table).rate
}

/**
 * Recency of a belief: `freshness · exp(-rate · days)`, 0 to 1; an unknown freshness (null or NaN) counts as 1. A freshness of 0.9 after 10
 * days at a rate of 0.01 per day gives 0.8144.
 */
export function recency(freshness: number | null, createdAt: Instant, asOf: Instant, rate: number): number {
  const asserted = freshness === null || Number.isNaN(freshness) ? 1 : freshness
  return asserted * Math.exp(-rate * ageDays(createdAt, asOf))
}

/**
 * The freshness of a belief as filters compare it with a bound: `freshness · exp(-rate · days)`, rounded to 12 decimals. Null: unknown, so
 * that no bound is met.
 */
export function freshnessNow(freshness: number | null, createdAt: Instant, asOf: Instant, rate: number): number | null {
  if (freshness === null || Number.isNaN(freshness)) return null
  return twelveDecimals(recency(freshness, createdAt, asOf, rate))
}

/** Age of a belief in days; 0 if its creation time is later than `asOf`. */
export function ageDays(createdAt: Instant, asOf: Instant): number {
  return Math.max(0, asOf - createdAt) / DAY_MS
}

/**
 * Factor of decay by half-life: `0.5^(age / half-life)`. An age of 30 days with a half-life of 90 days gives 0.7937; an infinite half-life
 * gives 1.
 */
export function halfLifeFactor(age: number, halfLifeDays: number = DEFAULT_HALF_LIFE_DAYS): number {
  return decay(age, halfLifeDays)
}

/** The exponential decay rate per day with which a value halves in this many days: `ln 2 / days`. 90 days give 0.0077. */
export function rateOfHalfLife(halfLifeDays: number = DEFAULT_HALF_LIFE_DAYS): number {
  return Math.LN2 / halfLifeDays
}

export const DAY_MS: number = 24 * 60 * 60 * 1000
const DEFAULT_HALF_LIFE_DAYS = 90

type Candidate = DecayRule & { readonly depth: number; readonly asked: boolean }

/**
 * Order of the matching domains in a decay table: more segments first, then domains that contain a domain of the query, then smaller rates,
 * then by name, so that the order of the table has no effect.
 */
function isBefore(a: Candidate, b: Candidate): boolean {
  if (a.depth !== b.depth) return a.depth > b.depth
  if (a.asked !== b.asked) return a.asked
  if (a.rate !== b.rate) return a.rate < b.rate
  return (a.pattern ?? '') < (b.pattern ?? '')
}

// The functions below compute the weights of meaning, confidence, trust and recency in a score (BQ-060, BQ-061, BQ-023).

const DEFAULT_RANKING: RankingWeights = { semantic: 0.35, confidence: 0.25, trust: 0.3, recency: 0.1 }
export const DEFAULT_TRUST_WEIGHT = 0.5

interface WeightRequest {
  /** The query's parameter `trust_weight`, 0 to 1. */
  readonly trustWeight: number
  /**
   * Ranking weights given in the query, which are used instead of `trustWeight`; missing ones keep their default. Each is finite and 0 or
   * more. Null: the query gives none.
   */
  readonly given: Readonly<Partial<RankingWeights>> | null
  /** Whether the query has no text, so that the weight of meaning is 0. */
  readonly listMode: boolean
}

/** Ranking weights with the sum 1; null: the given weights add up to 0. */
export function rankingWeights({ trustWeight, given, listMode }: WeightRequest): RankingWeights | null {
  const wished = given === null ? byTrustWeight(trustWeight) : { ...DEFAULT_RANKING, ...given }
  return scaled(listMode ? { ...wished, semantic: 0 } : wished)
}

/**
 * Ranking weights for a `trust_weight`: trust gets `0.6 · trustWeight`; meaning, confidence and recency share the rest in the ratio 0.35 :
 * 0.25 : 0.10. A `trust_weight` of 0.9 gives meaning 0.23, confidence 0.1643, trust 0.54, recency 0.0657.
 */
export function byTrustWeight(trustWeight: number): RankingWeights {
  const trust = MAX_TRUST * trustWeight
  const { semantic, confidence, recency } = DEFAULT_RANKING
  const rest = (1 - trust) / (semantic + confidence + recency)
  return { semantic: semantic * rest, confidence: confidence * rest, trust, recency: recency * rest }
}

/**
 * Factor on the weight of recency: 2 if the text contains a word such as `latest`, 0.5 if it contains one such as `origin`, 1 with both or
 * neither.
 */
export function temporalFactor(text: string): number {
  const words = text.toLowerCase().split(/[^\p{L}\p{N}\p{M}_]+/u)
  const sooner = words.some(word => OF_NOW.has(word)) ? 2 : 1
  const later = words.some(word => OF_OLD.has(word)) ? 0.5 : 1
  return sooner * later
}

/** Multiplies the weight of recency by the factor, then divides all four ranking weights by their sum, so that the sum is 1 again. */
export function withTemporalFactor(weights: RankingWeights, factor: number): RankingWeights {
  if (factor === 1) return weights
  return scaled({ ...weights, recency: weights.recency * factor }) ?? weights
}

const MAX_TRUST = 0.6

const OF_NOW: ReadonlySet<string> = new Set(['recent', 'recently', 'latest', 'new', 'newest', 'current', 'currently'])
const OF_OLD: ReadonlySet<string> = new Set(['history', 'historical', 'origin', 'origins', 'first', 'original'])

/** Divides weights by their sum; null if the sum is 0. Weights must be finite and 0 or more. The order of keys is kept. */
export function scaled<K extends string>(weights: Readonly<Record<K, number>>): Readonly<Record<K, number>> | null {
  const names = Object.keys(weights) as K[]
  const largest = Math.max(...names.map(name => weights[name]))
  if (largest === 0) return null
  // Very large weights would overflow when added, and very small ones underflow when divided, so all are first divided by the largest.
  const unit = largest > 1e100 || largest < 1e-100 ? largest : 1
  const sum = names.reduce((total, name) => total + weights[name] / unit, 0)
  // The cast is safe: the new object has exactly the keys of `weights`.
  return Object.fromEntries(names.map(name => [name, weights[name] / unit / sum])) as Record<K, number>
}

/** Rounds a number to 12 decimals before it is compared with bounds or shown, so that rounding errors decide nothing. */
export function twelveDecimals(value: number): number {
  return Math.round(value * 1e12) / 1e12
}
