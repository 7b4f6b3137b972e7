/** How many of something that lasts a requester may have at a time: answers under way piece by piece, live queries. */
import { QuerentError } from '../model/errors.ts'
import { requesterOf } from './requester.ts'

export class Places {
  readonly #most: number
  readonly #what: string
  readonly #taken = new Map<string, number>()

  /** At a time, of one requester. `what` they are, in the plural. */
  constructor(most: number, what: string) {
    this.#most = most
    this.#what = what
  }

  /** Taken by all requesters. */
  get size(): number {
    return [...this.#taken.values()].reduce((sum, count) => sum + count, 0)
  }

  /**
   * Throws `rate_limited` where this is one too many; who is `unlimited` takes one all the same. Returns what gives the place
   * back, once.
   */
  take(viewer: string, unlimited = false): () => void {
    const requester = requesterOf(viewer)
    const count = this.#takenBy(requester)
    if (count >= this.#most && !unlimited) throw tooManyAtOnce(this.#most, this.#what)
    this.#taken.set(requester, count + 1)
    let isTaken = true
    return () => {
      if (!isTaken) return
      isTaken = false
      const left = this.#takenBy(requester) - 1
      if (left === 0) this.#taken.delete(requester)
      else this.#taken.set(requester, left)
    }
  }

  #takenBy(requester: string): number {
    return this.#taken.get(requester) ?? 0
  }
}

/** `rate_limited`. `what` they are, in the plural. */
export function tooManyAtOnce(limit: number, what: string): QuerentError {
  return new QuerentError('rate_limited', `at most ${limit} ${what} at a time: end one before the next`, { limit })
}
