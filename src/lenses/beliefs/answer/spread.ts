/** Diversity: hard limits, and the order of picking inside them (BQ-084, BQ-085). */
import { twelveDecimals } from '../measures/rounding.ts'
import type { Picked, ScoredBelief } from '../ranking/scored.ts'

/** Beliefs that are picked from. */
export const POOL = 1_000

interface Spread {
  /** 0 to 1; 1 keeps the order. */
  readonly lambda: number
  /** Cosine distance, 0 to 1; null: no such limit. */
  readonly minDistance: number | null
  readonly maxPerHolder: number | null
  readonly maxPerDomain: number | null
  /** Whether the order of the pool stays as it is, and only the limits count (BQ-131). */
  readonly keepsOrder?: boolean | undefined
}

interface SpreadRequest extends Spread {
  /** In the total order; not more than the pool. */
  readonly pool: readonly ScoredBelief[]
  domains(scored: ScoredBelief): readonly string[]
  /** Raw cosine of two of the pool, by their places. */
  likeness(a: number, b: number): number
  /** Called when the limit for holders leaves out a belief whose holder its federation does not show. */
  onFederationLimit?(federation: string): void
}

/**
 * The order of picking, as far as it is asked for: each pick is a pass over the pool. Likeness only grows as more is picked, so
 * what was found of it is never too little taken off: it is found out for those alone that would be picked without it.
 */
export function* spread({
  pool,
  lambda,
  minDistance,
  maxPerHolder,
  maxPerDomain,
  keepsOrder = false,
  domains,
  likeness,
  onFederationLimit,
}: SpreadRequest): Generator<Picked> {
  const limits = new Limits(maxPerHolder, maxPerDomain, onFederationLimit)
  const open = pool.map((_, at) => at)
  const picked: number[] = []
  /** By place: the highest likeness to what was picked, as far as it was held against that; and how far. */
  const likest = new Float64Array(pool.length).fill(Number.NEGATIVE_INFINITY)
  const held = new Uint32Array(pool.length)
  while (open.length > 0) {
    let best = -1
    let bestWorth = Number.NEGATIVE_INFINITY
    for (let at = 0; at < open.length; at++) {
      const place = open[at] as number
      if (worthAt(place) <= bestWorth) continue
      holdAgainstPicked(place)
      const worth = worthAt(place)
      if (worth <= bestWorth) continue
      best = at
      bestWorth = worth
    }
    const place = open[best] as number
    open.splice(best, 1)
    const scored = pool[place] as ScoredBelief
    const isTooNear = minDistance !== null && picked.length > 0 && distanceOf(likest[place] as number) < minDistance
    if (isTooNear || !limits.take(scored, domains(scored))) continue
    yield { scored, penalty: 0 - penaltyAt(place) }
    picked.push(place)
  }

  function worthAt(place: number): number {
    return keepsOrder ? -place : lambda * (pool[place] as ScoredBelief).final - penaltyAt(place)
  }

  /** 0 while nothing is picked. */
  function penaltyAt(place: number): number {
    return keepsOrder ? 0 : (1 - lambda) * Math.max(0, likest[place] as number)
  }

  function holdAgainstPicked(place: number): void {
    for (let at = held[place] as number; at < picked.length; at++) {
      likest[place] = Math.max(likest[place] as number, likeness(picked[at] as number, place))
    }
    held[place] = picked.length
  }
}

/** Rounded: 1 - 0.8 is to be 0.2. */
function distanceOf(cosine: number): number {
  return twelveDecimals(1 - cosine)
}

class Limits {
  readonly #holders = new Map<string, number>()
  readonly #domains = new Map<string, number>()
  readonly #perHolder: number | null
  readonly #perDomain: number | null
  readonly #onFederationLimit: ((federation: string) => void) | undefined

  constructor(perHolder: number | null, perDomain: number | null, onFederationLimit?: (federation: string) => void) {
    this.#perHolder = perHolder
    this.#perDomain = perDomain
    this.#onFederationLimit = onFederationLimit
  }

  /** False when its holder, or one of its domains, has its share. */
  take({ holder: shown, source }: ScoredBelief, domains: readonly string[]): boolean {
    // Whose holders a federation does not show are all its own.
    const holder = shown ?? ` ${source.id}`
    const ofHolder = this.#holders.get(holder) ?? 0
    if (this.#perHolder !== null && ofHolder >= this.#perHolder) {
      if (shown === null && source.id !== null) this.#onFederationLimit?.(source.id)
      return false
    }
    const perDomain = this.#perDomain
    if (perDomain !== null && domains.some(domain => (this.#domains.get(domain) ?? 0) >= perDomain)) return false
    this.#holders.set(holder, ofHolder + 1)
    for (const domain of new Set(domains)) this.#domains.set(domain, (this.#domains.get(domain) ?? 0) + 1)
    return true
  }
}
