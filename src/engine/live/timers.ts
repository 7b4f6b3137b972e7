/** Machine time for live queries. Meaning has no part in it: it only says when to look and when to send. */
import { nextTurn } from '../../base/next-turn.ts'

export interface Timers {
  /** Milliseconds, never backwards. */
  now(): number
  /** Calls back once, this many milliseconds from now; returns what prevents it. */
  after(ms: number, callback: () => void): () => void
  /** Resolves when everything else that waits has had its turn. */
  turn(): Promise<void>
}

export const systemTimers: Timers = {
  now: () => performance.now(),
  after: (ms, callback) => {
    const timer = setTimeout(callback, ms)
    return () => clearTimeout(timer)
  },
  turn: nextTurn,
}

/** What falls on a point of the grid waits for the next: so a point has passed for all that it tells. */
const SOONEST_MS = 0.001

/** One alarm on a fixed grid of time: whatever it is set for, it rings at a point of the grid, so its hours reveal nothing. */
export class GridAlarm {
  readonly #timers: Timers
  readonly #start: number
  readonly #stepMs: number
  readonly #ring: () => void
  #set: { readonly at: number; readonly stop: () => void } | null = null

  /** The grid begins now. A step of 0: every moment is a point of it. */
  constructor(timers: Timers, stepMs: number, ring: () => void) {
    this.#timers = timers
    this.#start = timers.now()
    this.#stepMs = stepMs
    this.#ring = ring
  }

  get isSet(): boolean {
    return this.#set !== null
  }

  setForNext(): void {
    this.setFor(this.#timers.now() + (this.#stepMs === 0 ? 0 : SOONEST_MS))
  }

  /** For the first point that is not before this, unless it is set for an earlier one. */
  setFor(time: number): void {
    const at = this.#pointFrom(time)
    if (this.#set !== null && this.#set.at <= at) return
    this.stop()
    const wait = Math.max(0, at - this.#timers.now())
    this.#set = { at, stop: this.#timers.after(wait, () => this.#rings()) }
  }

  stop(): void {
    this.#set?.stop()
    this.#set = null
  }

  #rings(): void {
    this.#set = null
    this.#ring()
  }

  #pointFrom(time: number): number {
    if (this.#stepMs === 0) return time
    return this.#start + Math.ceil((time - this.#start) / this.#stepMs) * this.#stepMs
  }
}

/** What fails is tried again after a second, two, four, at most a minute. */
const FIRST_MS = 1_000
const LAST_MS = 60_000

export class Retry {
  #failures = 0

  /** The last time, and perhaps before. */
  get hasFailed(): boolean {
    return this.#failures > 0
  }

  /** It has failed: in how many milliseconds to try again. */
  failed(): number {
    const wait = Math.min(LAST_MS, FIRST_MS * 2 ** this.#failures)
    this.#failures += 1
    return wait
  }

  worked(): void {
    this.#failures = 0
  }
}
