/** Merges several segments of the word index into one, without the rows of deleted or replaced chunks (dead rows). */

import { lowerBound } from '../../base/compare.ts'
import { StepPace, type Steps } from '../../base/turns.ts'
import type { PartitionId } from '../../model/partition.ts'
import { partitionTable, type RunEnds, SegmentWriter } from './builder.ts'
import { ByteReader, compareBytes } from './bytes.ts'
import { Block, blockCount, type Run, readRuns } from './cursor.ts'
import { BLOCK, GAP, type RowTable, type Segment, SKIP, SKIP_ROW } from './segment.ts'

/** Number of postings that are merged between two pauses (one to five milliseconds), and the fixed cost of a term, counted in postings. */
const POSTINGS_AT_ONCE = 1 << 15
const POSTINGS_OF_TERM = 16

/**
 * Merges segments into one, with pauses during which other work can run but the segments must not change; null if all rows are dead (of
 * deleted or replaced chunks). Within a partition, rows stay in the order of the given segments.
 */
export function* mergeSegments(segments: readonly Segment[]): Steps<Segment | null> {
  const { rows, partition, moved } = mergeRows(segments)
  yield
  if (partition.length === 0) return null
  const writer = new SegmentWriter(rows, partitionTable({ rows, partition }))
  const next = segments.map(() => 0)
  const pace = new StepPace(POSTINGS_AT_ONCE)
  for (;;) {
    const term = lowestTerm(segments, next)
    if (term === null) return yield* writer.finish()
    const sources: Source[] = []
    segments.forEach((segment, at) => {
      const number = next[at] as number
      if (number === segment.terms.count || compareBytes(segment.terms.bytes(number), term) !== 0) return
      next[at] = number + 1
      sources.push({ segment, term: number, moved: moved[at] as Int32Array })
    })
    if (pace.isOver(POSTINGS_OF_TERM)) yield
    yield* mergeTerm(writer, term, sources, pace)
  }
}

interface Source {
  readonly segment: Segment
  readonly term: number
  /**
   * For each row (chunk) of the old segment, its row number in the merged segment; -1 for dead rows, whose chunks were deleted or replaced.
   */
  readonly moved: Int32Array
}

interface MergedRows {
  readonly rows: RowTable
  readonly partition: PartitionId[]
  readonly moved: readonly Int32Array[]
}

function mergeRows(segments: readonly Segment[]): MergedRows {
  const size = segments.reduce((sum, segment) => sum + segment.liveSize, 0)
  const rows: RowTable = {
    entry: new Uint32Array(size),
    chunk: new Uint32Array(size),
    length: new Uint32Array(size),
    place: new Uint32Array(size),
  }
  const moved = segments.map(segment => new Int32Array(segment.size).fill(-1))
  const partition: PartitionId[] = []
  const ids = new Set(segments.flatMap(segment => [...segment.partitions.id]))
  const ranks = segments.map(segment => new Map(Array.from(segment.partitions.id, (id, rank) => [id, rank])))
  for (const id of [...ids].sort((a, b) => a - b)) {
    segments.forEach((segment, at) => {
      const rank = ranks[at]?.get(id)
      if (rank === undefined) return
      const { start } = segment.partitions
      for (let row = start[rank] as number; row < (start[rank + 1] as number); row++) {
        if (segment.isDead(row)) continue
        const to = partition.length
        for (const column of ['entry', 'chunk', 'length', 'place'] as const) {
          rows[column][to] = segment.rows[column][row] as number
        }
        ;(moved[at] as Int32Array)[row] = to
        partition.push(id)
      }
    })
  }
  return { rows, partition, moved }
}

function lowestTerm(segments: readonly Segment[], next: readonly number[]): Uint8Array | null {
  let lowest: Uint8Array | null = null
  segments.forEach((segment, at) => {
    const number = next[at] as number
    if (number === segment.terms.count) return
    const term = segment.terms.bytes(number)
    if (lowest === null || compareBytes(term, lowest) < 0) lowest = term
  })
  return lowest
}

const block = new Block()

function* mergeTerm(writer: SegmentWriter, term: Uint8Array, sources: readonly Source[], pace: StepPace): Steps<void> {
  const runs = sources.flatMap((source, order) =>
    readRuns(source.segment, source.term, null).map(run => ({
      source,
      order,
      run,
      partition: source.segment.partitions.id[run.rank] as number,
    })),
  )
  if (sources.length > 1) runs.sort((a, b) => a.partition - b.partition || a.order - b.order)
  let begun = false
  for (const { source, run } of runs) {
    const { segment, moved } = source
    eachPosting(segment, run, (old, inTitle, inText, from, to) => {
      const row = moved[old] as number
      if (row < 0) return
      if (!begun) writer.beginTerm(term)
      begun = true
      writer.posting(row, inTitle, inText)
      writer.copyPlaces(segment.places, from, to)
    })
    if (pace.isOver(run.df)) yield
  }
  if (begun) writer.endTerm()
}

type PostingVisitor = (row: number, inTitle: number, inText: number, placesFrom: number, placesTo: number) => void

/**
 * Calls `visit` for each posting of a run (the postings of one term in one partition), in the order of rows. `visit` also gets the start
 * and end offset of the posting's word positions in the byte array `places`.
 */
function eachPosting(segment: Segment, run: Run, visit: PostingVisitor): void {
  for (let number = 0; number < blockCount(run); number++) {
    block.read(segment, run, number)
    const reader = new ByteReader(segment.places, block.places)
    for (let at = 0; at < block.count; at++) {
      const inTitle = block.inTitle[at] as number
      const inText = block.inText[at] as number
      const from = reader.at
      reader.skip(inTitle + inText)
      visit(block.rows[at] as number, inTitle, inText, from, reader.at)
    }
  }
}

// Copies a segment of the word index without the data of its dead rows (of deleted or replaced chunks). These rows become gaps and all
// other rows keep their numbers, so that a list without dead rows is copied byte for byte. Merging would write every posting again: for a
// million chunks 9 s, where copying takes 2 s (one dead row) to 6 s (hundreds).

/** Bytes of lists that are copied between two pauses, and the fixed cost of a term, counted in bytes. */
const BYTES_AT_ONCE = 1 << 18
const BYTES_OF_TERM = 256

/**
 * Copies a segment without the data of its dead rows (of deleted or replaced chunks), with pauses so that other work can run; null if no
 * row is alive. Nothing of the dead rows is left: no posting, no word position, no key, and no term that occurred only in them.
 */
export function* scrubbed(segment: Segment): Steps<Segment | null> {
  if (segment.liveSize === 0) return null
  const dead = Uint32Array.from(segment.deadRows).sort()
  const writer = new SegmentWriter(rowsWithGaps(segment, dead), segment.partitions)
  const pace = new StepPace(BYTES_AT_ONCE)
  let runs = readRuns(segment, 0, null)
  for (let term = 0; term < segment.terms.count; term++) {
    const after = term + 1 < segment.terms.count ? readRuns(segment, term + 1, null) : []
    const end: RunEnds = {
      postings: segment.records[term + 1] ?? segment.lists.length,
      places: after[0]?.places ?? segment.places.length,
    }
    writeTerm(writer, segment, { term, runs, end }, dead)
    if (pace.isOver(BYTES_OF_TERM + end.postings - (segment.records[term] as number))) yield
    runs = after
  }
  return yield* writer.finish()
}

interface TermRuns {
  readonly term: number
  readonly runs: readonly Run[]
  /**
   * Offsets of the end of the run copied last (a run is the postings of one term in one partition): the end of its postings, and the end of
   * its word positions.
   */
  readonly end: RunEnds
}

function rowsWithGaps({ rows }: Segment, dead: Uint32Array): RowTable {
  const { entry, chunk, length, place } = rows
  const left: RowTable = { entry: entry.slice(), chunk: chunk.slice(), length: length.slice(), place: place.slice() }
  for (const row of dead) {
    left.entry[row] = GAP
    left.chunk[row] = 0
    left.length[row] = 0
    left.place[row] = 0
  }
  return left
}

function writeTerm(writer: SegmentWriter, segment: Segment, { term, runs, end }: TermRuns, dead: Uint32Array): void {
  let begun = false
  const begin = () => {
    if (!begun) writer.beginTerm(segment.terms.bytes(term))
    begun = true
  }
  for (const [at, run] of runs.entries()) {
    if (!hasDead(segment, run, dead)) {
      begin()
      writer.copyRun(segment, run, runs[at + 1] ?? end)
      continue
    }
    eachPosting(segment, run, (row, inTitle, inText, from, to) => {
      if (segment.isDead(row)) return
      begin()
      writer.posting(row, inTitle, inText)
      writer.copyPlaces(segment.places, from, to)
    })
  }
  if (begun) writer.endTerm()
}

const blockOfDead = new Block()

/**
 * Whether a run of postings contains dead rows (of deleted or replaced chunks). Only blocks whose range of rows contains a dead row are
 * decoded.
 */
function hasDead(segment: Segment, run: Run, dead: Uint32Array): boolean {
  const { partitions, skips } = segment
  const start = partitions.start[run.rank] as number
  let from = start
  for (let number = 0; number < blockCount(run); number++) {
    const end =
      run.df > BLOCK
        ? start + (skips[run.skips + number * SKIP + SKIP_ROW] as number) + 1
        : (partitions.start[run.rank + 1] as number)
    if (isAnyIn(dead, from, end)) {
      blockOfDead.read(segment, run, number)
      for (let at = 0; at < blockOfDead.count; at++) if (segment.isDead(blockOfDead.rows[at] as number)) return true
    }
    from = end
  }
  return false
}

/** Whether any of the sorted numbers is at least `from` and below `to`. */
function isAnyIn(sorted: Uint32Array, from: number, to: number): boolean {
  const next = lowerBound(sorted.length, at => (sorted[at] as number) < from)
  return next < sorted.length && (sorted[next] as number) < to
}
