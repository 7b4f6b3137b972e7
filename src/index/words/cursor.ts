/**
 * Reads the postings of one term in one segment of the word index: how runs (the postings of one partition) are stored, and a cursor that
 * visits the postings that may be read, one after the other or by jumping to a given row.
 */
import { lowerBound } from '../../base/compare.ts'
import { TITLE_WEIGHT } from '../../math/bm25.ts'
import { ByteReader, LONG, ONE_BYTE, readLong } from './bytes.ts'
import { BLOCK, type Segment, SKIP, SKIP_BOUND, SKIP_PLACES, SKIP_POSTINGS, SKIP_ROW } from './segment.ts'

/** Row number that a cursor has when no posting is left. */
export const END: number = 0x7fffffff

export class PostingCursor {
  readonly block: Block
  /** Index of the cursor's current posting in the decoded block of postings. */
  at = 0
  readonly #segment: Segment
  readonly #runs: readonly Run[]
  #run = 0
  #number = 0
  /** First and last row covered by the decoded block of postings: every posting of the term with a row in this range is in the block. */
  #from = 0
  #to = -1

  /**
   * Creates a cursor at the first posting whose row is `row` or higher. `runs`: the term's postings, one run per partition, in the order of
   * the segment's partitions; at least one. `block`: a buffer for decoded postings, which the caller may give to another cursor when this
   * one is no longer used.
   */
  constructor(segment: Segment, runs: readonly Run[], block: Block = new Block(), row = 0) {
    this.block = block
    this.#segment = segment
    this.#runs = runs
    if (row === 0) this.#read(0, 0)
    else this.seek(row)
  }

  /** Row number of the cursor's current posting, or END if no posting is left. */
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

  /**
   * Moves to the first posting of the next block whose bound (highest possible contribution of a posting to a score) is at least
   * `leastBound`.
   */
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

  /** Moves to the first posting whose row is `row` or higher. Faster than `seek`, but the rows given must ascend from call to call. */
  advance(row: number): void {
    if (row > this.#to) {
      this.#locate(row)
    }
    const { rows, count } = this.block
    let { at } = this
    while (at < count && (rows[at] as number) < row) at++
    this.at = at
  }

  /** Moves to the first posting whose row is `row` or higher; may move backwards. */
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

  /**
   * Frequency of the term in this row, with title occurrences weighted; 0 if the term does not occur in the row. The rows given must ascend
   * from call to call.
   */
  tfAt(row: number): number {
    this.advance(row)
    return this.row === row ? this.tf : 0
  }

  /**
   * Decodes the block of postings that contains the first posting whose row is `row` or higher. If no posting has such a row, decodes the
   * term's last block.
   */
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

export interface Run {
  readonly rank: number
  /** Number of chunks of the partition that contain the term, including deleted chunks that are still in the list. */
  readonly df: number
  /**
   * Where the data of this run (the postings of one term in one partition) begin: offset of the postings in the segment's byte array
   * `lists`, and offset of the word positions in the byte array `places`.
   */
  readonly postings: number
  readonly places: number
  /**
   * Highest BM25 term-frequency saturation (the part of BM25 that grows with the count of a term) of any posting in this run, in units of
   * 2.2 / 255, for the partition's mean chunk length when the segment was written.
   */
  readonly bound: number
  /**
   * Offset, in the segment's table `skips`, of the table of blocks into which this run of postings is divided; 0 if the run has only one
   * block.
   */
  readonly skips: number
}

/**
 * The runs of a term (a run has the postings of one partition), ordered by rank, the partition's index in the segment's table. `visible`: 1
 * at each rank to return; null: return all. Even for a manipulated file there are no more runs than partitions, and no run has more chunks
 * than its partition.
 */
export function readRuns(segment: Segment, term: number, visible: Uint8Array | null): Run[] {
  const { start } = segment.partitions
  const reader = new ByteReader(segment.lists, segment.records[term] as number)
  const length = reader.number()
  reader.at += length
  let places = reader.number()
  const count = Math.min(reader.number(), start.length - 1)
  const runs: Run[] = []
  let rank = 0
  let postings = 0
  for (let at = 0; at < count; at++) {
    rank += reader.number()
    const most = (start[rank + 1] as number) - (start[rank] as number)
    const df = reader.number()
    const postingBytes = reader.number()
    const placeBytes = reader.number()
    const bound = reader.number()
    const skips = df > BLOCK ? reader.number() : 0
    if (!(df <= most)) break
    if (visible === null || visible[rank] === 1) runs.push({ rank, df, postings, places, bound, skips })
    postings += postingBytes
    places += placeBytes
  }
  // Until here the offsets of postings count from the end of the heads of all runs (one run has the postings of one partition), where
  // `reader` is now; adding its position makes them offsets in the whole array.
  for (const run of runs as { postings: number }[]) run.postings += reader.at
  return runs
}

/** The decoded postings of one block of a list: for each, the row and the counts of the term in title and text. */
export class Block {
  readonly rows: Int32Array = new Int32Array(BLOCK)
  readonly inTitle: Int32Array = new Int32Array(BLOCK)
  readonly inText: Int32Array = new Int32Array(BLOCK)
  count = 0
  /** Offset, in the segment's byte array `places`, of the word positions that belong to the block's first posting. */
  places = 0
  /** Index of the last posting whose word positions were located in `places`, and the offset of these positions. */
  #found = 0
  #foundAt = 0

  read(segment: Segment, run: Run, number: number): void {
    const { lists, skips, partitions } = segment
    const start = partitions.start[run.rank] as number
    const count = Math.min(BLOCK, run.df - number * BLOCK)
    let at = run.postings
    let row = start - 1
    this.places = run.places
    if (number > 0) {
      const before = run.skips + (number - 1) * SKIP
      at += skips[before + SKIP_POSTINGS] as number
      this.places += skips[before + SKIP_PLACES] as number
      row += (skips[before + SKIP_ROW] as number) + 1
    }
    this.count = count
    this.#found = 0
    this.#foundAt = this.places
    const { rows, inTitle, inText } = this
    for (let next = 0; next < count; next++) {
      let head = lists[at++] as number
      if (head >= ONE_BYTE) {
        if (head < LONG) head = ONE_BYTE + ((head - ONE_BYTE) << 8) + (lists[at++] as number)
        else {
          head = readLong(lists, at)
          at += 4
        }
      }
      row += (head >>> 1) + 1
      rows[next] = row
      if ((head & 1) === 1) {
        inTitle[next] = 0
        inText[next] = 1
        continue
      }
      const reader = new ByteReader(lists, at)
      const counts = reader.number()
      const title = counts & 3
      inText[next] = counts >>> 2
      inTitle[next] = title < 3 ? title : 3 + reader.number()
      at = reader.at
    }
  }

  /**
   * Offset, in the segment's byte array `places`, of the word positions that belong to the posting with this index. Takes time proportional
   * to the distance from the posting of the previous call.
   */
  placesOf(segment: Segment, posting: number): number {
    if (posting < this.#found) {
      this.#found = 0
      this.#foundAt = this.places
    }
    const { inTitle, inText } = this
    const reader = new ByteReader(segment.places, this.#foundAt)
    for (let at = this.#found; at < posting; at++) reader.skip((inTitle[at] as number) + (inText[at] as number))
    this.#found = posting
    this.#foundAt = reader.at
    return reader.at
  }
}

export function blockCount(run: Run): number {
  return Math.ceil(run.df / BLOCK)
}

function boundOfBlock({ skips }: Segment, run: Run, number: number): number {
  return run.df > BLOCK ? (skips[run.skips + number * SKIP + SKIP_BOUND] as number) : run.bound
}
