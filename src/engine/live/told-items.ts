/**
 * What a subscriber was told so far, item by item. Keeps count of how long it is in a token, so that each event costs what
 * one item costs, however many there are.
 */
import type { Instant } from '../../base/clock.ts'
import type { Told } from './difference.ts'
import { rowLength } from './token-row.ts'

export interface Delivered {
  /** In rank order. */
  readonly items: readonly Told[]
  readonly asOf: Instant
}

/** In the order of ranks, as long as it is told in it. */
export class ToldItems implements Iterable<Told> {
  readonly #items = new Map<string, Told>()
  readonly #lengths = new Map<string, number>()
  #length = 0

  /** Bytes of all of them in a resume token. */
  get rowsLength(): number {
    return this.#length
  }

  /** To look things up in. */
  get all(): ReadonlyMap<string, Told> {
    return this.#items
  }

  get(key: string): Told | undefined {
    return this.#items.get(key)
  }

  set(item: Told): void {
    const length = rowLength(item)
    this.#length += length - (this.#lengths.get(item.key) ?? 0)
    this.#lengths.set(item.key, length)
    this.#items.set(item.key, item)
  }

  delete(key: string): void {
    this.#length -= this.#lengths.get(key) ?? 0
    this.#lengths.delete(key)
    this.#items.delete(key)
  }

  clear(): void {
    this.#items.clear()
    this.#lengths.clear()
    this.#length = 0
  }

  [Symbol.iterator](): Iterator<Told> {
    return this.#items.values()
  }
}
