/** A point index as bytes: a JSON header, then coordinates (f64) and entry keys (i32), partition by partition. */
import { Bitset } from '../base/bitset.ts'
import { invalidArgument } from '../model/errors.ts'
import type { PartitionId } from '../model/partition.ts'
import type { PointBlocks } from './points-blocks.ts'
import { PointColumns } from './points-columns.ts'

const FORMAT = 1
const ALIGNMENT = 8

interface Header {
  readonly format: number
  readonly table: string
  readonly columns: readonly string[]
  /** With the number of their points. */
  readonly partitions: readonly (readonly [PartitionId, number])[]
}

/** What the bytes must have been written for. */
export type ImageOf = Pick<Header, 'table' | 'columns'>

/** Copies: they stay as they are when the index changes. Numbers are in the machine's order (little-endian). */
export function imageOf(blocks: PointBlocks, { table, columns }: ImageOf): readonly Uint8Array[] {
  const total = blocks.points
  const coordinates = new Float64Array(3 * total)
  const entries = new Int32Array(total)
  const partitions = [...blocks.partitions].filter(of => of.points > 0)
  let at = 0
  for (const of of partitions) {
    for (const number of of.blocks.values()) {
      const { first, points } = blocks.block(number)
      entries.set(blocks.entriesIn(number), at)
      coordinates.set(blocks.runs.coordinates.subarray(3 * first, 3 * (first + points)), 3 * at)
      at += points
    }
  }
  const header: Header = { format: FORMAT, table, columns, partitions: partitions.map(of => [of.partition, of.points]) }
  return [headerBytes(header), new Uint8Array(coordinates.buffer), new Uint8Array(entries.buffer)]
}

/** Throws when the bytes are no image of such an index. */
export function readImage(bytes: Uint8Array, of: ImageOf): PointColumns {
  const { header, end } = readHeader(bytes)
  for (const [name, value] of Object.entries({ format: FORMAT, ...of })) {
    const found = header[name as keyof Header]
    if (JSON.stringify(found) !== JSON.stringify(value)) throw invalidArgument(`snapshot.${name}`, found, String(value))
  }
  const total = header.partitions.reduce((sum, [, points]) => sum + points, 0)
  const expected = end + 28 * total
  if (bytes.byteLength !== expected) throw invalidArgument('snapshot', bytes.byteLength, `${expected} bytes`)
  const columns = new PointColumns(total)
  new Uint8Array(columns.coordinates.buffer).set(bytes.subarray(end, end + 24 * total))
  new Uint8Array(columns.entries.buffer).set(bytes.subarray(end + 24 * total))
  for (const [partition, points] of header.partitions) {
    columns.partitions.fill(partition, columns.length, columns.length + points)
    columns.length += points
  }
  checkColumns(columns)
  return columns
}

function checkColumns({ entries, coordinates }: PointColumns): void {
  const seen = new Bitset(entries.length)
  for (const entry of entries) {
    if (entry < 0) throw invalidArgument('snapshot', entry, 'an entry key')
    seen.add(entry)
  }
  if (seen.size < entries.length) throw invalidArgument('snapshot', 'an entry twice', 'each entry once')
  if (!coordinates.every(Number.isFinite)) throw invalidArgument('snapshot', Number.NaN, 'finite coordinates')
}

/** Its length (u32), the JSON, and blanks up to where numbers may begin. */
function headerBytes(header: Header): Uint8Array {
  const json = new TextEncoder().encode(JSON.stringify(header))
  const length = Math.ceil((4 + json.byteLength) / ALIGNMENT) * ALIGNMENT
  const bytes = new Uint8Array(length).fill(0x20)
  new DataView(bytes.buffer).setUint32(0, length - 4, true)
  bytes.set(json, 4)
  return bytes
}

function readHeader(bytes: Uint8Array): { header: Header; end: number } {
  const length = bytes.byteLength < 4 ? 0 : new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true)
  const end = 4 + length
  if (length === 0 || end > bytes.byteLength) throw invalidArgument('snapshot', bytes.byteLength, 'a header')
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, end))) as Header
  if (!isHeader(header)) throw invalidArgument('snapshot', header, 'a header')
  return { header, end }
}

function isHeader({ partitions }: Header): boolean {
  const isCount = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0
  return (
    Array.isArray(partitions) &&
    partitions.every(pair => Array.isArray(pair) && pair.length === 2 && pair.every(isCount))
  )
}
