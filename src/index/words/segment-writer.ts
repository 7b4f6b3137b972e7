/** Writes a segment: rows first, then terms in order, each with its postings by row. Builder and merge both use it. */
import { assert } from '../../base/assert.ts'
import { type Steps, sortInSteps } from '../../base/turns.ts'
import { K1, lengthPart, saturation, TITLE_WEIGHT } from '../../math/bm25.ts'
import type { PartitionId } from '../../model/partition.ts'
import { ByteSink, hashBytes } from './bytes.ts'
import { blockCount, type Run } from './cursor.ts'
import { BLOCK, hashTable, MAX_TERMS, type PartitionTable, type RowTable, Segment, SKIP } from './segment.ts'

/** Rows in their order: grouped by partition, partitions ascending. */
export interface RowList {
  readonly rows: RowTable
  readonly partition: readonly PartitionId[] | Uint32Array
}

/** Where the bytes of a run end. */
export interface RunEnds {
  readonly postings: number
  readonly places: number
}

export class SegmentWriter {
  readonly #rows: RowTable
  readonly #partitions: PartitionTable
  readonly #rank: Uint32Array
  readonly #records: number[] = []
  readonly #hashes: number[] = []
  readonly #lists = new ByteSink(1 << 12)
  readonly #places = new ByteSink(1 << 12)
  readonly #skips: number[] = []
  /** Of the term being written. */
  readonly #heads = new ByteSink()
  readonly #postings = new ByteSink()
  #runs = 0
  #lastRank = 0
  #placesOfTerm = 0
  /** Of the run being written. */
  readonly #blocks: number[] = []
  #count = 0
  #lastRow = -1
  #bound = 0
  #blockBound = 0
  #postingsOfRun = 0
  #placesOfRun = 0
  #runRank = -1

  constructor(rows: RowTable, partitions: PartitionTable) {
    this.#rows = rows
    this.#partitions = partitions
    this.#rank = new Uint32Array(rows.entry.length)
    for (let rank = 0; rank + 1 < this.#partitions.start.length; rank++) {
      this.#rank.fill(rank, this.#partitions.start[rank], this.#partitions.start[rank + 1])
    }
  }

  beginTerm(term: Uint8Array): void {
    assert(this.#records.length < MAX_TERMS, 'too many terms in a segment')
    this.#records.push(this.#lists.length)
    this.#hashes.push(hashBytes(term))
    this.#lists.number(term.length)
    this.#lists.copy(term, 0, term.length)
    this.#heads.clear()
    this.#postings.clear()
    this.#runs = 0
    this.#lastRank = 0
    this.#placesOfTerm = this.#places.length
    this.#runRank = -1
  }

  /** Rows ascend. The places of its `inTitle + inText` occurrences must follow, by `places` or `copyPlaces`. */
  posting(row: number, inTitle: number, inText: number): void {
    const rank = this.#rank[row] as number
    if (rank !== this.#runRank) {
      this.#endRun()
      this.#beginRun(rank)
    } else if (this.#count % BLOCK === 0) {
      this.#endBlock()
    }
    const within = row - (this.#partitions.start[rank] as number)
    const distance = within - this.#lastRow - 1
    this.#lastRow = within
    this.#count++
    writePosting(this.#postings, distance, inTitle, inText)
    this.#blockBound = Math.max(this.#blockBound, this.#boundOf(row, rank, inText + TITLE_WEIGHT * inTitle))
  }

  /** Title places, ascending, then text places, ascending; each as the distance to the one before. */
  place(distance: number): void {
    this.#places.number(distance)
  }

  copyPlaces(bytes: Uint8Array, from: number, to: number): void {
    this.#places.copy(bytes, from, to)
  }

  /** A run of a segment with the same rows and partitions, as it is there. */
  copyRun({ lists, places, skips }: Segment, run: Run, ends: RunEnds): void {
    this.#endRun()
    const bytes = { postings: ends.postings - run.postings, places: ends.places - run.places }
    this.#head(run.rank, run.df, bytes, run.bound)
    if (run.df > BLOCK) {
      this.#heads.number(this.#skips.length)
      const end = run.skips + SKIP * blockCount(run)
      for (let at = run.skips; at < end; at++) this.#skips.push(skips[at] as number)
    }
    this.#postings.copy(lists, run.postings, ends.postings)
    this.#places.copy(places, run.places, ends.places)
  }

  endTerm(): void {
    this.#endRun()
    this.#lists.number(this.#placesOfTerm)
    this.#lists.number(this.#runs)
    for (const part of [this.#heads, this.#postings]) this.#lists.copy(part.written, 0, part.length)
  }

  *finish(): Steps<Segment> {
    const byChunk = yield* rowsByChunk(this.#rows.chunk)
    const slots = hashTable(this.#hashes)
    yield
    return new Segment({
      rows: this.#rows,
      partitions: this.#partitions,
      byChunk,
      records: Uint32Array.from(this.#records),
      slots,
      lists: this.#lists.written.slice(),
      places: this.#places.written.slice(),
      skips: Uint32Array.from(this.#skips),
    })
  }

  #beginRun(rank: number): void {
    this.#runRank = rank
    this.#blocks.length = 0
    this.#count = 0
    this.#lastRow = -1
    this.#bound = 0
    this.#blockBound = 0
    this.#postingsOfRun = this.#postings.length
    this.#placesOfRun = this.#places.length
  }

  #endBlock(): void {
    const postings = this.#postings.length - this.#postingsOfRun
    const places = this.#places.length - this.#placesOfRun
    this.#blocks.push(this.#lastRow, postings, places, this.#blockBound)
    this.#bound = Math.max(this.#bound, this.#blockBound)
    this.#blockBound = 0
  }

  #endRun(): void {
    if (this.#runRank < 0) return
    this.#endBlock()
    const postings = this.#postings.length - this.#postingsOfRun
    const places = this.#places.length - this.#placesOfRun
    this.#head(this.#runRank, this.#count, { postings, places }, this.#bound)
    if (this.#count > BLOCK) {
      this.#heads.number(this.#skips.length)
      for (const number of this.#blocks) this.#skips.push(number)
    }
    this.#runRank = -1
  }

  #head(rank: number, df: number, bytes: RunEnds, bound: number): void {
    this.#heads.number(rank - this.#lastRank)
    this.#heads.number(df)
    this.#heads.number(bytes.postings)
    this.#heads.number(bytes.places)
    this.#heads.number(bound)
    this.#lastRank = rank
    this.#runs++
  }

  #boundOf(row: number, rank: number, tf: number): number {
    const part = lengthPart(this.#rows.length[row] as number, this.#partitions.meanLength[rank] as number)
    return Math.ceil((saturation(tf, part) / (K1 + 1)) * 255)
  }
}

/** Counts of a posting: the text's times four, plus the title's when below 3; else 3, and the rest follows. */
function writePosting(sink: ByteSink, distance: number, inTitle: number, inText: number): void {
  if (inTitle === 0 && inText === 1) {
    sink.number(distance * 2 + 1)
    return
  }
  sink.number(distance * 2)
  sink.number(inText * 4 + Math.min(inTitle, 3))
  if (inTitle >= 3) sink.number(inTitle - 3)
}

/** Of rows that are none of them gaps. */
export function partitionTable({ rows, partition }: RowList): PartitionTable {
  const id: number[] = []
  const start: number[] = []
  const words: number[] = []
  for (let row = 0; row < partition.length; row++) {
    if (row === 0 || partition[row] !== partition[row - 1]) {
      id.push(partition[row] as number)
      start.push(row)
      words.push(0)
    }
    words[words.length - 1] = (words.at(-1) as number) + (rows.length[row] as number)
  }
  start.push(partition.length)
  const mean = (words: number, rank: number) => words / ((start[rank + 1] as number) - (start[rank] as number))
  return { id: Uint32Array.from(id), start: Uint32Array.from(start), meanLength: Float64Array.from(words, mean) }
}

/** Chunks mostly come in the order of their keys, which `sortInSteps` sorts in a comparison or two a row. */
function* rowsByChunk(chunk: Uint32Array): Steps<Uint32Array> {
  const rows = Array.from(chunk.keys())
  return Uint32Array.from(yield* sortInSteps(rows, (a, b) => (chunk[a] as number) - (chunk[b] as number) || a - b))
}
