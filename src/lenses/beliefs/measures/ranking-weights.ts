/** The shares of meaning, confidence, trust and recency in a score (BQ-060, BQ-061, BQ-023). */
import type { RankingWeights } from '../model.ts'

const DEFAULT_RANKING: RankingWeights = { semantic: 0.35, confidence: 0.25, trust: 0.3, recency: 0.1 }
export const DEFAULT_TRUST_WEIGHT = 0.5

interface WeightRequest {
  /** 0 to 1. */
  readonly trustWeight: number
  /** Beats `trustWeight`; members that are left out keep their default. Each finite and 0 or more. */
  readonly given: Readonly<Partial<RankingWeights>> | null
  /** There is no text, so meaning counts nothing. */
  readonly listMode: boolean
}

/** Together 1; null: what is given comes to 0. */
export function rankingWeights({ trustWeight, given, listMode }: WeightRequest): RankingWeights | null {
  const wished = given === null ? byTrustWeight(trustWeight) : { ...DEFAULT_RANKING, ...given }
  return scaled(listMode ? { ...wished, semantic: 0 } : wished)
}

/** Trust gets `0.6 · trustWeight`; the others share the rest as 0.35 : 0.25 : 0.10. 0.9 gives 0.23, 0.1643, 0.54, 0.0657. */
export function byTrustWeight(trustWeight: number): RankingWeights {
  const trust = MAX_TRUST * trustWeight
  const { semantic, confidence, recency } = DEFAULT_RANKING
  const rest = (1 - trust) / (semantic + confidence + recency)
  return { semantic: semantic * rest, confidence: confidence * rest, trust, recency: recency * rest }
}

/** 2 for a text with a word such as `latest`, 0.5 with one such as `origin`, 1 with both or neither. */
export function temporalFactor(text: string): number {
  const words = text.toLowerCase().split(/[^\p{L}\p{N}\p{M}_]+/u)
  const sooner = words.some(word => OF_NOW.has(word)) ? 2 : 1
  const later = words.some(word => OF_OLD.has(word)) ? 0.5 : 1
  return sooner * later
}

/** Recency times the factor, and all together 1 again. */
export function withTemporalFactor(weights: RankingWeights, factor: number): RankingWeights {
  if (factor === 1) return weights
  return scaled({ ...weights, recency: weights.recency * factor }) ?? weights
}

const MAX_TRUST = 0.6

const OF_NOW: ReadonlySet<string> = new Set(['recent', 'recently', 'latest', 'new', 'newest', 'current', 'currently'])
const OF_OLD: ReadonlySet<string> = new Set(['history', 'historical', 'origin', 'origins', 'first', 'original'])

/** Each divided by their sum; null when the sum is 0. Weights are finite and 0 or more. Order of keys kept. */
export function scaled<K extends string>(weights: Readonly<Record<K, number>>): Readonly<Record<K, number>> | null {
  const names = Object.keys(weights) as K[]
  const largest = Math.max(...names.map(name => weights[name]))
  if (largest === 0) return null
  // Very large and very small ones would leave the range of numbers when they are added or divided.
  const unit = largest > 1e100 || largest < 1e-100 ? largest : 1
  const sum = names.reduce((total, name) => total + weights[name] / unit, 0)
  // The cast: every key of the record is there, and no other.
  return Object.fromEntries(names.map(name => [name, weights[name] / unit / sum])) as Record<K, number>
}

/** What is compared with bounds and shown, so that float noise decides nothing. */
export function twelveDecimals(value: number): number {
  return Math.round(value * 1e12) / 1e12
}
