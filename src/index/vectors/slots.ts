/** Hands slots out to cells, an extent at a time, and knows whose a slot is. */
import { must } from '../../base/assert.ts'
import { doubled } from '../../base/columns.ts'
import type { PartitionId } from '../../model/partition.ts'
import { PAGE_ROWS } from '../kernel.ts'
import { type Cell, lastSlot, type Slot } from './cells.ts'
import { ExtentPool, SMALLEST_EXTENT } from './extents.ts'

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
