/** Something of each requester: made when it first asks, and forgotten when it is as good as new. Of one process. */
import { requesterOf } from './requester.ts'

/** So many are kept without looking whether some are as good as new. */
const KEPT = 1_024

export class ByRequester<T> {
  readonly #make: (now: number) => T
  readonly #isAsNew: (one: T, now: number) => boolean
  readonly #known = new Map<string, T>()
  #sweepAt = KEPT

  constructor(make: (now: number) => T, isAsNew: (one: T, now: number) => boolean) {
    this.#make = make
    this.#isAsNew = isAsNew
  }

  /** In memory: no more than twice as many as are not as good as new, beyond a thousand. */
  get size(): number {
    return this.#known.size
  }

  /** The viewer's; keys that are no agent here have one together. */
  of(viewer: string, now: number): T {
    const requester = requesterOf(viewer)
    const known = this.#known.get(requester)
    if (known !== undefined) return known
    if (this.#known.size >= this.#sweepAt) this.#sweep(now)
    const made = this.#make(now)
    this.#known.set(requester, made)
    return made
  }

  #sweep(now: number): void {
    for (const [requester, one] of this.#known) if (this.#isAsNew(one, now)) this.#known.delete(requester)
    this.#sweepAt = Math.max(KEPT, 2 * this.#known.size)
  }
}
