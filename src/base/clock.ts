/**
 * Time comes in through here. `Clock` gives the instant that rules meaning (decay, recency, validity); `Deadline`
 * measures how long work may still take and runs on monotonic time, so setting a clock never ends or extends it.
 */

/** Milliseconds since 1970-01-01T00:00:00Z, a whole number. */
export type Instant = number

export interface Clock {
  now(): Instant
}

export const systemClock: Clock = { now: () => Date.now() }

/** A clock that keeps its time until `set` moves it. */
export class SettableClock implements Clock {
  #now: Instant
  constructor(now: Instant) {
    this.#now = now
  }
  now(): Instant {
    return this.#now
  }
  set(now: Instant): void {
    this.#now = now
  }
}

/** How much longer a piece of work may take: a time limit and a signal in one value. */
export class Deadline {
  readonly signal: AbortSignal
  #end: number

  /** `timeoutMs` counts from this call; `Infinity` means no limit. `signal` ends the work early. */
  constructor(timeoutMs: number, signal: AbortSignal = new AbortController().signal) {
    this.#end = performance.now() + timeoutMs
    this.signal = signal
  }

  /** What `work` takes is not counted. */
  without<T>(work: () => T): T {
    const started = performance.now()
    try {
      return work()
    } finally {
      this.#end += performance.now() - started
    }
  }

  /** The same for work that pauses. */
  async withoutWaiting<T>(work: () => Promise<T>): Promise<T> {
    const started = performance.now()
    try {
      return await work()
    } finally {
      this.#end += performance.now() - started
    }
  }

  /** Milliseconds left, 0 when over. */
  get leftMs(): number {
    return Math.max(0, this.#end - performance.now())
  }

  get over(): boolean {
    return this.signal.aborted || performance.now() >= this.#end
  }
}
