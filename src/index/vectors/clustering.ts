/**
 * Keeps large partitions divided into cells, groups of rows around some of the rows (pivots). After each change every row is in the cell
 * where a fresh division of the partition would put it: a new pivot takes rows from other cells, and the rows of a deleted pivot go to
 * other cells. The cost is one product for each added row and pivot (10 to 30 ns at 384 dimensions), so about a thousand for each row in a
 * partition of a million rows.
 */
import { must } from '../../base/assert.ts'
import { StepPace, type Steps } from '../../base/turns.ts'
import { ASSIGNED_ROWS } from '../kernel.ts'
import { type Block, type Cell, type CellLimits, lastSlot, newCell, pivotOf, type Slot, slotsOf } from './cells.ts'
import type { VectorRows } from './rows.ts'

/**
 * Share of the limit `dividedFrom`: a divided partition with fewer rows than this becomes undivided. Below 1, so that a partition near the
 * limit does not change back and forth.
 */
const KEPT = 0.75
/** Number of products of a row and a pivot that one call of the kernel computes, without a pause; this takes a few milliseconds. */
const BATCH = 1 << 17
/** Number of rows that are examined or moved between two possible pauses, which takes some milliseconds. */
const ROWS_AT_ONCE = 1 << 12

export class Clustering {
  readonly #rows: VectorRows
  readonly #limits: CellLimits
  readonly #pace = new StepPace(ROWS_AT_ONCE)

  constructor(rows: VectorRows, limits: CellLimits) {
    this.#rows = rows
    this.#limits = limits
  }

  /**
   * Puts every row (quantised vector) into the cell whose pivot (central row) is now nearest to it, with pauses between steps. Must be
   * called after every change of rows, and completed before the next search or change.
   */
  *arrange(): Steps<void> {
    for (const block of this.#rows.takeChanged()) {
      const { dividedFrom } = this.#limits
      const isDivided = block.cells.length > 0
      const isSmall = block.rows < (isDivided ? KEPT * dividedFrom : dividedFrom)
      // Most partitions are small and undivided; for these, only this check is needed.
      if (isSmall && !isDivided && !block.hasLostPivot) continue
      if (isSmall) yield* this.#undivide(block)
      else if (block.home.rows > 0 || block.hasLostPivot) yield* this.#divide(block)
    }
  }

  *#undivide(block: Block): Steps<void> {
    for (const cell of block.cells) yield* this.#dissolve(cell)
    block.cells = []
    block.hasLostPivot = false
  }

  *#divide(block: Block): Steps<void> {
    const fresh = yield* this.#adoptPivots(block)
    if (block.hasLostPivot) yield* this.#dropLost(block)
    if (fresh.length > 0) {
      for (const cell of block.cells) yield* this.#assign(cell, [cell, ...fresh].sort(byKey))
      block.cells = [...block.cells, ...fresh].sort(byKey)
    }
    if (block.home.rows > 0 && block.cells.length > 0) yield* this.#assign(block.home, block.cells)
  }

  /**
   * Returns new cells (groups of rows) for those added rows that are pivots, that is, centres of cells. If a pivot's row was deleted and
   * then added again, its cell is kept and gets no second one.
   */
  *#adoptPivots(block: Block): Steps<Cell[]> {
    const came: [Slot, number][] = []
    for (const slot of slotsOf(block.home)) {
      const key = this.#keyOf(slot)
      if (key % this.#limits.pivotEvery === 0) came.push([slot, key])
      if (this.#pace.isOver(1)) yield
    }
    if (came.length === 0) return []
    const fresh = new Map<number, Cell>()
    const known = new Map(block.cells.map(cell => [pivotOf(cell).key, cell]))
    for (const [slot, key] of came) {
      const cell = known.get(key) ?? fresh.get(key) ?? this.#cellAbout(block, slot, key)
      if (pivotOf(cell).slot < 0) this.#rows.setPivot(cell, slot)
      if (!known.has(key)) fresh.set(key, cell)
    }
    return [...fresh.values()]
  }

  #cellAbout(block: Block, slot: Slot, key: number): Cell {
    return newCell(block, { key, inverse: this.#rows.memory.kernel.inverseLength(slot), slot: -1 })
  }

  /**
   * Handles cells whose pivot row was deleted: if another row has equal components, it becomes the pivot; otherwise the cell's rows go back
   * to the home, the group of rows in no cell.
   */
  *#dropLost(block: Block): Steps<void> {
    const lost = block.cells.filter(cell => pivotOf(cell).slot < 0)
    for (const cell of lost) {
      const { key } = pivotOf(cell)
      const same = slotsOf(cell).find(slot => this.#keyOf(slot) === key)
      if (same === undefined) yield* this.#dissolve(cell)
      else this.#rows.setPivot(cell, same)
    }
    block.cells = block.cells.filter(cell => pivotOf(cell).slot >= 0)
    block.hasLostPivot = false
  }

  *#dissolve(cell: Cell): Steps<void> {
    const { home } = cell.block
    home.coming = cell.rows
    while (cell.rows > 0) {
      this.#rows.move(lastSlot(cell), home)
      if (this.#pace.isOver(1)) yield
    }
    this.#rows.setPivot(cell, -1)
  }

  /** Moves each row of a cell to the one of the given cells whose pivot is nearest to the row; on ties, to the first. */
  *#assign(cell: Cell, among: readonly Cell[]): Steps<void> {
    const slots = slotsOf(cell)
    const nearest = yield* this.#nearest(slots, among)
    const leaving = new Uint32Array(among.length)
    for (const to of nearest) leaving[to] = (leaving[to] as number) + 1
    for (const [i, to] of among.entries()) if (to !== cell) to.coming = leaving[i] as number
    // Rows are moved out from the end of the cell: the last row takes the slot of each moved row, and in this order it has always been
    // examined already.
    for (let i = slots.length - 1; i >= 0; i--) {
      const to = must(among[nearest[i] as number], 'a cell')
      if (to !== cell) this.#rows.move(slots[i] as Slot, to)
      if (this.#pace.isOver(1)) yield
    }
  }

  /**
   * For each of the rows (encoded vectors) in `slots`, finds the cell in `among` whose pivot (central row) is nearest to the row. Returns
   * the cells' indexes in `among`.
   */
  *#nearest(slots: Uint32Array, among: readonly Cell[]): Steps<Uint32Array> {
    const { memory } = this.#rows
    const { kernel, layout } = memory
    const batch = Math.max(1, Math.floor(BATCH / among.length))
    const sizes = [among.length * 4, among.length * 8, (layout.width * 2 + 8) * ASSIGNED_ROWS, batch * 4, batch * 4]
    let end = this.#rows.room(sizes.reduce((sum, size) => sum + roundUp(size), 0))
    const [pivots, inverses, row, list, found] = sizes.map(size => {
      end += roundUp(size)
      return end - roundUp(size)
    }) as [number, number, number, number, number]
    for (const [i, cell] of among.entries()) {
      memory.words[pivots / 4 + i] = pivotOf(cell).slot
      memory.doubles[inverses / 8 + i] = pivotOf(cell).inverse
    }
    const nearest = new Uint32Array(slots.length)
    for (let from = 0; from < slots.length; from += batch) {
      const part = slots.subarray(from, from + batch)
      memory.words.set(part, list / 4)
      kernel.assign(list, part.length, pivots, inverses, among.length, row, found)
      nearest.set(memory.words.subarray(found / 4, found / 4 + part.length), from)
      yield
    }
    return nearest
  }

  #keyOf(slot: Slot): number {
    return this.#rows.memory.kernel.keyOf(slot)
  }
}

function byKey(a: Cell, b: Cell): number {
  return pivotOf(a).key - pivotOf(b).key
}

function roundUp(bytes: number): number {
  return Math.ceil(bytes / 64) * 64
}
