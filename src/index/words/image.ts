/**
 * A segment set as bytes: a JSON header, then the arrays of each segment as they lie in memory, so that restoring copies
 * nothing. Dead rows are left out before, so that what was deleted is in no snapshot.
 */
import type { Steps } from '../../base/turns.ts'
import { invalidArgument } from '../../model/errors.ts'
import {
  aligned,
  checkEntryKeys,
  checkLength,
  headerBytes,
  isCount,
  readHeader,
  refusedImage,
  type UncheckedHeader,
} from '../image.ts'
import { TEXT_RULES } from './fields.ts'
import { Segment } from './segment.ts'

/** Raised when the layout of segments changes. */
const FORMAT = 1

interface Header {
  readonly format: number
  readonly rules: number
  /** By segment: bytes of each array, in the order of `Segment.arrays`. */
  readonly segments: readonly (readonly number[])[]
}

/** Views of the segments themselves: to be written before they change. Numbers are in the machine's order (little-endian). */
export function imageOf(segments: readonly Segment[]): readonly Uint8Array[] {
  const header: Header = {
    format: FORMAT,
    rules: TEXT_RULES,
    segments: segments.map(segment => segment.arrays.map(array => array.byteLength)),
  }
  const arrays = segments
    .flatMap(segment => segment.arrays)
    .flatMap(array => [bytesOf(array), padding(array.byteLength)])
  return [headerBytes(header), ...arrays]
}

/**
 * Segments that read from `bytes`, which must not change any more, in steps. Throws `invalid_argument` when they are no image of this
 * format at this position of the feed.
 */
export function* readImage(bytes: Uint8Array, position: number): Steps<readonly Segment[]> {
  // Not `slice`: a Buffer's gives a view.
  const image = aligned(bytes.byteOffset) === bytes.byteOffset ? bytes : new Uint8Array(bytes)
  const { header, end } = readHeader(image)
  const segments = sizesOf(header)
  let at = aligned(end)
  checkLength(image, at + segments.flat().reduce((sum, size) => sum + aligned(size), 0))
  const read: Segment[] = []
  for (const sizes of segments) {
    const views = sizes.map(size => {
      const view = { buffer: image.buffer, offset: image.byteOffset + at, size }
      at += aligned(size)
      return view
    })
    const segment = segmentOf(views)
    yield
    yield* check(segment, position)
    read.push(segment)
  }
  return read
}

interface View {
  readonly buffer: ArrayBufferLike
  readonly offset: number
  readonly size: number
}

function segmentOf(views: readonly View[]): Segment {
  let next = 0
  const take = () => views[next++] as View
  const numbers = () => {
    const { buffer, offset, size } = take()
    return new Uint32Array(buffer, offset, size / 4)
  }
  const bytes = () => {
    const { buffer, offset, size } = take()
    return new Uint8Array(buffer, offset, size)
  }
  const reals = () => {
    const { buffer, offset, size } = take()
    return new Float64Array(buffer, offset, size / 8)
  }
  const rows = { entry: numbers(), chunk: numbers(), length: numbers(), place: numbers() }
  const partitions = { id: numbers(), start: numbers(), meanLength: reals() }
  const [byChunk, records, slots, skips] = [numbers(), numbers(), numbers(), numbers()]
  return new Segment({ rows, partitions, byChunk, records, slots, skips, lists: bytes(), places: bytes() })
}

/** Of a segment. */
const ARRAYS = 13

function sizesOf(header: UncheckedHeader): readonly (readonly number[])[] {
  const { format, rules, segments } = header
  if (format !== FORMAT) throw invalidArgument('snapshot.format', format, String(FORMAT))
  if (rules !== TEXT_RULES) throw invalidArgument('snapshot.rules', rules, String(TEXT_RULES))
  const isSegment = (sizes: unknown) => Array.isArray(sizes) && sizes.length === ARRAYS && sizes.every(isCount)
  if (!(Array.isArray(segments) && segments.every(isSegment))) throw refusedImage(segments, 'sizes of segments')
  return segments
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

function bytesOf(array: Uint8Array | Uint32Array | Float64Array): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength)
}

function padding(length: number): Uint8Array {
  return new Uint8Array(aligned(length) - length)
}
