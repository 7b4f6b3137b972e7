/**
 * The time limit of a query (BQ-192). Code that does the work checks it every few thousand rows, against a monotonic clock. If time runs
 * out, the results found until then are returned as a partial answer where that is possible.
 */
import { QuerentError } from '../../model/errors.ts'
import { BeliefsError } from './errors.ts'

/**
 * Number of rows processed between two checks of the clock: well under a millisecond of work, while a query may exceed its time limit by 50
 * ms.
 */
export const ROWS_AT_ONCE = 4096

/** Number of characters searched between two checks of the clock: one long belief, or some hundred usual ones. */
export const CHARACTERS_AT_ONCE = 65_536

export class TimeLimit {
  readonly signal: AbortSignal
  readonly #timeoutMs: number
  readonly #now: () => number
  readonly #start: number
  #isCut = false

  /** `now`: returns the time in milliseconds of a clock that is never set back or forward. */
  constructor(timeoutMs: number, signal: AbortSignal, now: () => number = () => performance.now()) {
    this.signal = signal
    this.#timeoutMs = timeoutMs
    this.#now = now
    this.#start = now()
  }

  get leftMs(): number {
    return Math.max(0, this.#timeoutMs - (this.#now() - this.#start))
  }

  /** Whether an optional part of the answer was left out because time had run out. */
  get isCut(): boolean {
    return this.#isCut
  }

  /** Throws TIMEOUT if time has run out, and `cancelled` if the caller has cancelled the query. */
  check(): void {
    if (this.signal.aborted) throw new QuerentError('cancelled', 'the caller cancelled the query')
    if (this.leftMs === 0) throw this.error()
  }

  /** Whether there is time left for an optional part of the answer. If not, the answer is recorded as incomplete. */
  allows(): boolean {
    if (this.leftMs > 0) return true
    this.#isCut = true
    return false
  }

  error(): BeliefsError {
    const elapsed = Math.round(this.#now() - this.#start)
    const message = `the query took longer than ${this.#timeoutMs} ms`
    return new BeliefsError('TIMEOUT', message, { elapsed_ms: elapsed, timeout_ms: this.#timeoutMs })
  }

  /**
   * Returns a function that adds up numbers of characters, and checks the time limit whenever `CHARACTERS_AT_ONCE` of them have been
   * reached.
   */
  reader(): (characters: number) => void {
    let sum = 0
    return characters => {
      sum += characters
      if (sum < CHARACTERS_AT_ONCE) return
      sum = 0
      this.check()
    }
  }

  /** Returns a function that checks the time limit at every `ROWS_AT_ONCE`-th call. */
  ticker(): () => void {
    let calls = 0
    return () => {
      if (++calls % ROWS_AT_ONCE === 0) this.check()
    }
  }
}
