/** One alarm on a fixed grid of time: whatever it is set for, it rings at a point of the grid, so its hours tell nothing. */
import type { Timers } from './timers.ts'

/** What falls on a point of the grid waits for the next: so a point has passed for all that it tells. */
const SOONEST_MS = 0.001

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
