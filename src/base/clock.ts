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

/** A deadline: how much longer a piece of work may take, as a time limit and an abort signal in one value. */
export class Deadline {
  readonly signal: AbortSignal
  #end: number

  /** `timeoutMs` counts from the construction; `Infinity` means no limit. `signal` ends the work early. */
  constructor(timeoutMs: number, signal: AbortSignal = new AbortController().signal) {
    this.#end = performance.now() + timeoutMs
    this.signal = signal
  }

  /** Runs `work` without counting its duration against the deadline. */
  without<T>(work: () => T): T {
    const started = performance.now()
    try {
      return work()
    } finally {
      this.#end += performance.now() - started
    }
  }

  /** Runs asynchronous `work` without counting its duration against the deadline. */
  async withoutWaiting<T>(work: () => Promise<T>): Promise<T> {
    const started = performance.now()
    try {
      return await work()
    } finally {
      this.#end += performance.now() - started
    }
  }

  /** Milliseconds left until the deadline, 0 when it has passed. */
  get leftMs(): number {
    return Math.max(0, this.#end - performance.now())
  }

  get over(): boolean {
    return this.signal.aborted || performance.now() >= this.#end
  }
}
