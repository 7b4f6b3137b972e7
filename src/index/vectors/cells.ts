/**
 * How the rows (quantised vectors) of a partition are arranged: all in one group, the "home", or if there are many, in cells around some of
 * the rows, the "pivots". Whether a row is a pivot depends on a hash of its contents, and every row is in the cell of its nearest pivot. So
 * cells and their contents follow from the partition's rows alone, whatever the order of additions and deletions was.
 */
import { must } from '../../base/assert.ts'
import type { PartitionId } from '../../model/partition.ts'

/** The position of a row in memory: page × 4,096 + position in the page. */
export type Slot = number

export interface Extent {
  readonly first: Slot
  readonly size: number
}

/** A group of rows of one partition that are stored together. It owns runs of slots (extents), all of which are full except the last. */
export interface Cell {
  readonly block: Block
  readonly extents: Extent[]
  rows: number
  /** Number of slots in all extents of the cell, used or not. */
  capacity: number
  /** Number of rows that are about to be added to the cell, so that memory for them is allocated at once. */
  coming: number
  readonly pivot: Pivot | null
}

export interface Pivot {
  /** Hash of the pivot row's int8 components, which identifies the pivot: rows with equal components are one pivot. */
  readonly key: number
  /** 1 / length of the vector of the pivot row's int8 components. */
  inverse: number
  /**
   * Slot (place in memory) of a row that has the pivot's int8 components; -1: the row was deleted, and no other row with these components
   * is known.
   */
  slot: Slot
}

/** The rows (quantised vectors) of one partition. */
export interface Block {
  readonly partition: PartitionId
  /** The group of rows that are in no cell: all rows of an undivided partition, and rows added since the partition was last arranged. */
  readonly home: Cell
  /** The cells of the partition, by ascending hash of their pivot; empty if the partition is undivided. */
  cells: Cell[]
  rows: number
  entries: number
  /** Whether a row that was the pivot of a cell was deleted since the partition was last arranged. */
  hasLostPivot: boolean
}

/** Numbers of rows from which partitions are divided into cells, and from which searches use the cells. */
export interface CellLimits {
  /**
   * Number of rows from which a partition is divided into cells. A partition that shrinks below it stays divided for a while, but all of
   * its rows are then scanned.
   */
  readonly dividedFrom: number
  /** Average number of rows for each pivot, and so for each cell. */
  readonly pivotEvery: number
  /** Number of rows in the searched partitions from which an approximate search scans only the cells near the query. */
  readonly prunedFrom: number
}

/**
 * Default limits. Dividing a partition when it reaches `dividedFrom` rows takes a quarter of a second; afterwards each added row is put
 * into its cell. At `pivotEvery` rows per cell, finding the near cells among a million rows takes about as long as scanning them.
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

/** Slot of the last row in the cell; -1 if the cell is empty. */
export function lastSlot(cell: Cell): Slot {
  const extent = cell.extents.at(-1)
  return extent === undefined ? -1 : extent.first + extent.size - (cell.capacity - cell.rows) - 1
}

/** The slots of all rows in a cell, in the order in which the cell stores them. */
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

/**
 * Writes the extents of a cell (the runs of memory slots that its rows use) to `words`, from the index `from` on, as pairs of first slot
 * and number of rows. Returns the index after the last pair.
 */
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
