/** Entries in SQLite. */
import { type JsonObject, sha256 } from '../../base/canonical.ts'
import { isStorable } from '../../base/storable.ts'
import type { Entry, EntryIdentity, EntryKey, EntryValidity } from '../../model/entry.ts'
import type { PartitionId } from '../../model/partition.ts'
import type { SoundDraft } from '../check.ts'
import { addLookups, lookupsOf, replaceLookups } from './lookups.ts'
import type { SqlitePartitions } from './partitions.ts'
import type { SqlDatabase } from './sql-driver.ts'
import { inOrder, keyList, limitOf } from './values.ts'

const SELECT = `select e.key, e.partition, e.id, e.holder, e.collection, e.kind, e.title, e.origin,
    e.created_at, e.updated_at, e.valid_from, e.valid_until, e.known_at,
    b.content, b.content_hash, b.tags, b.metadata
  from entries e join bodies b on b.entry = e.key`

type Row = readonly [
  key: EntryKey,
  partition: PartitionId,
  id: string,
  holder: string,
  collection: string,
  kind: string,
  title: string,
  origin: string | null,
  createdAt: number,
  updatedAt: number,
  validFrom: number | null,
  validUntil: number | null,
  knownAt: number,
  content: string,
  contentHash: string,
  tags: string,
  metadata: string,
]

export class SqliteEntries {
  readonly #db: SqlDatabase
  readonly #partitions: SqlitePartitions

  constructor(db: SqlDatabase, partitions: SqlitePartitions) {
    this.#db = db
    this.#partitions = partitions
  }

  get(key: EntryKey): Entry | undefined {
    const row = this.#db.prepareArrays<Row>(`${SELECT} where e.key = ?`).get(key)
    return row && this.#entryOf(row)
  }

  byKey(keys: readonly EntryKey[]): readonly Entry[] {
    const rows = this.#db
      .prepareArrays<Row>(`${SELECT} where e.key in (select value from json_each(?))`)
      .all(keyList(keys))
    return inOrder(keys, rows, ([key]) => key).map(row => this.#entryOf(row))
  }

  identities(keys: readonly EntryKey[]): readonly EntryIdentity[] {
    const rows = this.#db
      .prepareArrays<[number, string, string, string, string | null]>(
        `select key, id, holder, collection, origin from entries where key in (select value from json_each(?))`,
      )
      .all(keyList(keys))
      .map(([key, id, holder, collection, origin]) => ({ key, id, holder, collection, origin }))
    return inOrder(keys, rows, row => row.key)
  }

  metadata(keys: readonly EntryKey[]): readonly Pick<Entry, 'key' | 'metadata'>[] {
    const rows = this.#db
      .prepareArrays<[number, string]>(
        'select entry, metadata from bodies where entry in (select value from json_each(?))',
      )
      .all(keyList(keys))
    return inOrder(keys, rows, ([key]) => key).map(([key, metadata]) => ({ key, metadata: JSON.parse(metadata) }))
  }

  validities(keys: readonly EntryKey[] | null): readonly EntryValidity[] {
    const some = keys === null ? '' : 'and key in (select value from json_each(?))'
    const rows = this.#db
      .prepareArrays<[number, number | null, number | null]>(
        `select key, valid_from, valid_until from entries
         where (valid_from is not null or valid_until is not null) ${some} order by key`,
      )
      .all(...(keys === null ? [] : [keyList(keys)]))
      .map(([key, from, until]) => ({ key, from, until }))
    return keys === null ? rows : inOrder(keys, rows, row => row.key)
  }

  scan(after: EntryKey, limit: number): readonly EntryKey[] {
    return this.#keys('select key from entries where key > ? order by key limit ?', after, limitOf(limit))
  }

  newest(): EntryKey {
    return this.#db.prepareArrays<[number | null]>('select max(key) from entries').get()?.[0] ?? 0
  }

  find(id: string, partitions: readonly PartitionId[]): readonly EntryKey[] {
    // SQLite would be given another text, and that may be the id of another entry.
    if (!isStorable(id)) return []
    // Asked for whether there is such an id or not: in the statement only where there is, and the time it takes would tell.
    const inSight = setOf(partitions)
    return this.#db
      .prepareArrays<[EntryKey, PartitionId]>('select key, partition from entries where id = ? order by holder')
      .all(id)
      .flatMap(([key, partition]) => (inSight.has(partition) ? [key] : []))
  }

  keyOf(holder: string, id: string): EntryKey | undefined {
    return this.#keys('select key from entries where id = ? and holder = ?', id, holder)[0]
  }

  partitionOf(key: EntryKey): PartitionId | undefined {
    return this.#keys('select partition from entries where key = ?', key)[0]
  }

  insert(draft: SoundDraft, partition: PartitionId): EntryKey {
    const { lastKey } = this.#db
      .prepare(
        `insert into entries (partition, collection, kind, title, origin, created_at, updated_at,
           valid_from, valid_until, known_at, id, holder)
         values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      )
      .run(...narrow(draft, partition), draft.id, draft.audience.holder)
    this.#db
      .prepare('insert into bodies (content, content_hash, tags, metadata, entry) values (?, ?, ?, ?, ?)')
      .run(...wide(draft), lastKey)
    addLookups(this.#db, lastKey, lookupsOf(draft.tags, draft.metadata))
    return lastKey
  }

  update(key: EntryKey, draft: SoundDraft, partition: PartitionId): void {
    this.#db
      .prepare(
        `update entries set partition = ?, collection = ?, kind = ?, title = ?, origin = ?, created_at = ?,
           updated_at = ?, valid_from = ?, valid_until = ?, known_at = ?
         where key = ?`,
      )
      .run(...narrow(draft, partition), key)
    this.#db
      .prepare('update bodies set content = ?, content_hash = ?, tags = ?, metadata = ? where entry = ?')
      .run(...wide(draft), key)
    replaceLookups(this.#db, key, lookupsOf(draft.tags, draft.metadata))
  }

  /** With everything that refers to it. */
  delete(key: EntryKey): void {
    this.#db.prepare('delete from entries where key = ?').run(key)
  }

  #entryOf([
    key,
    partition,
    id,
    holder,
    collection,
    kind,
    title,
    origin,
    createdAt,
    updatedAt,
    validFrom,
    validUntil,
    knownAt,
    content,
    contentHash,
    tags,
    metadata,
  ]: Row): Entry {
    return {
      key,
      partition,
      id,
      collection,
      kind,
      title,
      content,
      contentHash,
      tags: JSON.parse(tags) as string[],
      metadata: JSON.parse(metadata) as JsonObject,
      audience: this.#partitions.audienceOf(partition, holder),
      origin,
      createdAt,
      updatedAt,
      validFrom,
      validUntil,
      knownAt,
    }
  }

  #keys(sql: string, ...values: readonly (number | string)[]): readonly number[] {
    return this.#db
      .prepareArrays<[number]>(sql)
      .all(...values)
      .map(([key]) => key)
  }
}

/** Values of the row in `entries`, in the order of both statements above. */
function narrow(draft: SoundDraft, partition: PartitionId): readonly (string | number | null)[] {
  const { collection, kind, title, origin, createdAt, updatedAt, validFrom, validUntil, knownAt } = draft
  return [partition, collection, kind, title, origin, createdAt, updatedAt, validFrom, validUntil, knownAt]
}

/** Values of the row in `bodies`, likewise. */
function wide(draft: SoundDraft): readonly string[] {
  return [draft.content, sha256(draft.content), JSON.stringify(draft.tags), draft.metadataJson]
}

/** Lists of partitions are a viewer's for as long as it may read the same, and may name thousands. */
const SETS = new WeakMap<readonly PartitionId[], ReadonlySet<PartitionId>>()

function setOf(partitions: readonly PartitionId[]): ReadonlySet<PartitionId> {
  const known = SETS.get(partitions)
  if (known !== undefined) return known
  const made = new Set(partitions)
  SETS.set(partitions, made)
  return made
}
