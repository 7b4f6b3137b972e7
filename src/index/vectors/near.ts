/**
 * The first pass over a million rows: cells are scanned from the one whose pivot is nearest to the question on, until
 * those scanned last had hardly any of the near rows found so far. Where neighbours are together, that is after a few
 * cells in a hundred; where they are not (noise, a filter that keeps what is far from the question) it ends with the
 * last cell, and has cost no more than a scan of everything.
 */
import { must } from '../../base/assert.ts'
import { type Block, type Cell, type CellLimits, pivotOf, writeExtents } from './cells.ts'
import type { VectorRows } from './rows.ts'
import type { Scope } from './scope.ts'

/** Part of the rows in cells that is scanned at first; then twice as much, and so on. */
const FIRST = 0.04
/** The scan ends when its second half found less than this part of so many near rows (by sign code). */
const LATE = 0.08
const NEAR = 100
/** When more rows than usual are to be chosen, one in so many counts as near. */
const WANTED_PER_NEAR = 32
/** Cosines of pivots are told apart in steps of 2^-20; among equal ones the order of cells decides. */
const STEPS = 2 ** 20

export class NearCells {
  readonly #rows: VectorRows
  readonly #limits: CellLimits

  constructor(rows: VectorRows, limits: CellLimits) {
    this.#rows = rows
    this.#limits = limits
  }

  /** Whether it pays to look at near cells only: a matter of visible rows alone. */
  suits({ list, rows, blocks }: Scope): boolean {
    return list === 0 && rows >= this.#limits.prunedFrom && blocks.some(block => this.#isDivided(block))
  }

  /** To be called between the opening of a pass that chooses so many rows by sign code, and its end. */
  scanCodes(scope: Scope, wanted: number): void {
    const { kernel, layout } = this.#rows.memory
    const cells = this.#nearestFirst(scope)
    const total = cells.reduce((sum, cell) => sum + cell.rows, 0)
    this.#scanUndivided(scope)
    const near = Math.max(NEAR, Math.ceil(wanted / WANTED_PER_NEAR))
    let next = 0
    let scanned = 0
    const first = Math.max(FIRST * total, wanted) / 2
    for (let until = first; next < cells.length; until *= 2) {
      const mark = kernel.codesEnd()
      let end = scope.extents / 4
      for (; next < cells.length && scanned < until; next++) {
        const cell = must(cells[next], 'a cell')
        end = writeExtents(cell, this.#rows.memory.words, end)
        scanned += cell.rows
      }
      kernel.scanCodes(scope.extents, (end - scope.extents / 4) / 2)
      if (until > first && kernel.shareSince(mark, near, scope.allow, layout.nearCountsAt) <= LATE) return
    }
  }

  /** Blocks that are small, and rows that are in no cell. */
  #scanUndivided(scope: Scope): void {
    const { words, kernel } = this.#rows.memory
    let end = scope.extents / 4
    for (const block of scope.blocks) {
      end = writeExtents(block.home, words, end)
      if (!this.#isDivided(block)) for (const cell of block.cells) end = writeExtents(cell, words, end)
    }
    kernel.scanCodes(scope.extents, (end - scope.extents / 4) / 2)
  }

  #nearestFirst(scope: Scope): Cell[] {
    const cells = scope.blocks.filter(block => this.#isDivided(block)).flatMap(block => block.cells)
    const { words, doubles, kernel } = this.#rows.memory
    // Records of rows are written after this: their room will do.
    const [list, values] = [scope.rankRecords, scope.rankRecords + Math.ceil(cells.length / 2) * 8]
    for (const [i, cell] of cells.entries()) words[list / 4 + i] = pivotOf(cell).slot
    kernel.values(list, cells.length, values)
    const order = new Float64Array(cells.length)
    for (let i = 0; i < cells.length; i++) {
      const cosine = doubles[values / 8 + 2 * i] as number
      order[i] = Math.round((1 - cosine) * STEPS) * STEPS + i
    }
    return Array.from(order.sort(), place => must(cells[place % STEPS], 'a cell'))
  }

  /** Small blocks are scanned whole, whether they are divided still or not. */
  #isDivided(block: Block): boolean {
    return block.rows >= this.#limits.dividedFrom && block.cells.length > 0
  }
}
