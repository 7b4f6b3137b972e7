/** How many bytes each viewer may keep here by requests from outside (QE-019). Counted by the store, so a restart changes nothing. */

import type { Clock } from '../base/clock.ts'
import { nextTurn } from '../base/next-turn.ts'
import { requesterOf } from '../identity/requester.ts'
import { QuerentError } from '../model/errors.ts'
import type { Store } from '../store/store.ts'
import { countMore, heldBytes } from '../store/usage.ts'

/** Entries counted in one transaction: some milliseconds. */
const ENTRIES_AT_ONCE = 500

export class ByteQuota {
  readonly #store: Store
  readonly #clock: Clock
  readonly #quota: number
  /** Bytes of requests that are being written, by requester. */
  readonly #reserved = new Map<string, number>()

  /** `quota`: bytes, at least 0. */
  constructor(store: Store, clock: Clock, quota: number) {
    this.#store = store
    this.#clock = clock
    this.#quota = quota
  }

  /**
   * Makes room for a request that may write up to `bytes`, until the returned function is called. Rejects with
   * `quota_exceeded` where there is none: before anything is written.
   */
  async reserve(viewer: string, bytes: number): Promise<() => void> {
    const requester = requesterOf(viewer)
    const held = await this.#held(viewer)
    // Nothing waits between this look and the reservation: two requests cannot both take the last room.
    const reserved = this.#reserved.get(requester) ?? 0
    if (held + reserved + bytes > this.#quota) throw exceeded(held + reserved, bytes, this.#quota)
    this.#reserved.set(requester, reserved + bytes)
    return () => {
      const left = (this.#reserved.get(requester) ?? 0) - bytes
      if (left > 0) this.#reserved.set(requester, left)
      else this.#reserved.delete(requester)
    }
  }

  async #held(viewer: string): Promise<number> {
    for (;;) {
      const held = heldBytes(this.#store, viewer)
      if (held !== null) return held
      await this.#store.writeWhenFree(this.#clock.now(), writer => countMore(writer, viewer, ENTRIES_AT_ONCE))
      await nextTurn()
    }
  }
}

function exceeded(used: number, bytes: number, quota: number): QuerentError {
  const message = `this viewer keeps ${used} of ${quota} bytes, and the request has ${bytes}: delete entries, or ask the owner for more (limits.bytes_per_viewer)`
  return new QuerentError('quota_exceeded', message, { used, bytes, quota })
}
