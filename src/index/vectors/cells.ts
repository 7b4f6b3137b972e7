/**
 * Arrangement of a partition's rows: all in one cell (the "home"), or, if there are many, in cells around some of the rows ("pivots").
 * Whether a row is a pivot depends on a hash of its contents, and every row lies in the cell of its nearest pivot: so the cells and their
 * contents follow from the partition's rows alone, whatever the order of additions and deletions was.
 */
import { must } from '../../base/assert.ts'
import type { PartitionId } from '../../model/partition.ts'

/** The position of a row: page × 4,096 + position in the page. */
export type Slot = number

export interface Extent {
  readonly first: Slot
  readonly size: number
}

/** A group of rows stored together: all of its extents are full except the last. */
export interface Cell {
  readonly block: Block
  readonly extents: Extent[]
  rows: number
  /** Number of slots in `extents`. */
  capacity: number
  /** Number of rows that are about to be added, so that memory for them is taken at once. */
  coming: number
  readonly pivot: Pivot | null
}

export interface Pivot {
  /** Hash of the components; rows with the same components are one pivot. */
  readonly key: number
  /** 1 / length of the pivot's int8 components. */
  inverse: number
  /** Slot of a row with the pivot's components; -1: the last one known was deleted. */
  slot: Slot
}

/** The rows of one partition. */
export interface Block {
  readonly partition: PartitionId
  /** Rows that are in no cell: all rows of a small block, and rows added since the block was last arranged. */
  readonly home: Cell
  /** Cells by ascending key of their pivot. */
  cells: Cell[]
  rows: number
  entries: number
  /** Whether the pivot row of a cell was deleted since the block was last arranged. */
  hasLostPivot: boolean
}

/** Sizes from which cells are made and used. */
export interface CellLimits {
  /**
   * Number of rows from which a partition is divided into cells. If it shrinks it stays divided for a while, but is searched as a whole.
   */
  readonly dividedFrom: number
  /** Average number of rows for each pivot. */
  readonly pivotEvery: number
  /** Number of visible rows from which approximate searches scan only near cells. */
  readonly prunedFrom: number
}

/**
 * Dividing a partition that reaches this size takes a quarter of a second; afterwards rows are added one by one. With cells of a thousand
 * rows, choosing the cells takes as long as scanning them.
 */
export const CELL_LIMITS: CellLimits = { dividedFrom: 131_072, pivotEvery: 1024, prunedFrom: 400_000 }

export function newCell(block: Block, pivot: Pivot | null): Cell {
  return { block, extents: [], rows: 0, capacity: 0, coming: 0, pivot }
}

export function newBlock(partition: PartitionId): Block {
  const block: Omit<Block, 'home'> & { home?: Cell } = {
    partition,
    cells: [],
    rows: 0,
    entries: 0,
    hasLostPivot: false,
  }
  block.home = newCell(block as Block, null)
  return block as Block
}

export function pivotOf(cell: Cell): Pivot {
  return must(cell.pivot, 'the pivot of a cell')
}

export function* cellsOf(block: Block): Iterable<Cell> {
  yield block.home
  yield* block.cells
}

/** Slot of the cell's last row; -1 if the cell is empty. */
export function lastSlot(cell: Cell): Slot {
  const extent = cell.extents.at(-1)
  return extent === undefined ? -1 : extent.first + extent.size - (cell.capacity - cell.rows) - 1
}

/** Slots of all rows of a cell, in order. */
export function slotsOf(cell: Cell): Uint32Array<ArrayBuffer> {
  const slots = new Uint32Array(cell.rows)
  let at = 0
  for (const { first, size } of cell.extents) {
    for (let slot = first; slot < first + size && at < cell.rows; slot++) slots[at++] = slot
  }
  return slots
}

export function extentCount(block: Block): number {
  let count = 0
  for (const cell of cellsOf(block)) count += cell.extents.length
  return count
}

/** Writes a cell's extents as pairs (first, rows) to `words`, starting at `from`; returns the position after them. */
export function writeExtents(cell: Cell, words: Uint32Array, from: number): number {
  let place = from
  let left = cell.rows
  for (const { first, size } of cell.extents) {
    words[place++] = first
    words[place++] = Math.min(size, left)
    left -= size
  }
  return place
}
