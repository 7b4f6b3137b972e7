/**
 * How the rows of a partition lie: in one home, or, where they are many, in cells about rows of their own ("pivots"). A
 * row is a pivot or not by the hash of what it holds, and lies in the cell of the pivot nearest to it: which cells there
 * are and what lies in them follows from the partition's rows alone, whatever came first and whatever was deleted since.
 */
import { must } from '../../base/assert.ts'
import type { PartitionId } from '../../model/partition.ts'

/** A row's place: page × 4,096 + place in the page. */
export type Slot = number

export interface Extent {
  readonly first: Slot
  readonly size: number
}

/** Rows that lie together: all extents are full but the last. */
export interface Cell {
  readonly block: Block
  readonly extents: Extent[]
  rows: number
  /** Slots in `extents`. */
  capacity: number
  /** Rows that are about to come, so that they get room at once. */
  coming: number
  readonly pivot: Pivot | null
}

export interface Pivot {
  /** Rows with the same components are one pivot. */
  readonly key: number
  /** 1 / length of its int8 components. */
  inverse: number
  /** A row that holds it; -1: the last one known was deleted. */
  slot: Slot
}

/** One partition's rows. */
export interface Block {
  readonly partition: PartitionId
  /** Rows that are in no cell: all of a small block, and those that came since the block was arranged. */
  readonly home: Cell
  /** By key, ascending. */
  cells: Cell[]
  rows: number
  entries: number
  /** Whether the row that was some cell's pivot was deleted since the block was arranged. */
  hasLostPivot: boolean
}

/** When cells are made and looked at. */
export interface CellLimits {
  /** Rows of a partition that is divided. One that shrinks stays so for a while, but is searched as a whole. */
  readonly dividedFrom: number
  /** One row in so many is a pivot. */
  readonly pivotEvery: number
  /** Rows in sight from which on approximate searches look at near cells only. */
  readonly prunedFrom: number
}

/**
 * A partition is divided in a quarter of a second when it grows so large, and from then on row by row. Cells of a
 * thousand rows make choosing them as quick as scanning them.
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

/** Where the cell's last row is. */
export function lastSlot(cell: Cell): Slot {
  const extent = cell.extents.at(-1)
  return extent === undefined ? -1 : extent.first + extent.size - (cell.capacity - cell.rows) - 1
}

/** All rows of a cell, in order. */
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

/** Writes a cell's extents as pairs (first, rows) from this place of `words` on; returns the place behind them. */
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
