/**
 * How much somebody may ask for: a bucket of units that fills steadily. Counted in whole parts of a unit, sixty thousand of
 * them, so that the rate a minute is whole parts a millisecond: nothing is ever rounded but the wait, up to a millisecond.
 */

/** Milliseconds of some clock that does not matter, whole ones. */
export type MachineTime = number

export interface Rate {
  /** Whole, at least 1. */
  readonly unitsPerMinute: number
  /** What a bucket holds: whole, at least 1. */
  readonly burst: number
}

export const WINDOW_MS = 60_000
const PARTS = WINDOW_MS

export class TokenBucket {
  readonly #perMs: number
  readonly #capacity: number
  #parts: number
  #at: MachineTime

  /** Full to begin with. */
  constructor({ unitsPerMinute, burst }: Rate, now: MachineTime) {
    this.#perMs = unitsPerMinute
    this.#capacity = burst * PARTS
    this.#parts = this.#capacity
    this.#at = now
  }

  /**
   * Takes so many units (0 or more, whole) and returns 0; or takes none and returns after how many milliseconds they would
   * be there. What costs more than the bucket holds is let through when it is full, and leaves a debt: who may ask for it
   * at all may ask for it now and then.
   */
  take(units: number, now: MachineTime): number {
    this.#fill(now)
    const cost = units * PARTS
    const missing = Math.min(cost, this.#capacity) - this.#parts
    if (cost > 0 && missing > 0) return Math.ceil(missing / this.#perMs)
    this.#parts -= cost
    return 0
  }

  /** Whether it is as good as a new one. */
  isFull(now: MachineTime): boolean {
    this.#fill(now)
    return this.#parts === this.#capacity
  }

  /** A clock that was set back fills nothing, and begins again from where it is. */
  #fill(now: MachineTime): void {
    const elapsed = Math.max(0, now - this.#at)
    this.#at = now
    const wanting = this.#capacity - this.#parts
    // By way of the time that is needed: elapsed times rate may be beyond what is counted exactly.
    this.#parts = elapsed >= wanting / this.#perMs ? this.#capacity : this.#parts + elapsed * this.#perMs
  }
}
