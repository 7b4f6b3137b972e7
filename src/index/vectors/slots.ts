/** Hands slots out to cells, an extent at a time, and knows whose a slot is. */
import { must } from '../../base/assert.ts'
import { doubled } from '../../base/columns.ts'
import type { PartitionId } from '../../model/partition.ts'
import { PAGE_ROWS } from '../kernel.ts'
import { type Cell, lastSlot, type Slot } from './cells.ts'

export const SMALLEST_EXTENT = 16
const ORDERS = Math.log2(PAGE_ROWS / SMALLEST_EXTENT) + 1

/**
 * Hands out runs of row slots ("extents") and takes them back: a buddy system over pages of 4,096 slots, in sizes of
 * 16 × 2^n. Nothing that was handed out ever moves, so one partition's growth never touches another's rows.
 */
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

/** Slots a large home grows by: the most it can hold in vain. A cell, which has many beside it, holds less. */
const LARGEST_EXTENT = 1024
const HOME_GROWS_BY = 1 / 4
const CELL_GROWS_BY = 1 / 8

export class SlotTable {
  readonly #pool: ExtentPool
  /** Of each 16 slots. */
  #partitions = new Int32Array(PAGE_ROWS / SMALLEST_EXTENT)
  readonly #cells: (Cell | undefined)[] = []

  /** `newPage` makes room for one more page of slots and returns its number. */
  constructor(newPage: () => number) {
    this.#pool = new ExtentPool(newPage)
  }

  get byteLength(): number {
    return this.#partitions.byteLength + this.#cells.length * 8
  }

  /** Takes pages that held something else. */
  givePages(first: number, count: number): void {
    for (let page = first; page < first + count; page++) this.#pool.give(page * PAGE_ROWS, PAGE_ROWS)
  }

  partition(slot: Slot): PartitionId {
    return this.#partitions[(slot / SMALLEST_EXTENT) | 0] as number
  }

  cellAt(slot: Slot): Cell {
    return must(this.#cells[(slot / SMALLEST_EXTENT) | 0], 'the cell of a row')
  }

  /** Gives the cell the slot behind its last row. */
  open(cell: Cell): Slot {
    if (cell.rows === cell.capacity) this.#extend(cell)
    cell.rows++
    if (cell.coming > 0) cell.coming--
    return lastSlot(cell)
  }

  /** Takes away the slot of the cell's last row, and its extent when that was the last in it. */
  close(cell: Cell): void {
    const extent = must(cell.extents.at(-1), 'the last extent')
    const last = lastSlot(cell)
    cell.rows--
    if (last > extent.first) return
    cell.extents.pop()
    cell.capacity -= extent.size
    this.#pool.give(extent.first, extent.size)
  }

  /** Appends an extent: for the rows that are about to come, or for as many as the cell has grown by lately. */
  #extend(cell: Cell): void {
    const rows = Math.max(1, cell.coming, Math.floor(cell.rows * (cell.pivot ? CELL_GROWS_BY : HOME_GROWS_BY)))
    const size = Math.min(LARGEST_EXTENT, Math.max(SMALLEST_EXTENT, 2 ** Math.floor(Math.log2(rows))))
    const first = this.#pool.take(size)
    cell.extents.push({ first, size })
    cell.capacity += size
    const end = (first + size) / SMALLEST_EXTENT
    if (end > this.#partitions.length) this.#partitions = doubled(this.#partitions, end)
    this.#partitions.fill(cell.block.partition, first / SMALLEST_EXTENT, end)
    for (let i = first / SMALLEST_EXTENT; i < end; i++) this.#cells[i] = cell
  }
}
