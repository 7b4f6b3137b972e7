/** Several segments to one, without their dead rows. */
import { StepPace, type Steps } from '../../base/turns.ts'
import type { PartitionId } from '../../model/partition.ts'
import { ByteReader, compareBytes } from './bytes.ts'
import { Block, blockCount, type Run, readRuns } from './cursor.ts'
import type { RowTable, Segment } from './segment.ts'
import { partitionTable, SegmentWriter } from './segment-writer.ts'

/** Postings that are merged in one step, and what a term costs beside them, in those: one to five milliseconds. */
const POSTINGS_AT_ONCE = 1 << 15
const POSTINGS_OF_TERM = 16

/**
 * Null when no row is alive. Rows of a partition stand in the order of the segments. In steps, between which the segments must stay as
 * they are.
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
  /** New row by old one, -1 for the dead. */
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

/** Visits the postings of a run by row, with where their places begin and end. */
export function eachPosting(segment: Segment, run: Run, visit: PostingVisitor): void {
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
