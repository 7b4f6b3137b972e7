/**
 * The segments of a word index at one moment, where each entry is in them, and the exact counts of each partition. Fresh
 * rows make a small segment; four segments of about one size become one, so that each row is written again only about
 * log4(rows) times; one with too many dead is written again without them.
 */
import { Columns } from '../../base/columns.ts'
import { atOnce, type Steps } from '../../base/turns.ts'
import type { EntryKey } from '../../model/entry.ts'
import type { PartitionId } from '../../model/partition.ts'
import { checkEntryKeys, type Image, imageOf, readImage, refusedImage } from '../snapshot.ts'
import { TEXT_RULES } from './builder.ts'
import { mergeSegments, scrubbed } from './merge.ts'
import { GAP, Segment } from './segment.ts'

/** Rows looked at in one step. */
const ROWS_AT_ONCE = 1 << 15

const SEGMENTS_OF_A_SIZE = 4
/** Share of dead rows above which a segment is written again. */
const MAX_DEAD = 0.25

interface PartitionCount {
  chunks: number
  words: number
}

export class SegmentSet {
  /** By slot; a slot keeps its segment until it is merged away. */
  readonly #slots: (Segment | null)[] = []
  readonly #counts = new Map<PartitionId, PartitionCount>()
  /** By entry key: slot + 1, or 0; and its first row there. */
  readonly #places = new Columns({ slots: { of: Uint16Array }, rows: { of: Uint32Array } })
  /** Another number after each change. */
  version = 0
  /** Entries that have rows. */
  entryCount = 0

  get segments(): readonly Segment[] {
    return this.#slots.filter(segment => segment !== null)
  }

  get byteLength(): number {
    return this.segments.reduce((sum, segment) => sum + segment.byteLength, this.#places.byteLength)
  }

  /** Chunks in these partitions (each named once), and their words. */
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

  /** Where an entry's rows begin. */
  find(entry: EntryKey): { segment: Segment; row: number } | null {
    const { slots, rows } = this.#places.arrays
    const slot = slots[entry] ?? 0
    if (slot === 0) return null
    return { segment: this.#slots[slot - 1] as Segment, row: rows[entry] as number }
  }

  /** Takes in entries that are not here yet: 50 to 500 ns a row. In steps, between which nobody may ask. */
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

  /** Forgets an entry; unknown ones are ignored. */
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

  /** Brings the segments back to few, in steps, between which nothing may change. Answers stay the same. */
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

  /** Leaves nothing of dead rows, at a fraction of what merging costs, in steps as `tidy`. Answers stay the same. */
  *forgetDead(): Steps<void> {
    for (const segment of this.segments)
      if (segment.deadRows.length > 0) this.#replace([segment], yield* scrubbed(segment))
  }

  /** All rows in one segment, in steps as `tidy`. */
  *compact(): Steps<void> {
    if (this.segments.length > 1) yield* this.#merge(this.segments)
  }

  *#merge(segments: readonly Segment[]): Steps<void> {
    this.#replace(segments, yield* mergeSegments(segments))
  }

  /** By one with the same live rows; null when there are none. */
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

/** The smallest segments of a size class that has too many, or null. */
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

// A segment set as bytes: the arrays of each segment as they lie in memory, so that restoring copies nothing. Dead rows are left out before, so that what was deleted is in no snapshot.

/** Raised when the layout of segments changes. */
const FORMAT = 2

const IDENTITY = { format: FORMAT, rules: TEXT_RULES }

/** Views of the segments themselves: to be written before they change. */
export function segmentsImage(segments: readonly Segment[]): readonly Uint8Array[] {
  return imageOf(
    IDENTITY,
    segments.flatMap(segment => segment.arrays),
  )
}

/**
 * Segments that read from `bytes`, which must not change any more, in steps. Throws `invalid_argument` when they are no image of this
 * format at this position of the feed.
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

/** In the order of `Segment.arrays`. */
function segmentOf(image: Image): Segment {
  const numbers = () => image.take(Uint32Array)
  const rows = { entry: numbers(), chunk: numbers(), length: numbers(), place: numbers() }
  const partitions = { id: numbers(), start: numbers(), meanLength: image.take(Float64Array) }
  const [byChunk, records, slots, skips] = [numbers(), numbers(), numbers(), numbers()]
  const [lists, places] = [image.take(Uint8Array), image.take(Uint8Array)]
  return new Segment({ rows, partitions, byChunk, records, slots, skips, lists, places })
}

/** What would make a search read beyond an array or go round for ever; the snapshot file's checksum sees to the rest. */
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

// Plain loops: they run once in a process, before anything is compiled, over some hundred thousand numbers.

/** Numbers looked at in one step. */
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
