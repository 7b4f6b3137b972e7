/**
 * A segment set as bytes: a JSON header, then the arrays of each segment as they lie in memory, so that restoring copies
 * nothing. Dead rows are left out before, so that what was deleted is in no snapshot.
 */
import { invalidArgument } from '../model/errors.ts'
import { TEXT_RULES } from './words-fields.ts'
import { Segment } from './words-segment.ts'

/** Raised when the layout of segments changes. */
const FORMAT = 1
/** Arrays of numbers begin at multiples of this. */
const ALIGNMENT = 8

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
  const json = new TextEncoder().encode(JSON.stringify(header))
  const start = new Uint8Array(padded(4 + json.byteLength))
  new DataView(start.buffer).setUint32(0, json.byteLength, true)
  start.set(json, 4)
  const arrays = segments
    .flatMap(segment => segment.arrays)
    .flatMap(array => [bytesOf(array), padding(array.byteLength)])
  return [start, ...arrays]
}

/** Segments that read from `bytes`, which must not change any more. Throws when they are no image of this format. */
export function readImage(bytes: Uint8Array): readonly Segment[] {
  // Not `slice`: a Buffer's gives a view.
  const aligned = bytes.byteOffset % ALIGNMENT === 0 ? bytes : new Uint8Array(bytes)
  const { header, end } = readHeader(aligned)
  const lengths = header.segments.flat()
  const expected = end + lengths.reduce((sum, length) => sum + padded(length), 0)
  if (aligned.byteLength !== expected) throw invalidArgument('snapshot', aligned.byteLength, `${expected} bytes`)
  let at = end
  return header.segments.map(sizes => {
    const views = sizes.map(size => {
      const view = { buffer: aligned.buffer, offset: aligned.byteOffset + at, size }
      at += padded(size)
      return view
    })
    return checked(segmentOf(views))
  })
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

const ARRAYS = 13

function readHeader(bytes: Uint8Array): { header: Header; end: number } {
  const refusal = invalidArgument('snapshot', `${bytes.byteLength} bytes`, 'the image of a word index')
  if (bytes.byteLength < 4) throw refusal
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true)
  if (4 + length > bytes.byteLength) throw refusal
  let header: Header
  try {
    header = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(4, 4 + length))) as Header
  } catch {
    throw refusal
  }
  if (header?.format !== FORMAT) throw invalidArgument('snapshot.format', header?.format, String(FORMAT))
  if (header.rules !== TEXT_RULES) throw invalidArgument('snapshot.rules', header.rules, String(TEXT_RULES))
  const isSize = (size: number) => Number.isSafeInteger(size) && size >= 0
  const areSegments =
    Array.isArray(header.segments) &&
    header.segments.every(sizes => Array.isArray(sizes) && sizes.length === ARRAYS && sizes.every(isSize))
  if (!areSegments) throw refusal
  return { header, end: padded(4 + length) }
}

/** What would make a search read beyond an array or go round for ever; the snapshot file's checksum sees to the rest. */
function checked(segment: Segment): Segment {
  const { rows, partitions, byChunk, records, slots, lists } = segment
  const size = segment.size
  const columns = [rows.chunk, rows.length, rows.place, byChunk]
  const isSound =
    size > 0 &&
    columns.every(column => column.length === size) &&
    partitions.start.length === partitions.id.length + 1 &&
    partitions.meanLength.length === partitions.id.length &&
    ascends(partitions.start) &&
    partitions.start[0] === 0 &&
    partitions.start.at(-1) === size &&
    ascends(records) &&
    (records.at(-1) ?? 0) <= lists.length &&
    Math.log2(slots.length) % 1 === 0 &&
    filledOf(slots) === records.length &&
    records.length < slots.length
  if (!isSound) throw invalidArgument('snapshot', `${segment.byteLength} bytes`, 'the image of a word index')
  return segment
}

// Plain loops: they run once in a process, before anything is compiled, over some hundred thousand numbers.

function filledOf(slots: Uint32Array): number {
  let filled = 0
  for (let at = 0; at < slots.length; at++) if (slots[at] !== 0) filled++
  return filled
}

function ascends(numbers: Uint32Array): boolean {
  let before = -1
  for (let at = 0; at < numbers.length; at++) {
    const number = numbers[at] as number
    if (number <= before) return false
    before = number
  }
  return true
}

function bytesOf(array: Uint8Array | Uint32Array | Float64Array): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength)
}

function padded(length: number): number {
  return Math.ceil(length / ALIGNMENT) * ALIGNMENT
}

function padding(length: number): Uint8Array {
  return new Uint8Array(padded(length) - length)
}
