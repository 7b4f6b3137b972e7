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
  readonly #sums = { queries_total: 0, query_duration_ms: 0, results_returned: 0, cache_hits: 0, cache_misses: 0 }
  readonly #errors: Partial<Record<BeliefsCode, number>> = {}
  readonly #host: LensHost

  constructor(host: LensHost) {
    this.#host = host
  }

  countQuery(durationMs: number, results: number): void {
    this.#sums.queries_total++
    this.#sums.query_duration_ms += durationMs
    this.#sums.results_returned += results
  }

  /** Whether an answer of other nodes was reused. */
  countCache(isHit: boolean): void {
    this.#sums[isHit ? 'cache_hits' : 'cache_misses']++
  }

  countError(code: BeliefsCode): void {
    this.#errors[code] = (this.#errors[code] ?? 0) + 1
  }

  get values(): CounterValues {
    return {
      ...this.#sums,
      query_duration_ms: Math.round(this.#sums.query_duration_ms * 1000) / 1000,
      errors_by_code: { ...this.#errors },
      subscriptions_active: this.#host.live?.count() ?? 0,
    }
  }
}

export const countersOf: (host: LensHost) => Counters = onePer(host => new Counters(host))
