/**
 * How six dimensions become one number: the weighted geometric mean over those that are known (BQ-012 to BQ-017). Unknown
 * is not 0: it is left out, and the weights of the rest count for more.
 */
import { DIMENSIONS, type Dimension } from '../dimensions.ts'
import type { Confidence, DimensionWeights } from '../model.ts'
import { scaled, twelveDecimals } from './ranking-weights.ts'

/** Of a belief whose writer says nothing of it; overall 0.506810379473. */
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
  /** 0.001 to 1, rounded to 12 decimals; null: no dimension that counts is known. */
  readonly overall: number | null
  /** Unknown ones, in the order of the vector, whether they count or not. */
  readonly missing: readonly Dimension[]
}

/** `exp(Σ w·ln(max(v, 0.001)) / Σ w)`: .9 .1 .9 .9 .9 .9 gives 0.57995461348. */
export function overall(vector: Confidence, weights: DimensionWeights = DEFAULT_WEIGHTS): Overall {
  const value = overallOf(vectorColumn(vector), 0, weightColumn(weights))
  return {
    overall: Number.isNaN(value) ? null : value,
    missing: DIMENSIONS.filter(dimension => vector[dimension] === null),
  }
}

/** What ranking uses: the overall, or that of the default vector where there is none (BQ-016). */
export function confidenceInRanking(vector: Confidence, weights: DimensionWeights = DEFAULT_WEIGHTS): number {
  return overall(vector, weights).overall ?? (overall(DEFAULT_CONFIDENCE, weights).overall as number)
}

/**
 * The same as `overall` for columns: `values` holds six a belief from `at` on, NaN for unknown; `weights` are those of
 * `weightColumn`. NaN where `overall` is null.
 */
export function overallOf(values: ArrayLike<number>, at: number, weights: ArrayLike<number>): number {
  let logs = 0
  let total = 0
  for (let i = 0; i < DIMENSIONS.length; i++) {
    const value = values[at + i] as number
    const weight = weights[i] as number
    // What is unknown adds nothing; a weight of 0 neither.
    if (Number.isNaN(value) || weight === 0) continue
    logs += weight * Math.log(Math.max(value, MIN_VALUE))
    total += weight
  }
  return total === 0 ? Number.NaN : twelveDecimals(Math.exp(logs / total))
}

/** `confidenceInRanking` for columns: of the values from `at` on. */
export function confidenceByColumn(weights: DimensionWeights): (values: ArrayLike<number>, at: number) => number {
  const column = weightColumn(weights)
  const unknown = confidenceInRanking(DEFAULT_CONFIDENCE, weights)
  return (values, at) => {
    const known = overallOf(values, at, column)
    return Number.isNaN(known) ? unknown : known
  }
}

/** In the order of the vector, NaN for unknown. */
export function vectorColumn(vector: Confidence): Float64Array {
  return Float64Array.from(DIMENSIONS, dimension => vector[dimension] ?? Number.NaN)
}

export function weightColumn(weights: DimensionWeights): Float64Array {
  return Float64Array.from(DIMENSIONS, dimension => weights[dimension])
}

/** The defaults with what is given in their place, divided by their sum (BQ-017); null: the sum is 0. */
export function dimensionWeights(given: Readonly<Partial<Record<Dimension, number>>>): DimensionWeights | null {
  return scaled({ ...DEFAULT_WEIGHTS, ...given })
}

/** By `weight · -ln value`, the largest first, the earlier one of equals; unknown ones are last (BQ-110). */
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

/** The known dimension that costs most; null: none is known. */
export function weakestDimension(vector: Confidence, weights: DimensionWeights = DEFAULT_WEIGHTS): Dimension | null {
  const [first] = dimensionsByLoss(vector, weights)
  return first === undefined || vector[first] === null ? null : first
}

/** Below it a single dimension would make all others pointless. */
const MIN_VALUE = 0.001
