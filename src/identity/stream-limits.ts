/** How many answers a requester may have under way piece by piece: each keeps a connection, and an order between its pieces. */
import { QuerentError } from '../model/errors.ts'
import { requesterOf } from './requester.ts'

export class StreamLimits {
  readonly #most: number
  readonly #open = new Map<string, number>()

  /** At a time, of one requester. */
  constructor(most: number) {
    this.#most = most
  }

  /** Of all requesters. */
  get size(): number {
    return [...this.#open.values()].reduce((sum, count) => sum + count, 0)
  }

  /** Throws `rate_limited` where this is one too many; returns what gives the place back, once. */
  open(viewer: string): () => void {
    const requester = requesterOf(viewer)
    const count = this.#countOf(requester)
    if (count >= this.#most) throw tooMany(this.#most)
    this.#open.set(requester, count + 1)
    let isOpen = true
    return () => {
      if (!isOpen) return
      isOpen = false
      const left = this.#countOf(requester) - 1
      if (left === 0) this.#open.delete(requester)
      else this.#open.set(requester, left)
    }
  }

  #countOf(requester: string): number {
    return this.#open.get(requester) ?? 0
  }
}

function tooMany(limit: number): QuerentError {
  return new QuerentError('rate_limited', `at most ${limit} streams at a time: end one before the next`, { limit })
}
