/**
 * Hands out runs of row slots ("extents") and takes them back: a buddy system over pages of 4,096 slots, in sizes of
 * 16 × 2^n. Nothing that was handed out ever moves, so one partition's growth never touches another's rows.
 */
import { must } from '../../base/assert.ts'
import { PAGE_ROWS } from '../kernel.ts'

export const SMALLEST_EXTENT = 16
const ORDERS = Math.log2(PAGE_ROWS / SMALLEST_EXTENT) + 1

export class ExtentPool {
  /** First slots of free extents, by order (log2 of size / 16). */
  readonly #free: readonly Set<number>[] = Array.from({ length: ORDERS }, () => new Set<number>())
  readonly #newPage: () => number

  /** `newPage` makes room for one more page and returns its number. */
  constructor(newPage: () => number) {
    this.#newPage = newPage
  }

  /** First slot of a free extent of `size` slots: a power of two from 16 to 4,096. */
  take(size: number): number {
    const order = orderOf(size)
    let from = order
    while (from < ORDERS && this.#at(from).size === 0) from++
    if (from === ORDERS) {
      this.#at(ORDERS - 1).add(this.#newPage() * PAGE_ROWS)
      from--
    }
    const first = must(this.#at(from).values().next().value, 'a free extent')
    this.#at(from).delete(first)
    while (from > order) {
      from--
      this.#at(from).add(first + SMALLEST_EXTENT * 2 ** from)
    }
    return first
  }

  give(first: number, size: number): void {
    let order = orderOf(size)
    let start = first
    while (order < ORDERS - 1) {
      const length = SMALLEST_EXTENT * 2 ** order
      const buddy = start % (2 * length) === 0 ? start + length : start - length
      if (!this.#at(order).delete(buddy)) break
      start = Math.min(start, buddy)
      order++
    }
    this.#at(order).add(start)
  }

  #at(order: number): Set<number> {
    return this.#free[order] as Set<number>
  }
}

function orderOf(size: number): number {
  return Math.log2(size / SMALLEST_EXTENT)
}
