/** Entries in SQLite, and the rows that repeat their tags and metadata for filters. */
import { type Json, type JsonObject, sha256 } from '../../base/canonical.ts'
import { isStorable } from '../../base/storable.ts'
import type { Entry, EntryIdentity, EntryKey, EntryValidity } from '../../model/entry.ts'
import type { QuerentError } from '../../model/errors.ts'
import type { PartitionId } from '../../model/partition.ts'
import type { SoundDraft } from '../check.ts'
import type { SqlDatabase, SqlValue } from './node-sqlite.ts'
import {
  checked,
  type DamagePolicy,
  damaged,
  inOrder,
  isDamage,
  isWhole,
  limitOf,
  nextKey,
  rowsByKey,
  truthValue,
} from './rows.ts'
import type { SqlitePartitions } from './vectors.ts'

const NARROW = ['partition', 'id', 'holder', 'collection', 'kind', 'title', 'origin']
  .concat(['created_at', 'updated_at', 'valid_from', 'valid_until', 'known_at'])
  .map(name => `e.${name}`)
  .join(', ')
/** Columns in the order in which check sums are computed over them, which is that of the tables. */
const SELECT = `select e.key, ${NARROW}, e._check, b.entry, b.content, b.content_hash, b.tags, b.metadata, b._check
  from entries e left join bodies b on b.entry = e.key`
const BOUNDED = '(e.valid_from is not null or e.valid_until is not null)'
const SELECT_NARROW = `select e.key, ${NARROW}, e._check from entries e`

type NarrowRow = readonly [
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
  check: number,
]
type BodyRow = readonly [
  entry: EntryKey,
  content: string,
  contentHash: string,
  tags: string,
  metadata: string,
  check: number,
]
type Row = readonly [...NarrowRow, ...BodyRow]
const NARROW_CELLS = 14

export class SqliteEntries {
  readonly #db: SqlDatabase
  readonly #partitions: SqlitePartitions
  readonly #damage: DamagePolicy

  constructor(db: SqlDatabase, partitions: SqlitePartitions, damage: DamagePolicy) {
    this.#db = db
    this.#partitions = partitions
    this.#damage = damage
  }

  get(key: EntryKey): Entry | undefined {
    return this.byKey([key])[0]
  }

  byKey(keys: readonly EntryKey[]): readonly Entry[] {
    return this.#sound(SELECT, 'e.key', keys, (row: Row) => this.#entryOf(row))
  }

  identities(keys: readonly EntryKey[]): readonly EntryIdentity[] {
    return this.#sound(SELECT_NARROW, 'e.key', keys, (row: NarrowRow) => {
      this.#mustBeWhole(row)
      const [key, partition, id, holder, collection, , , origin] = row
      return { key, partition, id, holder, collection, origin }
    })
  }

  metadata(keys: readonly EntryKey[]): readonly Pick<Entry, 'key' | 'metadata'>[] {
    const select = 'select entry, content, content_hash, tags, metadata, _check from bodies'
    return this.#sound(select, 'entry', keys, (row: BodyRow) => {
      this.#mustBeWhole(row)
      return { key: row[0], metadata: JSON.parse(row[4]) as JsonObject }
    })
  }

  validities(keys: readonly EntryKey[]): readonly EntryValidity[] {
    return this.#sound(SELECT_NARROW, `${BOUNDED} and e.key`, keys, (row: NarrowRow) => {
      this.#mustBeWhole(row)
      return { key: row[0], from: row[10], until: row[11] }
    })
  }

  scanBounded(after: EntryKey, limit: number): readonly EntryKey[] {
    const sql = `select e.key from entries e indexed by entries_by_validity where ${BOUNDED} and e.key > ? order by e.key limit ?`
    return this.#keys(sql, after, limitOf(limit))
  }

  /**
   * Keys of entries, ascending. Where the table cannot be read to its end because of damage, they are read from the index by id, which
   * still contains most keys.
   */
  scan(after: EntryKey, limit: number): readonly EntryKey[] {
    try {
      return this.#keys('select key from entries where key > ? order by key limit ?', after, limitOf(limit))
    } catch (error) {
      this.#damage.met(error)
      const sql = 'select key from entries indexed by entries_by_id where key > ? order by key limit ?'
      return this.#keys(sql, after, limitOf(limit))
    }
  }

  newest(): EntryKey {
    return this.#db.prepareArrays<[number | null]>('select max(key) from entries').get()?.[0] ?? 0
  }

  find(id: string, partitions: readonly PartitionId[]): readonly EntryKey[] {
    // An id that cannot be stored belongs to no entry; SQLite would receive a different text, which may be the id of another entry.
    if (!isStorable(id)) return []
    // Access is checked after the SQL statement, whether or not the id exists: a check within the statement would take time only for an
    // existing id, and the difference would reveal that it exists.
    const inAccessScope = setOf(partitions)
    // The statement takes the key from the index and the other columns from the table, so that a damaged index entry that leads to the
    // wrong row is noticed.
    const sql = `select row.key, row.partition, row.id from entries e indexed by entries_by_id
      join entries row on row.key = e.key where e.id = ? order by e.holder`
    return this.#db
      .prepareArrays<[EntryKey, PartitionId, string]>(sql)
      .all(id)
      .flatMap(([key, partition, found]) => {
        if (!inAccessScope.has(partition)) return []
        if (found === id) return [key]
        this.#damage.met(damaged(`entry ${JSON.stringify(id)}`, { id }))
        return []
      })
  }

  keyOf(holder: string, id: string): EntryKey | undefined {
    return this.#keys('select key from entries where id = ? and holder = ?', id, holder)[0]
  }

  partitionOf(key: EntryKey): PartitionId | undefined {
    return this.#keys('select partition from entries where key = ?', key)[0]
  }

  insert(draft: SoundDraft, partition: PartitionId): EntryKey {
    const key = nextKey(this.#db, 'entries')
    this.#db
      .prepare(
        `insert into entries (key, partition, id, holder, collection, kind, title, origin, created_at, updated_at,
           valid_from, valid_until, known_at, _check)
         values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      )
      .run(...checked(narrow(key, draft, partition)))
    this.#db
      .prepare('insert into bodies (entry, content, content_hash, tags, metadata, _check) values (?, ?, ?, ?, ?, ?)')
      .run(...checked(wide(key, draft)))
    addLookups(this.#db, key, lookupsOf(draft.tags, draft.metadata))
    return key
  }

  /**
   * Updates every column of an existing entry. A column that refers to another table is set only where it changes, and a row is never
   * replaced where it exists: for such statements SQLite keeps a journal, and ending it takes time in proportion to everything that the
   * surrounding savepoint has written (20,000 entries of one file took 22 seconds instead of 2).
   */
  update(key: EntryKey, draft: SoundDraft, partition: PartitionId): void {
    const moves = this.partitionOf(key) !== partition
    const [own, place, ...cells] = checked(narrow(key, draft, partition))
    this.#db
      .prepare(
        `update entries set ${moves ? 'partition = ?, ' : ''}id = ?, holder = ?, collection = ?, kind = ?, title = ?, origin = ?,
           created_at = ?, updated_at = ?, valid_from = ?, valid_until = ?, known_at = ?, _check = ?
         where key = ?`,
      )
      .run(...(moves ? [place as PartitionId] : []), ...cells, own as EntryKey)
    const body = checked(wide(key, draft))
    const { changes } = this.#db
      .prepare('update bodies set content = ?, content_hash = ?, tags = ?, metadata = ?, _check = ? where entry = ?')
      .run(...body.slice(1), key)
    if (changes === 0) {
      this.#db
        .prepare('insert into bodies (entry, content, content_hash, tags, metadata, _check) values (?, ?, ?, ?, ?, ?)')
        .run(...body)
    }
    replaceLookups(this.#db, key, lookupsOf(draft.tags, draft.metadata))
  }

  /** Deletes an entry; by foreign keys, SQLite deletes all rows that refer to it too. */
  delete(key: EntryKey): void {
    this.#db.prepare('delete from entries where key = ?').run(key)
  }

  /** Undamaged rows of entries, in the order of their keys; each damaged row is handled by the damage policy. */
  #sound<R extends readonly SqlValue[], T>(
    select: string,
    column: string,
    keys: readonly EntryKey[],
    take: (row: R) => T,
  ): T[] {
    const rows = rowsByKey<R>(this.#db, `${select} where ${column}`, keys, this.#damage)
    const found: T[] = []
    for (const row of inOrder(keys, rows, cells => cells[0] as EntryKey)) {
      try {
        found.push(take(row))
      } catch (error) {
        this.#damage.met(error)
      }
    }
    return found
  }

  #entryOf(row: Row): Entry {
    if (!isWhole(row, 0, NARROW_CELLS)) throw this.#damaged(row[0])
    const [key, partition, id, holder, collection, kind, title, origin] = row
    if (row[NARROW_CELLS] !== key || !isWhole(row, NARROW_CELLS)) throw this.#damaged(key, id)
    const [
      ,
      ,
      ,
      ,
      ,
      ,
      ,
      ,
      createdAt,
      updatedAt,
      validFrom,
      validUntil,
      knownAt,
      ,
      ,
      content,
      contentHash,
      tags,
      metadata,
    ] = row
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

  /**
   * Throws `store_corrupt` when the row's check sum is wrong. Rows of `entries` and of `bodies` both begin with the entry's key, which the
   * error names.
   */
  #mustBeWhole(row: NarrowRow | BodyRow): void {
    if (!isWhole(row)) throw this.#damaged(row[0])
  }

  /**
   * The error for a damaged row. It names the entry's id, taken from an index that still contains it. Slow, since it reads the whole index.
   */
  #damaged(key: EntryKey, known?: string): QuerentError {
    const id = known ?? nameInIndex(this.#db, key)
    return damaged(id === undefined ? `entry number ${key}` : `entry ${JSON.stringify(id)}`, { id: id ?? null })
  }

  #keys(sql: string, ...values: readonly (number | string)[]): readonly number[] {
    return this.#db
      .prepareArrays<[number]>(sql)
      .all(...values)
      .map(([key]) => key)
  }
}

/** Values of an entry's row in the table `entries`, in the order of its columns. */
function narrow(key: EntryKey, draft: SoundDraft, partition: PartitionId): readonly (string | number | null)[] {
  const { id, audience, collection, kind, title, origin } = draft
  const { createdAt, updatedAt, validFrom, validUntil, knownAt } = draft
  return [
    ...[key, partition, id, audience.holder, collection, kind, title, origin],
    ...[createdAt, updatedAt, validFrom, validUntil, knownAt],
  ]
}

/** Values of an entry's row in the table `bodies`, in the order of its columns. */
function wide(key: EntryKey, draft: SoundDraft): readonly (string | number)[] {
  return [key, draft.content, sha256(draft.content), JSON.stringify(draft.tags), draft.metadataJson]
}

function nameInIndex(db: SqlDatabase, key: EntryKey): string | undefined {
  try {
    const sql = 'select id from entries indexed by entries_by_id where +key = ?'
    return db.prepareArrays<[string]>(sql).get(key)?.[0]
  } catch (error) {
    if (isDamage(error)) return undefined
    throw error
  }
}

/**
 * Sets made from lists of partitions, cached by list object: a viewer keeps one list object while its access is unchanged, and the list may
 * contain thousands of partitions.
 */
const SETS = new WeakMap<readonly PartitionId[], ReadonlySet<PartitionId>>()

function setOf(partitions: readonly PartitionId[]): ReadonlySet<PartitionId> {
  const known = SETS.get(partitions)
  if (known !== undefined) return known
  const made = new Set(partitions)
  SETS.set(partitions, made)
  return made
}

export interface Lookups {
  readonly tags: readonly string[]
  /**
   * Values in an entry's metadata, with their paths: the keys from the outermost to the innermost, joined by points, as in the filter field
   * `metadata.<path>`.
   */
  readonly values: readonly (readonly [path: string, value: SqlValue])[]
}

export function lookupsOf(tags: readonly string[], metadata: JsonObject): Lookups {
  return { tags, values: scalarsIn(metadata) }
}

function addLookups(db: SqlDatabase, entry: EntryKey, { tags, values }: Lookups): void {
  const addTag = db.prepare('insert into entry_tags (tag, entry) values (?, ?)')
  for (const tag of tags) addTag.run(tag, entry)
  const addValue = db.prepare('insert into entry_values (path, value, entry) values (?, ?, ?)')
  for (const [path, value] of values) addValue.run(path, value, entry)
}

/** Replaces the rows of an entry by which filters find its tags and metadata values. */
export function replaceLookups(db: SqlDatabase, entry: EntryKey, lookups: Lookups): void {
  db.prepare('delete from entry_tags where entry = ?').run(entry)
  db.prepare('delete from entry_values where entry = ?').run(entry)
  addLookups(db, entry, lookups)
}

/** Scalars in metadata with their paths, each pair once. A key that contains a point is left out, since filters cannot name it. */
function scalarsIn(metadata: JsonObject): Lookups['values'] {
  const found = new Map<string, readonly [string, SqlValue]>()
  const add = (path: string, value: Json): void => {
    if (value === null || typeof value === 'object') return
    found.set(JSON.stringify([path, value]), [path, typeof value === 'boolean' ? truthValue(value) : value])
  }
  const visit = (object: JsonObject, prefix: string): void => {
    for (const [key, value] of Object.entries(object)) {
      if (key.includes('.')) continue
      const path = `${prefix}${key}`
      if (Array.isArray(value)) for (const item of value as readonly Json[]) add(path, item)
      else if (value !== null && typeof value === 'object') visit(value as JsonObject, `${path}.`)
      else add(path, value)
    }
  }
  visit(metadata, '')
  return [...found.values()]
}
