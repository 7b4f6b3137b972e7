/** What the lens did in this engine since it was opened (BQ-177): for whoever runs the node, never for those who ask. */
import { onePer } from '../../base/one-per.ts'
import type { LensHost } from '../lens.ts'
import type { BeliefsCode } from './errors.ts'

interface CounterValues {
  readonly queries_total: number
  /** Of all of them together, without their embedding. */
  readonly query_duration_ms: number
  readonly results_returned: number
  /** Of answers of other nodes, which alone are kept. */
  readonly cache_hits: number
  readonly cache_misses: number
  readonly errors_by_code: Readonly<Partial<Record<BeliefsCode, number>>>
  readonly subscriptions_active: number
}

class Counters {
  #queries = 0
  #durationMs = 0
  #results = 0
  #hits = 0
  #misses = 0
  readonly #errors = new Map<BeliefsCode, number>()
  readonly #subscriptions: () => number

  /** `subscriptions`: how many there are at a time. */
  constructor(subscriptions: () => number = () => 0) {
    this.#subscriptions = subscriptions
  }

  countQuery(durationMs: number, results: number): void {
    this.#queries++
    this.#durationMs += durationMs
    this.#results += results
  }

  /** Whether what other nodes say was still known. */
  countCache(isHit: boolean): void {
    if (isHit) this.#hits++
    else this.#misses++
  }

  countError(code: BeliefsCode): void {
    this.#errors.set(code, (this.#errors.get(code) ?? 0) + 1)
  }

  get values(): CounterValues {
    return {
      queries_total: this.#queries,
      query_duration_ms: Math.round(this.#durationMs * 1000) / 1000,
      results_returned: this.#results,
      cache_hits: this.#hits,
      cache_misses: this.#misses,
      errors_by_code: Object.fromEntries(this.#errors),
      subscriptions_active: this.#subscriptions(),
    }
  }
}

export const countersOf: (host: LensHost) => Counters = onePer(host => new Counters(() => host.live?.count() ?? 0))
