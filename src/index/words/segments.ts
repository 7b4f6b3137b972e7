/**
 * The segments of a word index at one moment, the place of each entry in them, and the exact numbers of chunks and words in each partition.
 * New rows (chunks) form a small segment; four segments of about equal size are merged, so that a row is rewritten only about log4(rows)
 * times. A segment with too many dead rows (of deleted or replaced chunks) is rewritten without them.
 */
import { Columns } from '../../base/columns.ts'
import { atOnce, type Steps } from '../../base/turns.ts'
import type { EntryKey } from '../../model/entry.ts'
import type { PartitionId } from '../../model/partition.ts'
import { checkEntryKeys, type Image, imageOf, readImage, refusedImage } from '../snapshot.ts'
import { TEXT_RULES } from './builder.ts'
import { mergeSegments, scrubbed } from './merge.ts'
import { GAP, Segment } from './segment.ts'

/** Number of rows (chunks) of a segment that are processed between two pauses. */
const ROWS_AT_ONCE = 1 << 15

const SEGMENTS_OF_A_SIZE = 4
/** Share of dead rows (of deleted or replaced chunks) in a segment above which the segment is rewritten without them. */
const MAX_DEAD = 0.25

interface PartitionCount {
  chunks: number
  words: number
}

export class SegmentSet {
  /** Segments by slot number, null for a free slot; a segment keeps its slot until it is merged into another segment. */
  readonly #slots: (Segment | null)[] = []
  readonly #counts = new Map<PartitionId, PartitionCount>()
  /**
   * For each entry key: the slot number + 1 of the segment that has the entry's rows (0: none), and the entry's first row in that segment.
   */
  readonly #places = new Columns({ slots: { of: Uint16Array }, rows: { of: Uint32Array } })
  /**
   * Version of this set of segments; it increases with each change. A cached reading (a query resolved against the index) is outdated if it
   * was made for another version.
   */
  version = 0
  /** Number of entries that have rows in any of the segments. */
  entryCount = 0

  get segments(): readonly Segment[] {
    return this.#slots.filter(segment => segment !== null)
  }

  get byteLength(): number {
    return this.segments.reduce((sum, segment) => sum + segment.byteLength, this.#places.byteLength)
  }

  /** Number of chunks in these partitions, and number of words in those chunks. Each partition must be given only once. */
  count(partitions: Iterable<PartitionId>): { chunks: number; words: number } {
    let chunks = 0
    let words = 0
    for (const partition of partitions) {
      const count = this.#counts.get(partition)
      if (count === undefined) continue
      chunks += count.chunks
      words += count.words
    }
    return { chunks, words }
  }

  /** The segment that has an entry's rows, and the first of these rows; null if the entry has no rows. */
  find(entry: EntryKey): { segment: Segment; row: number } | null {
    const { slots, rows } = this.#places.arrays
    const slot = slots[entry] ?? 0
    if (slot === 0) return null
    return { segment: this.#slots[slot - 1] as Segment, row: rows[entry] as number }
  }

  /**
   * Adds a segment of entries that are not in the set yet, in 50 to 500 ns per row. The work pauses now and then so that other work can
   * run, but no search may run before it is complete.
   */
  *add(segment: Segment): Steps<void> {
    yield* this.#place(segment)
    yield* this.#countRows(segment)
    const { entry } = segment.rows
    let entries = 0
    let before = -1
    for (let row = 0; row < entry.length; row++) {
      const key = entry[row] as number
      if (key !== before && key !== GAP) entries++
      before = key
      if ((row + 1) % ROWS_AT_ONCE === 0) yield
    }
    this.entryCount += entries
    this.version++
  }

  /** Marks the rows of an entry as dead when the entry is deleted or replaced; does nothing if the entry has no rows. */
  bury(entry: EntryKey): void {
    const place = this.find(entry)
    if (place === null) return
    const { segment, row } = place
    const count = this.#counts.get(segment.partitions.id[segment.rankOf(row)] as PartitionId) as PartitionCount
    for (let dying = row; dying < segment.entryEnd(row); dying++) {
      segment.bury(dying)
      count.chunks--
      count.words -= segment.rows.length[dying] as number
    }
    this.#places.arrays.slots[entry] = 0
    this.entryCount--
    this.version++
  }

  /**
   * Merges segments so that only few are left. The work pauses now and then so that other work can run; the set must not change during the
   * pauses. Search results do not change.
   */
  *tidy(): Steps<void> {
    for (const segment of this.segments) {
      if (segment.size - segment.liveSize > segment.size * MAX_DEAD) yield* this.#merge([segment])
    }
    for (;;) {
      const group = tooMany(this.segments)
      if (group === null) return
      yield* this.#merge(group)
    }
  }

  /**
   * Removes all data of dead rows (deleted or replaced chunks) from the segments, at a fraction of the cost of a merge. The work pauses now
   * and then; the set must not change during the pauses. Search results do not change.
   */
  *forgetDead(): Steps<void> {
    for (const segment of this.segments)
      if (segment.deadRows.length > 0) this.#replace([segment], yield* scrubbed(segment))
  }

  /** Merges all segments into one. The work pauses now and then so that other work can run; the set must not change during the pauses. */
  *compact(): Steps<void> {
    if (this.segments.length > 1) yield* this.#merge(this.segments)
  }

  *#merge(segments: readonly Segment[]): Steps<void> {
    this.#replace(segments, yield* mergeSegments(segments))
  }

  /**
   * Replaces the given segments by one segment `by`, which has the same rows without the dead ones (of deleted or replaced chunks); null:
   * no row is left.
   */
  #replace(segments: readonly Segment[], by: Segment | null): void {
    for (const segment of segments) this.#slots[this.#slots.indexOf(segment)] = null
    if (by !== null) atOnce(this.#place(by))
    this.version++
  }

  *#place(segment: Segment): Steps<void> {
    const free = this.#slots.indexOf(null)
    const slot = free < 0 ? this.#slots.length : free
    this.#slots[slot] = segment
    const { entry } = segment.rows
    let highest = 0
    for (let row = 0; row < entry.length; row++) if ((entry[row] as number) > highest) highest = entry[row] as number
    this.#places.reserve(highest + 1)
    const { slots: slotOf, rows: rowOf } = this.#places.arrays
    const someDead = segment.liveSize < segment.size
    for (let row = entry.length - 1; row >= 0; row--) {
      if ((row + 1) % ROWS_AT_ONCE === 0) yield
      if (someDead && segment.isDead(row)) continue
      const key = entry[row] as number
      slotOf[key] = slot + 1
      rowOf[key] = row
    }
  }

  *#countRows(segment: Segment): Steps<void> {
    const { id, start } = segment.partitions
    const { length } = segment.rows
    const someDead = segment.liveSize < segment.size
    for (let rank = 0; rank < id.length; rank++) {
      const partition = id[rank] as PartitionId
      const count = this.#counts.get(partition) ?? { chunks: 0, words: 0 }
      this.#counts.set(partition, count)
      const end = start[rank + 1] as number
      let [chunks, words] = [0, 0]
      for (let row = start[rank] as number; row < end; row++) {
        if ((row + 1) % ROWS_AT_ONCE === 0) yield
        if (someDead && segment.isDead(row)) continue
        chunks++
        words += length[row] as number
      }
      count.chunks += chunks
      count.words += words
    }
  }
}

/** The smallest segments of a size class (powers of four of the number of live rows) that has too many segments; null if no class has. */
function tooMany(segments: readonly Segment[]): readonly Segment[] | null {
  const classes = new Map<number, Segment[]>()
  for (const segment of segments) {
    const size = Math.floor(Math.log2(Math.max(1, segment.liveSize)) / 2)
    const group = classes.get(size) ?? []
    classes.set(size, group)
    group.push(segment)
  }
  const [smallest] = [...classes].filter(([, group]) => group.length >= SEGMENTS_OF_A_SIZE).sort((a, b) => a[0] - b[0])
  return smallest?.[1] ?? null
}

// Writes and reads a set of segments as bytes: the arrays of each segment exactly as they are in memory, so that restoring copies nothing.
// Data of dead rows is removed first, so that no snapshot contains deleted data.

/** Version of the format in which segments are stored as bytes; increased when the layout of segments changes. */
const FORMAT = 2

const IDENTITY = { format: FORMAT, rules: TEXT_RULES }

/**
 * The segments as a list of byte arrays. These are views of the segments' own memory, so they must be written before the segments change.
 */
export function segmentsImage(segments: readonly Segment[]): readonly Uint8Array[] {
  return imageOf(
    IDENTITY,
    segments.flatMap(segment => segment.arrays),
  )
}

/**
 * Reads segments from `bytes`, which must not change afterwards; pauses now and then so that other work can run. Throws `invalid_argument`
 * if the bytes are not a segment image of this format, written for this position of the store's change feed.
 */
export function* readSegments(bytes: Uint8Array, position: number): Steps<readonly Segment[]> {
  const image = readImage(bytes, IDENTITY)
  const read: Segment[] = []
  while (image.left > 0) {
    const segment = segmentOf(image)
    yield
    yield* check(segment, position)
    read.push(segment)
  }
  return read
}

/** Reads one segment from an image, with its arrays in the order in which `Segment.arrays` lists them. */
function segmentOf(image: Image): Segment {
  const numbers = () => image.take(Uint32Array)
  const rows = { entry: numbers(), chunk: numbers(), length: numbers(), place: numbers() }
  const partitions = { id: numbers(), start: numbers(), meanLength: image.take(Float64Array) }
  const [byChunk, records, slots, skips] = [numbers(), numbers(), numbers(), numbers()]
  const [lists, places] = [image.take(Uint8Array), image.take(Uint8Array)]
  return new Segment({ rows, partitions, byChunk, records, slots, skips, lists, places })
}

/**
 * Checks a restored segment for everything that could make a search read beyond an array or never end. Other damage is found by the
 * snapshot file's checksum.
 */
function* check(segment: Segment, position: number): Steps<void> {
  const { rows, partitions, byChunk, records, slots, lists } = segment
  const size = segment.size
  const columns = [rows.chunk, rows.length, rows.place, byChunk]
  const isSound =
    size > 0 &&
    columns.every(column => column.length === size) &&
    partitions.start.length === partitions.id.length + 1 &&
    partitions.meanLength.length === partitions.id.length &&
    (yield* ascends(partitions.start)) &&
    partitions.start[0] === 0 &&
    partitions.start.at(-1) === size &&
    (yield* ascends(records)) &&
    (records.at(-1) ?? 0) <= lists.length &&
    Math.log2(slots.length) % 1 === 0 &&
    (yield* filledOf(slots)) === records.length &&
    records.length < slots.length
  if (!isSound) throw refusedImage(`${segment.byteLength} bytes`, 'the image of a word index')
  checkEntryKeys(rows.entry, position)
  yield
}

// The checks of a restored segment use plain loops: they run once per process over some hundred thousand numbers, before the JavaScript
// engine has optimised them.

/** Amount of numbers that are checked between two pauses. */
const NUMBERS_AT_ONCE = 1 << 17

function* filledOf(slots: Uint32Array): Steps<number> {
  let filled = 0
  for (let at = 0; at < slots.length; at++) {
    if (slots[at] !== 0) filled++
    if ((at + 1) % NUMBERS_AT_ONCE === 0) yield
  }
  return filled
}

function* ascends(numbers: Uint32Array): Steps<boolean> {
  let before = -1
  for (let at = 0; at < numbers.length; at++) {
    const number = numbers[at] as number
    if (number <= before) return false
    before = number
    if ((at + 1) % NUMBERS_AT_ONCE === 0) yield
  }
  return true
}
