/**
 * Limits how many bytes each viewer may store through requests from outside the process (QE-019). The store itself counts the bytes, so a
 * restart does not reset the limit.
 */

import type { Clock } from '../base/clock.ts'
import { nextTurn, Turns } from '../base/turns.ts'
import { requesterOf } from '../identity/rates.ts'
import { QuerentError } from '../model/errors.ts'
import type { TableDeclaration } from '../model/table.ts'
import type { Store } from '../store/store.ts'
import { countMore, heldBytes } from '../store/usage.ts'

/** Number of entries or rows whose bytes are summed in one transaction. */
const AT_ONCE = 500

export class ByteQuota {
  readonly #store: Store
  readonly #clock: Clock
  readonly #quota: number
  readonly #tables: readonly TableDeclaration[]
  /** Bytes reserved for write requests in progress, by requester. */
  readonly #reserved = new Map<string, number>()

  /** `quota`: maximum number of bytes per viewer, at least 0. `tables`: all tables that may hold rows of viewers. */
  constructor(store: Store, clock: Clock, quota: number, tables: readonly TableDeclaration[]) {
    this.#store = store
    this.#clock = clock
    this.#quota = quota
    this.#tables = tables
  }

  /**
   * Reserves quota for a request that may write up to `bytes` bytes; the returned function ends the reservation. Rejects with
   * `quota_exceeded` before anything is written if too little quota is left.
   */
  async reserve(viewer: string, bytes: number): Promise<() => void> {
    const requester = requesterOf(viewer)
    const held = await this.#held(viewer)
    // There must be no `await` between this check and the reservation; otherwise two requests could both take the last bytes of the quota.
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
      await this.#store.writeInSteps(
        this.#clock.now(),
        writer => countMore(writer, this.#filled(), viewer, AT_ONCE),
        new Turns(),
      )
      await nextTurn()
    }
  }

  /** Only tables that have rows are counted, because counting in a table that does not exist would create it. */
  #filled(): readonly TableDeclaration[] {
    return this.#tables.filter(table => this.#store.table(table).scan({}, { limit: 1 }).length > 0)
  }
}

function exceeded(used: number, bytes: number, quota: number): QuerentError {
  const message = `this viewer keeps ${used} of ${quota} bytes, and the request has ${bytes}: delete entries, or ask the owner for more (limits.bytes_per_viewer)`
  return new QuerentError('quota_exceeded', message, { used, bytes, quota })
}
