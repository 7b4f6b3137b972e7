/**
 * Values of entries kept in memory by entry key, in step with the store: all values are read on first use, and afterwards those of entries
 * that the store's change feed reports as committed since, by any process. All code that keeps columns or rows of many entries in memory
 * uses this module.
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

/** Number of changes from the store's change feed that are applied between two pauses: some milliseconds of work. */
const CHANGES_AT_ONCE = 250

/**
 * The entries added, changed or deleted after a position in the store's change feed, except by new vectors. Null: the feed no longer has
 * these changes, or there are more than `most`.
 */
export function entriesChangedAfter(reader: StoreReader, position: number, most?: number): FeedNews | null {
  if (!reachesBack(reader, position, most)) return null
  return atOnce(readFeed(reader, position, ({ kind }) => kind !== 'vectors'))
}

export interface Followed {
  /** Discards all values; called before they are loaded again. */
  clear(): void
  /**
   * Reads all values after `clear`, one page for each call of `next`, from the reader passed to `next`. Entries committed while this goes
   * on are passed to `take` afterwards. Absent where values are read on demand.
   */
  readonly pages?: (reader: StoreReader) => Iterator<unknown, unknown, StoreReader>
  /**
   * Reads the values of added, changed or deleted entries again. Each entry is given with its partition (the number of its audience); for a
   * deleted entry this is the last one that it had.
   */
  take(reader: StoreReader, changed: ReadonlyMap<EntryKey, PartitionId>): void
  /** Number of changes above which loading all values again is cheaper than applying the changes. */
  most(): number
}

interface Loading {
  readonly pages: Iterator<unknown, unknown, StoreReader> | undefined
  readonly position: number
}

/**
 * Keeps values in step with the store: has a position in the store's change feed, and applies the changes after it. New vectors of an entry
 * do not count as a change of the entry.
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

  /**
   * `damage`: what happens where rows of the store are damaged: `left out` ignores the rows, `thrown` makes the read throw `store_corrupt`.
   */
  constructor(followed: Followed, damage: 'left out' | 'thrown' = 'left out') {
    this.#followed = followed
    this.#within = damage === 'thrown' ? (_, body) => body() : aroundDamage
  }

  /**
   * Position in the store's change feed (the list of all committed changes) up to which changes have been applied; -1: values are not
   * completely loaded yet.
   */
  get position(): number {
    return this.#position
  }

  /** Applies all changes committed since the last call; takes microseconds when there are none. */
  refresh(store: Store): void {
    const version = store.version()
    if (version === this.#version) return
    store.read(reader => this.follow(reader))
    this.#version = version
  }

  /**
   * Applies all changes committed since the last call, pausing after each page, with a separate read of the store for each page. Changes
   * written during the pauses are applied at the end.
   */
  *refreshInSteps(store: Store): Steps<void> {
    if (store.version() === this.#version) return
    while (store.read(reader => this.advance(reader))) yield
    this.refresh(store)
  }

  /** Applies all changes committed since the last call, within a read or write of the store that is already open. */
  follow(reader: StoreReader): void {
    while (this.advance(reader));
  }

  /**
   * Loads one page of values, or applies one batch of changes, for callers that pause in between. Returns false when nothing is left to do:
   * all changes that this reader sees were applied before.
   */
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

  /** Makes the next call load all values again. */
  reset(): void {
    this.#position = -1
    this.#loading = null
  }

  /**
   * Loads one page of values. After the last page, the position is set to the one that the feed had when loading began, so that later
   * changes are applied. Loading that fails starts again from the beginning.
   */
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

/** Number of changes above which all cached values are discarded. */
const FEW = 1_000

/**
 * A cache of values read from entries, which reads frequently used values only once. When an entry was written since, by any process, its
 * value is read again.
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

  /**
   * `most`: the largest number of cached values. `read` reads the values of those entries that exist; `isKept` decides whether a value is
   * cached.
   */
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

  /** The values of those of the given entries that exist, in the order of `keys`. */
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

/** Number stored for an entry that exists but has no value; the number 0 means that there is no entry. */
const MISSING = 1

/**
 * JSON values of entries, each stored as a number of 4 bytes per entry key. Equal values have the same number, so a condition is tested
 * only once for each distinct value.
 */
export class ValueColumn {
  #numbers = new Uint32Array(1024)
  readonly #values: (Json | undefined)[] = [undefined, undefined]
  readonly #numberOf = new Map<string, number>()

  /** Sets the value of an entry; `undefined`: the entry exists, but has no value. */
  set(entry: EntryKey, value: Json | undefined): void {
    if (entry >= this.#numbers.length) this.#numbers = grown(this.#numbers, entry + 1)
    this.#numbers[entry] = value === undefined ? MISSING : this.#number(value)
  }

  delete(entry: EntryKey): void {
    if (entry < this.#numbers.length) this.#numbers[entry] = 0
  }

  /** The entries whose value passes the test. Cost: one call of the test per distinct value, and one look-up per entry key. */
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

/** Number of rows read between two pauses. */
const ROWS_AT_ONCE = 4096
/** All rows are loaded again when there are more changes than MAX_FOLLOWED and also more than CHANGES_PER_ROW for each row in memory. */
const MAX_FOLLOWED = 10_000
const CHANGES_PER_ROW = 2
/** Number of lists of rows that are cached, one for each set of partitions that was requested. */
const LISTS = 64

export interface RowOf {
  readonly entry: EntryKey
  readonly partition: PartitionId
}

/** The rows of one partition (the entries of one audience) by entry key, with a count of all changes made to these rows. */
interface PartitionRows<T> {
  readonly rows: Map<EntryKey, T>
  changes: number
}

/**
 * The rows of a table kept in memory, one object per row, grouped by partition, so that a request for some partitions touches no row of
 * others. The table has at most one row per entry.
 */
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

  /** `table` must have the key `entry`, and `columns` must contain `entry`. `make` makes the object kept for a row. */
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

  /**
   * The committed rows of the given partitions, in ascending order of entry keys. Returns the same list object until one of these rows
   * changes.
   */
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

/** The entry keys of the given rows as a set. The set is kept with the list object, so it is computed once for each list. */
export function entrySet(rows: readonly RowOf[]): Bitset {
  const known = SETS.get(rows)
  if (known !== undefined) return known
  const made = Bitset.of(rows.map(({ entry }) => entry))
  SETS.set(rows, made)
  return made
}
