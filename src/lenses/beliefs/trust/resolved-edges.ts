/** Edges as one question sees them: resolved for its domains (BQ-062, BQ-063), faded to its moment. */
import type { Instant } from '../../../base/clock.ts'
import { meanEntry } from '../measures/domains.ts'
import type { EdgeArrays } from './edge-arrays.ts'
import { daysSince, faded, tenthsHoldUntil, tenthsOf } from './fading.ts'

export interface TrustQuestion {
  /** Normalised. */
  readonly domains: readonly string[]
  /** 0 to 1. */
  readonly domainTrustWeight: number
  /** 1 to 5. */
  readonly maxHops: number
  /** 0.1 to 0.9. */
  readonly damping: number
}

/** Each once and in one order, so that equal questions have equal sums. */
export function inOrder(question: TrustQuestion): TrustQuestion {
  return { ...question, domains: [...new Set(question.domains)].sort() }
}

export class ResolvedEdges {
  readonly arrays: EdgeArrays
  readonly #domains: readonly string[]
  readonly #weight: number
  /** By number of entries by domain; undefined: not looked at yet. */
  readonly #means: (number | null | undefined)[] = [null]

  constructor(arrays: EdgeArrays, { domains, domainTrustWeight }: TrustQuestion) {
    this.arrays = arrays
    this.#domains = domains
    this.#weight = domainTrustWeight
  }

  /** What the edge counts before it fades. */
  base(slot: number): number {
    const level = this.arrays.level[slot] as number
    const mean = this.#mean(this.arrays.domains[slot] as number)
    return mean === null ? level : (1 - this.#weight) * level + this.#weight * mean
  }

  faded(slot: number, asOf: Instant): number {
    return faded(this.base(slot), this.arrays.rate(slot), daysSince(this.arrays.lastUsed[slot] as number, asOf))
  }

  /** As somebody else's edge: 0 to 10. */
  tenths(slot: number, asOf: Instant): number {
    return tenthsOf(this.faded(slot, asOf))
  }

  /** Until when it counts so many tenths. */
  tenthsHoldUntil(slot: number, asOf: Instant, tenths: number): Instant {
    const [lastUsed, rate] = [this.arrays.lastUsed[slot] as number, this.arrays.rate(slot)]
    return tenthsHoldUntil(this.base(slot), rate, lastUsed, asOf, tenths)
  }

  #mean(entries: number): number | null {
    if (this.#domains.length === 0) return null
    const known = this.#means[entries]
    if (known !== undefined) return known
    const mean = meanEntry(this.arrays.entries[entries] as ReadonlyMap<string, number>, this.#domains)
    this.#means[entries] = mean
    return mean
  }
}
