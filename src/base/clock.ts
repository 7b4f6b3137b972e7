/**
 * All time enters the program here. `Clock` gives the date and time that results depend on (decay, recency, validity); `Deadline` measures
 * how long work may still take on monotonic time, so that setting the system clock never ends or extends it.
 */

/** Milliseconds since 1970-01-01T00:00:00Z, a whole number. */
export type Instant = number

export interface Clock {
  now(): Instant
}

export const systemClock: Clock = { now: () => Date.now() }

/** A clock that shows the same instant until `set` changes it, for tests and replays. */
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

/** A deadline for a piece of work: combines a time limit with an abort signal. */
export class Deadline {
  readonly signal: AbortSignal
  #end: number

  /** `timeoutMs`: time limit in milliseconds from now on; `Infinity` means no limit. `signal`: aborting it ends the work early. */
  constructor(timeoutMs: number, signal: AbortSignal = new AbortController().signal) {
    this.#end = performance.now() + timeoutMs
    this.signal = signal
  }

  /** Runs synchronous `work`, and extends the deadline by the time that `work` took. */
  without<T>(work: () => T): T {
    const started = performance.now()
    try {
      return work()
    } finally {
      this.#end += performance.now() - started
    }
  }

  /** Runs asynchronous `work`, and extends the deadline by the time that `work` took. */
  async withoutWaiting<T>(work: () => Promise<T>): Promise<T> {
    const started = performance.now()
    try {
      return await work()
    } finally {
      this.#end += performance.now() - started
    }
  }

  /** Milliseconds left until the deadline, 0 if it has passed. */
  get leftMs(): number {
    return Math.max(0, this.#end - performance.now())
  }

  get over(): boolean {
    return this.signal.aborted || performance.now() >= this.#end
  }
}
