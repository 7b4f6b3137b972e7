/** How fast knowledge ages (BQ-018 to BQ-020, BQ-022, BQ-045). */
import type { Instant } from '../../../base/clock.ts'
import { decay } from '../../../math/decay.ts'
import { depthOfDomain, isWithin } from './domains.ts'
import { twelveDecimals } from './ranking-weights.ts'

export interface DecayTable {
  /** Normalised domain -> rate a day of it and all below it; 0 or more. */
  readonly rates: ReadonlyMap<string, number>
  /** Of domains that no pattern names. */
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
  /** A day. */
  readonly rate: number
  /** The domain of the table that decided; null: none named one of these. */
  readonly pattern: string | null
}

/**
 * The rule of the longest matching pattern; of equally long ones of those that also hold a query domain, else of all, the
 * one with the smallest rate. A domain without a pattern decides nothing beside one with.
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

/** The rate of `decayRule`. */
export function decayRate(
  domains: readonly string[],
  queryDomains: readonly string[],
  table: DecayTable = DEFAULT_DECAY,
): number {
  return decayRule(domains, queryDomains, table).rate
}

/** `freshness · exp(-rate · days)`, 0 to 1; an unknown freshness (null or NaN) counts as 1. 0.9 after 10 days at 0.01: 0.8144. */
export function recency(freshness: number | null, createdAt: Instant, asOf: Instant, rate: number): number {
  const asserted = freshness === null || Number.isNaN(freshness) ? 1 : freshness
  return asserted * Math.exp(-rate * ageDays(createdAt, asOf))
}

/** The freshness that a bound is compared with: decayed, to 12 decimals. Null: not known, so it fails every bound. */
export function freshnessNow(freshness: number | null, createdAt: Instant, asOf: Instant, rate: number): number | null {
  if (freshness === null || Number.isNaN(freshness)) return null
  return twelveDecimals(recency(freshness, createdAt, asOf, rate))
}

/** Never negative. */
export function ageDays(createdAt: Instant, asOf: Instant): number {
  return Math.max(0, asOf - createdAt) / DAY_MS
}

/** `0.5^(age / half-life)`: 30 days of 90 give 0.7937. An infinite half-life gives 1. */
export function halfLifeFactor(age: number, halfLifeDays: number = DEFAULT_HALF_LIFE_DAYS): number {
  return decay(age, halfLifeDays)
}

/** The rate a day that halves a value in this time. 90 days: 0.0077. */
export function rateOfHalfLife(halfLifeDays: number = DEFAULT_HALF_LIFE_DAYS): number {
  return Math.LN2 / halfLifeDays
}

export const DAY_MS: number = 24 * 60 * 60 * 1000
const DEFAULT_HALF_LIFE_DAYS = 90

type Candidate = DecayRule & { readonly depth: number; readonly asked: boolean }

/** Longer, then asked for, then slower; then by name, so that the order of the table decides nothing. */
function isBefore(a: Candidate, b: Candidate): boolean {
  if (a.depth !== b.depth) return a.depth > b.depth
  if (a.asked !== b.asked) return a.asked
  if (a.rate !== b.rate) return a.rate < b.rate
  return (a.pattern ?? '') < (b.pattern ?? '')
}
