/**
 * A table of entries' rows in memory, one value a row. Follows the change feed, so a question reads only what changed since
 * the last one.
 */
import { Bitset } from '../../base/bitset.ts'
import type { EntryKey } from '../../model/entry.ts'
import type { PartitionId } from '../../model/partition.ts'
import type { Row, TableDeclaration } from '../../model/table.ts'
import { LOCAL_OWNER } from '../../model/viewer.ts'
import { aroundDamage } from '../../pipeline/around-damage.ts'
import { changesOrNull } from '../../pipeline/feed.ts'
import type { Store, StoreReader } from '../../store/store.ts'

const PAGE = 4096
const FEED_PAGE = 1000

export interface RowOf {
  readonly entry: EntryKey
  readonly partition: PartitionId
}

export class EntryRows<T extends RowOf> {
  readonly #store: Store
  readonly #table: TableDeclaration
  readonly #columns: readonly string[]
  readonly #make: (row: Row, partition: PartitionId) => T
  readonly #byEntry = new Map<EntryKey, T>()
  #version = -1
  #position = -1
  #visible = new Map<string, readonly T[]>()

  /** `columns` with `entry` among them; `table` is keyed by it. */
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

  /** By entry ascending. The same list until something changes. */
  visible(partitions: readonly PartitionId[]): readonly T[] {
    this.#follow()
    const key = partitions.join()
    const known = this.#visible.get(key)
    if (known !== undefined) return known
    const wanted = new Set(partitions)
    const seen = [...this.#byEntry.values()].filter(({ partition }) => wanted.has(partition))
    this.#visible.set(
      key,
      seen.sort((a, b) => a.entry - b.entry),
    )
    return seen
  }

  #follow(): void {
    const version = this.#store.version()
    if (version === this.#version) return
    this.#store.read(reader =>
      aroundDamage(reader, () => {
        if (this.#position < 0 || !this.#replay(reader)) this.#load(reader)
      }),
    )
    this.#version = version
  }

  #load(reader: StoreReader): void {
    const partitionOf = new Map<EntryKey, PartitionId>()
    for (const { id } of reader.partitions()) {
      const sight = { viewer: LOCAL_OWNER, partitions: [id] }
      for (const entry of reader.matching(sight, { op: 'and', of: [] })) partitionOf.set(entry, id)
    }
    this.#byEntry.clear()
    for (let after: Row | undefined; ; ) {
      const rows = reader.table(this.#table).scan({}, { after, limit: PAGE, columns: this.#columns })
      this.#take(rows, partitionOf)
      const last = rows.at(-1)
      if (last === undefined || rows.length < PAGE) break
      after = { entry: last['entry'] ?? null }
    }
    this.#position = reader.lastSeq()
    this.#visible = new Map()
  }

  /** False when the feed no longer reaches back. */
  #replay(reader: StoreReader): boolean {
    if (this.#position > reader.lastSeq() || reader.firstSeq() > this.#position + 1) return false
    const changed = new Map<EntryKey, PartitionId>()
    for (;;) {
      const page = changesOrNull(reader, this.#position, FEED_PAGE)
      if (page === null) return false
      for (const { seq, kind, entry, partition } of page) {
        if (kind !== 'vectors') changed.set(entry, partition)
        this.#position = seq
      }
      if (page.length < FEED_PAGE) break
    }
    if (changed.size === 0) return true
    const rows = reader.table(this.#table).scan({}, { entries: [...changed.keys()], columns: this.#columns })
    const hadAny = [...changed.keys()].map(entry => this.#byEntry.delete(entry)).includes(true)
    this.#take(rows, changed)
    if (hadAny || rows.length > 0) this.#visible = new Map()
    return true
  }

  #take(rows: readonly Row[], partitionOf: ReadonlyMap<EntryKey, PartitionId>): void {
    for (const row of rows) {
      const entry = row['entry'] as EntryKey
      const partition = partitionOf.get(entry)
      if (partition !== undefined) this.#byEntry.set(entry, this.#make(row, partition))
    }
  }
}

const BITSETS = new WeakMap<readonly RowOf[], Bitset>()

/** Their entries as a set; made once a list. */
export function entrySet(rows: readonly RowOf[]): Bitset {
  const known = BITSETS.get(rows)
  if (known !== undefined) return known
  const made = Bitset.of(rows.map(({ entry }) => entry))
  BITSETS.set(rows, made)
  return made
}
