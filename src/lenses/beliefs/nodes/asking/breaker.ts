/**
 * Keeps from asking a node that does not answer: after some failures in a row it rests, then one question tries whether it is
 * back. Each rest is twice as long as the one before. On a clock that nobody can set.
 */

const FAILURES = 3
const FIRST_REST_MS = 1_000
const LONGEST_REST_MS = 60_000

export type BreakerState = 'closed' | 'open' | 'half_open'

export class Breaker {
  #failures = 0
  #restMs = FIRST_REST_MS
  #until = Number.NEGATIVE_INFINITY
  #isTrying = false

  /** In a row. */
  get failures(): number {
    return this.#failures
  }

  stateAt(now: number): BreakerState {
    if (this.#failures < FAILURES) return 'closed'
    return now < this.#until ? 'open' : 'half_open'
  }

  /** Milliseconds that it rests still. */
  restMsAt(now: number): number {
    return this.stateAt(now) === 'open' ? this.#until - now : 0
  }

  /** Whether to ask. Who is told yes tells afterwards how it went. */
  mayAsk(now: number): boolean {
    const state = this.stateAt(now)
    if (state === 'open' || (state === 'half_open' && this.#isTrying)) return false
    this.#isTrying = state === 'half_open'
    return true
  }

  succeeded(): void {
    this.#failures = 0
    this.#restMs = FIRST_REST_MS
    this.#isTrying = false
  }

  failed(now: number): void {
    const wasTrying = this.#isTrying
    this.#isTrying = false
    this.#failures++
    if (this.#failures < FAILURES) return
    if (wasTrying) this.#restMs = Math.min(LONGEST_REST_MS, 2 * this.#restMs)
    this.#until = now + this.#restMs
  }

  /** It was asked, and what came of it says nothing of the node: the requester left, or had no time. */
  gaveUp(): void {
    this.#isTrying = false
  }
}
