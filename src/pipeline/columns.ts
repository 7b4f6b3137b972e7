/**
 * Values of entries in memory, by entry key, in step with the store: all are read on first use, then those that the change feed reports as
 * committed since, by any process. All code that keeps columns or rows of many entries follows the feed here.
 */

import { Bitset } from '../base/bitset.ts'
import type { Json } from '../base/canonical.ts'
import { grown } from '../base/columns.ts'
import { Recent } from '../base/recent.ts'
import { atOnce, type Steps } from '../base/turns.ts'
import type { EntryKey } from '../model/entry.ts'
import type { PartitionId } from '../model/partition.ts'
import type { Row, TableDeclaration } from '../model/table.ts'
import { changesOrNull, type FeedNews, partitionOfAll, reachesBack, readFeed } from '../store/feed.ts'
import type { Store, StoreReader } from '../store/store.ts'
import { aroundDamage, tablePages } from './many-rows.ts'

/** Changes applied in one step: some milliseconds of work. */
const CHANGES_AT_ONCE = 250

/** Entries added, changed or deleted after this position; null: the feed does not reach back, or there are more than `most` changes. */
export function entriesChangedAfter(reader: StoreReader, position: number, most?: number): FeedNews | null {
  if (!reachesBack(reader, position, most)) return null
  return atOnce(readFeed(reader, position, ({ kind }) => kind !== 'vectors'))
}

export interface Followed {
  /** Discards all values, before they are loaded again. */
  clear(): void
  /**
   * Then reads all values, one page per step, from the reader passed to `next`. What is committed between two steps is passed to `take`
   * afterwards. Absent where values are read on demand.
   */
  readonly pages?: (reader: StoreReader) => Iterator<unknown, unknown, StoreReader>
  /** Reads these added, changed or deleted entries again; each with its current partition, or its last one. */
  take(reader: StoreReader, changed: ReadonlyMap<EntryKey, PartitionId>): void
  /** Number of changes above which all values are loaded again. */
  most(): number
}

interface Loading {
  readonly pages: Iterator<unknown, unknown, StoreReader> | undefined
  readonly position: number
}

/**
 * A position in the change feed, and how to get from there to the current state. New vectors do not count as a change of their entry.
 *
 * @example
 * const feed = new FeedFollower({ clear: () => values.clear(), take: (reader, changed) => ..., most: () => 1_000 })
 * store.read(reader => { feed.follow(reader); return values.get(key) })
 */
export class FeedFollower {
  readonly #followed: Followed
  readonly #within: <T>(reader: StoreReader, body: () => T) => T
  #position = -1
  #version = -1
  #loading: Loading | null = null

  /** `damage`: whether damaged rows are left out, or make the read throw `store_corrupt`. */
  constructor(followed: Followed, damage: 'left out' | 'thrown' = 'left out') {
    this.#followed = followed
    this.#within = damage === 'thrown' ? (_, body) => body() : aroundDamage
  }

  /** Position of the last applied change; -1: the first load is not complete. */
  get position(): number {
    return this.#position
  }

  /** Applies changes committed since the last call: microseconds when there are none. */
  refresh(store: Store): void {
    const version = store.version()
    if (version === this.#version) return
    store.read(reader => this.follow(reader))
    this.#version = version
  }

  /** As `refresh`, with one step per page, each in a read of its own. What is written between two steps is applied at the end. */
  *refreshInSteps(store: Store): Steps<void> {
    if (store.version() === this.#version) return
    while (store.read(reader => this.advance(reader))) yield
    this.refresh(store)
  }

  /** As `refresh`, within a read or a write. */
  follow(reader: StoreReader): void {
    while (this.advance(reader));
  }

  /** One step of `follow`, for callers that pause between steps. False: everything is applied as of this reader. */
  advance(reader: StoreReader): boolean {
    if (this.#position < 0) return this.#load(reader)
    if (reader.lastSeq() === this.#position) return false
    const isCheaper = reachesBack(reader, this.#position, this.#followed.most())
    const changes = isCheaper ? changesOrNull(reader, this.#position, CHANGES_AT_ONCE) : null
    if (changes === null) {
      this.reset()
      return true
    }
    const changed = new Map<EntryKey, PartitionId>()
    for (const { entry, kind, partition } of changes) if (kind !== 'vectors') changed.set(entry, partition)
    if (changed.size > 0) this.#within(reader, () => this.#followed.take(reader, changed))
    this.#position = changes.at(-1)?.seq ?? this.#position
    return changes.length === CHANGES_AT_ONCE
  }

  /** Makes the next step load everything again. */
  reset(): void {
    this.#position = -1
    this.#loading = null
  }

  /** Loads one page. The last page sets the position to that of the feed when the first was read; an unfinished load is discarded. */
  #load(reader: StoreReader): true {
    try {
      this.#loading ??= this.#begin(reader)
      const { pages, position } = this.#loading
      if (pages !== undefined && this.#within(reader, () => pages.next(reader)).done !== true) return true
      this.#loading = null
      this.#position = position
      return true
    } catch (error) {
      this.reset()
      throw error
    }
  }

  #begin(reader: StoreReader): Loading {
    this.#followed.clear()
    return { position: reader.lastSeq(), pages: this.#followed.pages?.(reader) }
  }
}

/** With more changes than this, all cached values are discarded. */
const FEW = 1_000

/**
 * Cache of values read from entries, so that frequently used ones are read once. The value of an entry that was written since, by any
 * process, is read again.
 */
export class RecentOfEntries<T> {
  readonly #read: (reader: StoreReader, keys: readonly EntryKey[]) => readonly T[]
  readonly #keyOf: (row: T) => EntryKey
  readonly #isKept: (row: T) => boolean
  readonly #rows: Recent<EntryKey, T>
  readonly #feed = new FeedFollower({
    clear: () => this.#rows.clear(),
    take: (_, changed) => {
      for (const entry of changed.keys()) this.#rows.delete(entry)
    },
    most: () => FEW,
  })

  /** `read` gives the values of entries that exist. */
  constructor(
    most: number,
    read: (reader: StoreReader, keys: readonly EntryKey[]) => readonly T[],
    keyOf: (row: T) => EntryKey,
    isKept: (row: T) => boolean = () => true,
  ) {
    this.#rows = new Recent(most)
    this.#read = read
    this.#keyOf = keyOf
    this.#isKept = isKept
  }

  /** Values of those entries that exist, in the order of the keys. */
  get(reader: StoreReader, keys: readonly EntryKey[]): readonly T[] {
    this.#feed.follow(reader)
    const known = keys.map(key => this.#rows.find(key))
    const missing = keys.filter((_, at) => known[at] === undefined)
    if (missing.length === 0) return known as T[]
    const read = new Map(this.#read(reader, missing).map(row => [this.#keyOf(row), row]))
    for (const [key, row] of read) if (this.#isKept(row)) this.#rows.set(key, row)
    return keys.flatMap((key, at) => known[at] ?? read.get(key) ?? [])
  }
}

/** Code for an entry whose value is missing; code 0: no such entry. */
const MISSING = 1

/**
 * JSON values of entries, stored as numbers: equal values share a number, so a condition is tested once per distinct value. 4 bytes per
 * key.
 */
export class ValueColumn {
  #numbers = new Uint32Array(1024)
  readonly #values: (Json | undefined)[] = [undefined, undefined]
  readonly #numberOf = new Map<string, number>()

  /** Sets the value of an entry; undefined: the entry exists, but has no value. */
  set(entry: EntryKey, value: Json | undefined): void {
    if (entry >= this.#numbers.length) this.#numbers = grown(this.#numbers, entry + 1)
    this.#numbers[entry] = value === undefined ? MISSING : this.#number(value)
  }

  delete(entry: EntryKey): void {
    if (entry < this.#numbers.length) this.#numbers[entry] = 0
  }

  /** Entries whose value passes the test. Cost: one test per distinct value, and one look-up per key. */
  where(test: (value: Json | undefined) => boolean): Bitset {
    const passes = this.#values.map((value, number) => number > 0 && test(value))
    const set = new Bitset(this.#numbers.length)
    for (let entry = 0; entry < this.#numbers.length; entry++) {
      if (passes[this.#numbers[entry] as number]) set.add(entry)
    }
    return set
  }

  #number(value: Json): number {
    const text = JSON.stringify(value)
    const known = this.#numberOf.get(text)
    if (known !== undefined) return known
    this.#numberOf.set(text, this.#values.length)
    return this.#values.push(value) - 1
  }
}

/** Rows read in one step. */
const ROWS_AT_ONCE = 4096
/** With more changes than this, and more than `CHANGES_PER_ROW` for each row, all rows are loaded again. */
const MAX_FOLLOWED = 10_000
const CHANGES_PER_ROW = 2
/** Number of cached lists, one for each set of partitions requested. */
const LISTS = 64

export interface RowOf {
  readonly entry: EntryKey
  readonly partition: PartitionId
}

/** Rows of one partition by entry, with the number of their changes. */
interface PartitionRows<T> {
  readonly rows: Map<EntryKey, T>
  changes: number
}

/** The rows of a table of entries in memory, one object per row, by partition: a request for some partitions touches no row of others. */
export class TableRows<T extends RowOf> {
  readonly #store: Store
  readonly #table: TableDeclaration
  readonly #columns: readonly string[]
  readonly #make: (row: Row, partition: PartitionId) => T
  readonly #byEntry = new Map<EntryKey, T>()
  readonly #byPartition = new Map<PartitionId, PartitionRows<T>>()
  readonly #lists = new Recent<string, { readonly changes: number; readonly rows: readonly T[] }>(LISTS)
  readonly #feed = new FeedFollower({
    clear: () => {
      for (const entry of this.#byEntry.keys()) this.#delete(entry)
    },
    pages: reader => this.#pages(reader),
    take: (reader, changed) => {
      for (const entry of changed.keys()) this.#delete(entry)
      const page = { entries: [...changed.keys()], columns: this.#columns }
      this.#put(reader.table(this.#table).scan({}, page), entry => changed.get(entry))
    },
    most: () => Math.max(MAX_FOLLOWED, CHANGES_PER_ROW * this.#byEntry.size),
  })

  /** `columns` must contain `entry`; the key of `table` is `entry`. */
  constructor(
    store: Store,
    table: TableDeclaration,
    columns: readonly string[],
    make: (row: Row, partition: PartitionId) => T,
  ) {
    this.#store = store
    this.#table = table
    this.#columns = columns
    this.#make = make
  }

  /** The committed rows of these partitions, by ascending entry. The same list object until one of its rows changes. */
  visible(partitions: readonly PartitionId[]): readonly T[] {
    this.#feed.refresh(this.#store)
    const found = partitions.flatMap(partition => this.#byPartition.get(partition) ?? [])
    const changes = found.reduce((sum, { changes }) => sum + changes, 0)
    const key = partitions.join()
    const known = this.#lists.find(key)
    if (known?.changes === changes) return known.rows
    const rows = found.flatMap(({ rows }) => [...rows.values()]).sort((a, b) => a.entry - b.entry)
    this.#lists.set(key, { changes, rows })
    return rows
  }

  *#pages(reader: StoreReader): Generator {
    const partitionOf = atOnce(partitionOfAll(reader))
    for (const rows of tablePages(reader, this.#table, this.#columns, ROWS_AT_ONCE)) {
      this.#put(rows, partitionOf)
      yield
    }
  }

  #put(rows: readonly Row[], partitionOf: (entry: EntryKey) => PartitionId | undefined): void {
    for (const row of rows) {
      const entry = row['entry'] as EntryKey
      const partition = partitionOf(entry)
      if (partition === undefined) continue
      const made = this.#make(row, partition)
      this.#byEntry.set(entry, made)
      const within = this.#byPartition.get(partition) ?? { rows: new Map<EntryKey, T>(), changes: 0 }
      within.rows.set(entry, made)
      within.changes++
      this.#byPartition.set(partition, within)
    }
  }

  #delete(entry: EntryKey): void {
    const within = this.#byPartition.get(this.#byEntry.get(entry)?.partition ?? -1)
    if (within === undefined) return
    this.#byEntry.delete(entry)
    within.rows.delete(entry)
    within.changes++
  }
}

const SETS = new WeakMap<readonly RowOf[], Bitset>()

/** The entries of these rows as a set; computed once per list. */
export function entrySet(rows: readonly RowOf[]): Bitset {
  const known = SETS.get(rows)
  if (known !== undefined) return known
  const made = Bitset.of(rows.map(({ entry }) => entry))
  SETS.set(rows, made)
  return made
}
