/** What the lens did in this engine since it was opened (BQ-177): for whoever runs the node, never for those who ask. */
import type { LensHost } from '../lens.ts'
import type { BeliefsCode } from './errors.ts'

interface CounterValues {
  readonly queries_total: number
  /** Of all of them together, without their embedding. */
  readonly query_duration_ms: number
  readonly results_returned: number
  /** Of answers: the lens keeps none, so both are 0. */
  readonly cache_hits: number
  readonly cache_misses: number
  readonly errors_by_code: Readonly<Partial<Record<BeliefsCode, number>>>
  readonly subscriptions_active: number
}

class Counters {
  #queries = 0
  #durationMs = 0
  #results = 0
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

  countError(code: BeliefsCode): void {
    this.#errors.set(code, (this.#errors.get(code) ?? 0) + 1)
  }

  get values(): CounterValues {
    return {
      queries_total: this.#queries,
      query_duration_ms: Math.round(this.#durationMs * 1000) / 1000,
      results_returned: this.#results,
      cache_hits: 0,
      cache_misses: 0,
      errors_by_code: Object.fromEntries(this.#errors),
      subscriptions_active: this.#subscriptions(),
    }
  }
}

const COUNTERS = new WeakMap<LensHost, Counters>()

export function countersOf(host: LensHost): Counters {
  const known = COUNTERS.get(host)
  if (known !== undefined) return known
  const made = new Counters(() => host.live?.count() ?? 0)
  COUNTERS.set(host, made)
  return made
}
