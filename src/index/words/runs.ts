/** Runs: the postings of one term in one partition of a segment (`segment.ts` has their form). */
import { ByteReader, LONG, ONE_BYTE, readLong } from './bytes.ts'
import { BLOCK, type Segment, SKIP, SKIP_BOUND, SKIP_PLACES, SKIP_POSTINGS, SKIP_ROW } from './segment.ts'

export interface Run {
  readonly rank: number
  /** Chunks that have the term, the dead included. */
  readonly df: number
  /** Start in `lists`, and in `places`. */
  readonly postings: number
  readonly places: number
  /** Highest saturation, in 255ths of 2.2, at the mean length the partition had. */
  readonly bound: number
  /** Start in `skips` when there is more than one block. */
  readonly skips: number
}

/**
 * The runs of a term by rank. Those whose rank is not marked in `visible` are stepped over. Whatever lists say that somebody
 * changed on the disk, a term has no more runs than there are partitions, nor a run more chunks than its partition.
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
  // The postings begin where the heads end.
  for (const run of runs as { postings: number }[]) run.postings += reader.at
  return runs
}

/** The postings of one block, decoded. */
export class Block {
  readonly rows: Int32Array = new Int32Array(BLOCK)
  readonly inTitle: Int32Array = new Int32Array(BLOCK)
  readonly inText: Int32Array = new Int32Array(BLOCK)
  count = 0
  /** Start in `places` of the first posting's. */
  places = 0
  /** A posting whose places were found, and where they start. */
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

  /** Where in `places` those of this posting start. Costs what lies between it and the one asked for before. */
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

export function boundOfBlock({ skips }: Segment, run: Run, number: number): number {
  return run.df > BLOCK ? (skips[run.skips + number * SKIP + SKIP_BOUND] as number) : run.bound
}
