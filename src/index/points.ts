/**
 * The point index: three coordinates an entry, sorted into the cells of a grid, partition by partition. Exact by
 * distance and by any score that falls with it; an edit costs microseconds. About 45 bytes a point.
 */

import { must } from '../base/assert.ts'
import { Bitset } from '../base/bitset.ts'
import { atOnce, StepPace, type Steps } from '../base/turns.ts'
import type { EntryKey } from '../model/entry.ts'
import { invalidArgument } from '../model/errors.ts'
import type { PartitionId } from '../model/partition.ts'
import type { Row } from '../model/table.ts'
import { isMostOf, partitionOfAll, readPlaces } from '../store/feed.ts'
import type { StoreReader } from '../store/store.ts'
import type { PointHit, PointIndex, PointIndexDeclaration, PointSearch, SearchScope } from './contract.ts'
import { checkAspect, checkColumn } from './declared-tables.ts'
import {
  checkEntryKeys,
  checkLength,
  headerBytes,
  isCount,
  readHeader,
  refusedImage,
  type UncheckedHeader,
} from './image.ts'
import { PointBlocks, type PointRow } from './points/blocks.ts'
import { checkPointSearch, type Point, PointColumns } from './points/grid.ts'
import { searchPoints } from './points/search.ts'

/** After so many arrivals a new generation begins: the list of them must not grow for ever. */
const MAX_ARRIVALS = 20_000
/** Changed entries that are taken in by one step. */
const CHANGED_AT_ONCE = 500

export function openPointIndex(declared: PointIndexDeclaration): PointIndex {
  checkDeclared(declared)
  return new Points(declared)
}

class Points implements PointIndex {
  readonly name: string
  readonly #declared: PointIndexDeclaration
  #blocks = new PointBlocks()
  #position = 0
  #generation = 0
  #arrivals: EntryKey[] = []

  constructor(declared: PointIndexDeclaration) {
    this.name = declared.name
    this.#declared = declared
  }

  get position(): number {
    return this.#position
  }

  get byteLength(): number {
    return this.#blocks.byteLength + 8 * this.#arrivals.length
  }

  get blocks(): number {
    return this.#blocks.count
  }

  get generation(): number {
    return this.#generation
  }

  get arrivals(): readonly EntryKey[] {
    return this.#arrivals
  }

  search(request: PointSearch): readonly PointHit[] {
    checkPointSearch(request)
    return searchPoints(this.#blocks, request)
  }

  count({ partitions, allow }: SearchScope): number {
    const within = this.#blocks.within(partitions)
    if (allow === undefined) return within.reduce((sum, of) => sum + of.points, 0)
    const seen = new Set(within)
    let count = 0
    for (const entry of allow) {
      const block = this.#blocks.blockOf(entry)
      if (block >= 0 && seen.has(this.#blocks.block(block).of)) count++
    }
    return count
  }

  blockOf(entry: EntryKey): number {
    return this.#blocks.blockOf(entry)
  }

  pointOf(entry: EntryKey): readonly [number, number, number] | undefined {
    const slot = this.#blocks.slotOf(entry)
    return slot < 0 ? undefined : this.#blocks.pointAt(slot)
  }

  *entries(partitions: readonly PartitionId[]): Iterable<EntryKey> {
    for (const of of this.#blocks.within(partitions)) {
      for (const block of of.blocks.values()) yield* this.#blocks.entriesIn(block)
    }
  }

  refresh(reader: StoreReader): number {
    return atOnce(this.refreshInSteps(reader))
  }

  *refreshInSteps(reader: StoreReader): Steps<number> {
    const before = this.#position
    const news = before === 0 ? null : yield* readPlaces(reader, before)
    if (news === null || isMostOf(this.#blocks.points, news.partitionOf.size)) {
      yield* this.rebuildInSteps(reader)
      return Math.max(0, this.#position - before)
    }
    const pace = new StepPace(CHANGED_AT_ONCE)
    for (const [entry, partition] of news.partitionOf) {
      this.#place(entry, pointOfEntry(reader, this.#declared, entry, partition))
      if (pace.isOver(1)) yield
    }
    this.#position = news.position
    return news.changes
  }

  rebuild(reader: StoreReader): void {
    atOnce(this.rebuildInSteps(reader))
  }

  *rebuildInSteps(reader: StoreReader): Steps<void> {
    const position = reader.lastSeq()
    yield* this.#deal(yield* allPoints(reader, this.#declared), position)
  }

  serialise(): readonly Uint8Array[] {
    return imageOf(this.#blocks, this.#imageOf)
  }

  restore(bytes: Uint8Array, position: number): void {
    atOnce(this.restoreInSteps(bytes, position))
  }

  *restoreInSteps(bytes: Uint8Array, position: number): Steps<void> {
    const points = readImage(bytes, this.#imageOf, position)
    yield
    yield* this.#deal(points, position)
  }

  get #imageOf(): ImageOf {
    return { table: this.#declared.table.name, columns: this.#declared.columns }
  }

  #place(entry: EntryKey, row: PointRow | undefined): void {
    this.#blocks.remove(entry)
    if (row === undefined) return
    this.#blocks.add(row)
    if (this.#arrivals.length === MAX_ARRIVALS) this.#beginGeneration()
    else this.#arrivals.push(entry)
  }

  *#deal(points: PointColumns, position: number): Steps<void> {
    const blocks = new PointBlocks()
    yield* blocks.load(points)
    this.#blocks = blocks
    this.#position = position
    this.#beginGeneration()
  }

  #beginGeneration(): void {
    this.#generation++
    this.#arrivals = []
  }
}

/** Rows read at once. */
const PAGE = 2048

function checkDeclared({ table, columns }: PointIndexDeclaration): void {
  checkAspect('table', table)
  for (const name of columns) checkColumn('columns', table, name, 'real')
}

/** Every point there is, in steps: what comes, moves or goes at a pause is as it was or as it is then. */
function* allPoints(reader: StoreReader, { table, columns }: PointIndexDeclaration): Steps<PointColumns> {
  const partitionOf = yield* partitionOfAll(reader)
  const rows = reader.table(table)
  const points = new PointColumns(rows.count())
  let after: Row | undefined
  for (;;) {
    const page = rows.scan({}, { after, limit: PAGE, columns: ['entry', ...columns] })
    for (const row of page) {
      const entry = row['entry'] as EntryKey
      const point = pointIn(row, columns)
      // Undefined of one that came at a pause.
      const partition = partitionOf(entry)
      if (point !== undefined && partition !== undefined) points.push(entry, partition, ...point)
    }
    if (page.length < PAGE) return points
    yield
    after = { entry: must(page.at(-1)?.['entry'], 'the last entry') }
  }
}

/** The point of an entry of this partition, if it has one. */
function pointOfEntry(
  reader: StoreReader,
  { table, columns }: PointIndexDeclaration,
  entry: EntryKey,
  partition: PartitionId,
): PointRow | undefined {
  const row = reader.table(table).get({ entry })
  const point = row && pointIn(row, columns)
  return point && { entry, partition, point }
}

function pointIn(row: Row, columns: PointIndexDeclaration['columns']): Point | undefined {
  const [l, a, b] = [row[columns[0]], row[columns[1]], row[columns[2]]]
  return typeof l === 'number' && typeof a === 'number' && typeof b === 'number' ? [l, a, b] : undefined
}

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
type ImageOf = Pick<Header, 'table' | 'columns'>

/** Copies: they stay as they are when the index changes. Numbers are in the machine's order (little-endian). */
function imageOf(blocks: PointBlocks, { table, columns }: ImageOf): readonly Uint8Array[] {
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
function readImage(bytes: Uint8Array, of: ImageOf, position: number): PointColumns {
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
