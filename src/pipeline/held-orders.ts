/**
 * The orders that one engine holds for the pages to come, by the places where pages ended. An order is made whole when its next page
 * is asked for, or just before the indexes change (`settleSome`): most answers have no second page, and pay nothing for it.
 */
import type { Instant } from '../base/clock.ts'
import { CURSOR_LIFETIME_MS } from '../model/limits.ts'
import { Held, type HeldBounds } from './held.ts'
import type { HeldOrder } from './held-order.ts'

/** An entry in an order takes half a kilobyte, so that of a usual answer takes a hundred kilobytes. */
const BOUNDS: HeldBounds = { most: 2_000, bytes: 32 * 1024 * 1024, lifetimeMs: CURSOR_LIFETIME_MS }
const BYTES_EACH = 500
/**
 * Orders that are made whole before indexes change, after which no other can be: all that are held, when they are usual ones.
 * It takes some microseconds for each entry in them, a third of a millisecond for an order: in steps, once.
 */
const SETTLED: HeldBounds = { most: 400, bytes: BOUNDS.bytes, lifetimeMs: Number.POSITIVE_INFINITY }

export interface HeldPage {
  readonly order: LaterOrder
  /** Of its rest, as many were passed. */
  readonly at: number
}

/** An order that may still have to be made whole. */
export interface LaterOrder {
  /** Null: it was not made in time, and cannot be made any more as it was. */
  get(): HeldOrder | null
}

export class HeldOrders {
  readonly #held: Held<HeldPage>
  /** Perhaps not whole yet. Who still may read the cursor of a page keeps its order. */
  readonly #later: Held<WeakRef<Unmade>>
  /** What makes orders whole while the indexes are as they are now, and no longer: it keeps much in memory. */
  #makers = new WeakMap<Unmade, () => HeldOrder>()
  #count = 0

  /** `whose`: whom a viewer counts as, where several are one. */
  constructor(whose?: (viewer: string) => string, bounds: HeldBounds = BOUNDS, settled: HeldBounds = SETTLED) {
    this.#held = new Held(bounds, whose)
    this.#later = new Held(settled, whose)
  }

  get size(): number {
    return this.#held.size
  }

  get bytes(): number {
    return this.#held.bytes
  }

  /** An order that `make` makes whole, if it comes to that while the indexes are as they are now; `count` as in `hold`. */
  later(make: () => HeldOrder, viewer: string, count: number): LaterOrder {
    const name = String(++this.#count)
    const order = new Unmade(() => {
      const known = this.#makers.get(order)
      this.#makers.delete(order)
      this.#later.release(name)
      return known?.() ?? null
    })
    this.#makers.set(order, make)
    this.#later.hold(name, viewer, new WeakRef(order), count * BYTES_EACH, 0)
    return order
  }

  whole(order: HeldOrder): LaterOrder {
    return { get: () => order }
  }

  /** `count`: entries in the order, about. */
  hold(place: string, viewer: string, page: HeldPage, count: number, now: Instant): void {
    this.#held.hold(place, viewer, page, count * BYTES_EACH, now, page.order)
  }

  /** Null: not, or no longer, held for this viewer. */
  find(place: string, viewer: string, now: Instant): HeldPage | null {
    return this.#held.find(place, viewer, now)
  }

  release(place: string): void {
    this.#held.release(place)
  }

  /** To be called when indexes are about to change, until it returns false: each call makes one order whole. */
  settleSome(): boolean {
    for (const later of this.#later.values()) {
      const order = later.deref()
      // Nobody has its cursor any more.
      if (order === undefined) continue
      try {
        // It is not among the later ones any more.
        order.get()
      } catch {
        // It is not held then; what went wrong is not the business of whoever changes something.
      }
      return true
    }
    this.#forgetMakers()
    return false
  }

  clear(): void {
    this.#held.clear()
    this.#forgetMakers()
  }

  #forgetMakers(): void {
    this.#later.clear()
    this.#makers = new WeakMap()
  }
}

/** Made once, by whoever asks for it first. */
class Unmade implements LaterOrder {
  #make: (() => HeldOrder | null) | null
  #order: HeldOrder | null = null

  constructor(make: () => HeldOrder | null) {
    this.#make = make
  }

  get(): HeldOrder | null {
    const make = this.#make
    this.#make = null
    if (make !== null) this.#order = make()
    return this.#order
  }
}
