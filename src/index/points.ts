/**
 * The point index: three coordinates an entry, sorted into the cells of a grid, partition by partition. Exact by
 * distance and by any score that falls with it; an edit costs microseconds. About 45 bytes a point.
 */
import { atOnce, StepPace, type Steps } from '../base/turns.ts'
import type { EntryKey } from '../model/entry.ts'
import type { PartitionId } from '../model/partition.ts'
import { isMostOf, readPlaces } from '../store/feed.ts'
import type { StoreReader } from '../store/store.ts'
import type { PointHit, PointIndex, PointIndexDeclaration, PointSearch, SearchScope } from './contract.ts'
import { PointBlocks, type PointRow } from './points/blocks.ts'
import { checkPointSearch } from './points/check.ts'
import type { PointColumns } from './points/columns.ts'
import { type ImageOf, imageOf, readImage } from './points/image.ts'
import { allPoints, checkDeclared, pointOfEntry } from './points/rows.ts'
import { searchPoints } from './points/search.ts'

/** After so many arrivals a new generation begins: the list of them must not grow for ever. */
const MOST_ARRIVALS = 20_000
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
    if (this.#arrivals.length === MOST_ARRIVALS) this.#beginGeneration()
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
