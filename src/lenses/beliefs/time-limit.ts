/**
 * How long a question may still take (BQ-192). Work asks it every few thousand rows, on monotonic time; what is worked out
 * by then is returned as a partial answer.
 */
import { QuerentError } from '../../model/errors.ts'
import { BeliefsError } from './errors.ts'

/** Rows that are looked at between two looks at the clock: well under a millisecond's work, where 50 are allowed. */
export const ROWS_AT_ONCE = 4096

/** Characters that are looked through between two looks: of one long belief, or some hundred usual ones. */
export const CHARACTERS_AT_ONCE = 65_536

export class TimeLimit {
  readonly signal: AbortSignal
  readonly #timeoutMs: number
  readonly #now: () => number
  readonly #start: number
  #isCut = false

  /** `now` are milliseconds of a clock that nobody can set. */
  constructor(timeoutMs: number, signal: AbortSignal, now: () => number = () => performance.now()) {
    this.signal = signal
    this.#timeoutMs = timeoutMs
    this.#now = now
    this.#start = now()
  }

  get leftMs(): number {
    return Math.max(0, this.#timeoutMs - (this.#now() - this.#start))
  }

  /** Whether something was left out for want of time. */
  get isCut(): boolean {
    return this.#isCut
  }

  /** Throws TIMEOUT when time is over, and `cancelled` when the caller has gone. */
  check(): void {
    if (this.signal.aborted) throw new QuerentError('cancelled', 'the caller cancelled the query')
    if (this.leftMs === 0) throw this.error()
  }

  /** Whether there is time for something that an answer can do without. */
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

  /** Checks the clock every `CHARACTERS_AT_ONCE` characters that it is called with. */
  reader(): (characters: number) => void {
    let sum = 0
    return characters => {
      sum += characters
      if (sum < CHARACTERS_AT_ONCE) return
      sum = 0
      this.check()
    }
  }

  /** Checks the clock every `ROWS_AT_ONCE` calls. */
  ticker(): () => void {
    let calls = 0
    return () => {
      if (++calls % ROWS_AT_ONCE === 0) this.check()
    }
  }
}
