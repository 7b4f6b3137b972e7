/** A point index as bytes: a JSON header, then coordinates (f64) and entry keys (i32), partition by partition. */
import { Bitset } from '../../base/bitset.ts'
import { invalidArgument } from '../../model/errors.ts'
import type { PartitionId } from '../../model/partition.ts'
import {
  checkEntryKeys,
  checkLength,
  headerBytes,
  isCount,
  readHeader,
  refusedImage,
  type UncheckedHeader,
} from '../image.ts'
import type { PointBlocks } from './blocks.ts'
import { PointColumns } from './columns.ts'

/** Raised when this layout changes. */
const FORMAT = 1
/** Three doubles and a key. */
const POINT_BYTES = 28

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

/** Throws `invalid_argument` when the bytes are no image of such an index at this position of the feed. */
export function readImage(bytes: Uint8Array, of: ImageOf, position: number): PointColumns {
  const { header: found, end } = readHeader(bytes)
  for (const [name, value] of Object.entries({ format: FORMAT, ...of })) {
    if (JSON.stringify(found[name]) === JSON.stringify(value)) continue
    throw invalidArgument(`snapshot.${name}`, found[name], String(value))
  }
  if (!isHeader(found)) throw refusedImage(found, 'a header')
  const header = found as unknown as Header
  const total = header.partitions.reduce((sum, [, points]) => sum + points, 0)
  checkLength(bytes, end + POINT_BYTES * total)
  const columns = new PointColumns(total)
  new Uint8Array(columns.coordinates.buffer).set(bytes.subarray(end, end + 24 * total))
  new Uint8Array(columns.entries.buffer).set(bytes.subarray(end + 24 * total))
  for (const [partition, points] of header.partitions) {
    columns.partitions.fill(partition, columns.length, columns.length + points)
    columns.length += points
  }
  checkColumns(columns, position)
  return columns
}

function checkColumns({ entries, coordinates }: PointColumns, position: number): void {
  checkEntryKeys(entries, position)
  if (Bitset.of(entries).size < entries.length) throw refusedImage('an entry twice', 'each entry once')
  if (!coordinates.every(Number.isFinite)) throw refusedImage(Number.NaN, 'finite coordinates')
}

function isHeader(header: UncheckedHeader): boolean {
  const { partitions } = header
  return (
    Array.isArray(partitions) &&
    partitions.every(pair => Array.isArray(pair) && pair.length === 2 && pair.every(isCount))
  )
}
