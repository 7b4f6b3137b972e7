/** Walks the visible postings of one term in one segment, in order of rows, or jumps to a row. */
import { lowerBound } from '../../base/lower-bound.ts'
import { TITLE_WEIGHT } from '../../math/bm25.ts'
import { Block, blockCount, boundOfBlock, type Run } from './runs.ts'
import { BLOCK, type Segment, SKIP, SKIP_ROW } from './segment.ts'

/** The row of a cursor that came to its end. */
export const END: number = 0x7fffffff

export class PostingCursor {
  readonly block: Block
  /** Index in the block of the current posting. */
  at = 0
  readonly #segment: Segment
  readonly #runs: readonly Run[]
  #run = 0
  #number = 0
  /** Rows that the block speaks for: it has all postings within. */
  #from = 0
  #to = -1

  /**
   * Runs by rank, at least one. `block` is where postings are decoded: the caller's, who may give it to another cursor
   * when done with this one. Begins at the first posting at `row` or after it.
   */
  constructor(segment: Segment, runs: readonly Run[], block: Block = new Block(), row = 0) {
    this.block = block
    this.#segment = segment
    this.#runs = runs
    if (row === 0) this.#read(0, 0)
    else this.seek(row)
  }

  /** The current row, or END. */
  get row(): number {
    return this.at < this.block.count ? (this.block.rows[this.at] as number) : END
  }

  get tf(): number {
    return (this.block.inText[this.at] as number) + TITLE_WEIGHT * (this.block.inTitle[this.at] as number)
  }

  next(): void {
    this.at++
    if (this.at >= this.block.count) this.nextBlock(0)
  }

  /** To the first posting of the next block with at least this bound. */
  nextBlock(leastBound: number): void {
    let index = this.#run
    let number = this.#number + 1
    for (; index < this.#runs.length; index++, number = 0) {
      const run = this.#runs[index] as Run
      if (run.bound < leastBound) continue
      for (const blocks = blockCount(run); number < blocks; number++) {
        if (boundOfBlock(this.#segment, run, number) >= leastBound) {
          this.#read(index, number)
          return
        }
      }
    }
    this.at = this.block.count
  }

  /** As `seek`, for rows that ascend from call to call. */
  advance(row: number): void {
    if (row > this.#to) {
      this.#locate(row)
    }
    const { rows, count } = this.block
    let { at } = this
    while (at < count && (rows[at] as number) < row) at++
    this.at = at
  }

  /** To the first posting at this row or after it, forwards or backwards. */
  seek(row: number): void {
    if (row < this.#from || row > this.#to) this.#locate(row)
    const { rows, count } = this.block
    let low = 0
    let high = count
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((rows[middle] as number) < row) low = middle + 1
      else high = middle
    }
    this.at = low
  }

  /** What the row has of the term, 0 for nothing. Rows must ascend from call to call. */
  tfAt(row: number): number {
    this.advance(row)
    return this.row === row ? this.tf : 0
  }

  /** To the block that has the first posting at `row` or after it, else the last one. */
  #locate(row: number): void {
    const { start } = this.#segment.partitions
    const runs = this.#runs
    let index = 0
    if (runs.length > 1) {
      index = lowerBound(runs.length, at => (start[(runs[at] as Run).rank + 1] as number) <= row)
      if (index === runs.length) index--
    }
    let number = 0
    let run = runs[index] as Run
    if (run.df > BLOCK) {
      const within = row - (start[run.rank] as number)
      const { skips } = this.#segment
      const blocks = blockCount(run)
      let high = blocks
      while (number < high) {
        const middle = (number + high) >>> 1
        if ((skips[run.skips + middle * SKIP + SKIP_ROW] as number) < within) number = middle + 1
        else high = middle
      }
      if (number === blocks) number--
    }
    this.#read(index, number)
    if ((this.block.rows[this.block.count - 1] as number) >= row) return
    if (index + 1 < runs.length) {
      run = runs[index + 1] as Run
      this.#read(index + 1, 0)
      this.#from = row
    } else {
      this.#to = END
    }
  }

  #read(index: number, number: number): void {
    const run = this.#runs[index] as Run
    this.block.read(this.#segment, run, number)
    this.at = 0
    this.#run = index
    this.#number = number
    const { rows, count } = this.block
    this.#to = rows[count - 1] as number
    this.#from = index === 0 ? 0 : (this.#segment.partitions.start[run.rank] as number)
    if (number > 0) {
      const before = run.skips + (number - 1) * SKIP + SKIP_ROW
      this.#from = (this.#segment.partitions.start[run.rank] as number) + (this.#segment.skips[before] as number) + 1
    }
  }
}
