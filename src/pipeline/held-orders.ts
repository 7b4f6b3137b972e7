/**
 * The orders that one engine holds for the pages to come, by the cursors it gave. An order is made whole when its next page
 * is asked for, or just before the indexes change (`settle`): most answers have no second page, and pay nothing for it.
 */
import type { Instant } from '../base/clock.ts'
import { CURSOR_LIFETIME_MS } from '../model/limits.ts'
import { Held, type HeldBounds } from './held.ts'
import type { HeldOrder } from './held-order.ts'

/** An entry in an order takes half a kilobyte, so that of a usual answer takes a hundred kilobytes. */
const BOUNDS: HeldBounds = { most: 2_000, bytes: 32 * 1024 * 1024, lifetimeMs: CURSOR_LIFETIME_MS }
const BYTES_EACH = 500
/** Orders that are made whole before indexes change, the newest; each takes about a third of a millisecond. */
const MOST_SETTLED = 32

export interface HeldPage {
  readonly order: LaterOrder
  /** Of its rest, as many were passed. */
  readonly at: number
}

/** An order that may still have to be made whole. */
export class LaterOrder {
  readonly #isTimely: () => boolean
  #make: (() => HeldOrder) | null
  #order: HeldOrder | null = null

  constructor(make: () => HeldOrder, isTimely: () => boolean) {
    this.#make = make
    this.#isTimely = isTimely
  }

  /** Null: it was not made in time, and cannot be made any more as it was. */
  get(): HeldOrder | null {
    const make = this.#make
    this.#make = null
    if (make !== null && this.#isTimely()) this.#order = make()
    return this.#order
  }
}

export class HeldOrders {
  readonly #held: Held<HeldPage>
  /** Perhaps not whole yet, oldest first. */
  readonly #later = new Set<LaterOrder>()
  /** How often the indexes changed. */
  #changes = 0

  constructor(bounds: HeldBounds = BOUNDS) {
    this.#held = new Held(bounds)
  }

  get size(): number {
    return this.#held.size
  }

  get bytes(): number {
    return this.#held.bytes
  }

  /** An order that `make` makes whole, if it comes to that while the indexes are as they are now. */
  later(make: () => HeldOrder): LaterOrder {
    const made = this.#changes
    const order = new LaterOrder(make, () => this.#changes === made)
    this.#later.add(order)
    if (this.#later.size > MOST_SETTLED) this.#later.delete(this.#later.values().next().value as LaterOrder)
    return order
  }

  whole(order: HeldOrder): LaterOrder {
    return new LaterOrder(
      () => order,
      () => true,
    )
  }

  /** `count`: entries in the order, about. */
  hold(cursor: string, viewer: string, page: HeldPage, count: number, now: Instant): void {
    this.#held.hold(cursor, viewer, page, count * BYTES_EACH, now, page.order)
  }

  /** Null: not, or no longer, held for this viewer. */
  find(cursor: string, viewer: string, now: Instant): HeldPage | null {
    return this.#held.find(cursor, viewer, now)
  }

  /** To be called when indexes are about to change. */
  settle(): void {
    for (const order of this.#later) {
      try {
        order.get()
      } catch {
        // It is not held then; what went wrong is not the business of whoever changes something.
      }
    }
    this.#later.clear()
    this.#changes++
  }

  clear(): void {
    this.#held.clear()
    this.#later.clear()
    this.#changes++
  }
}
