/**
 * The tables of a store file. Most tables have a check sum in every row (`rows.ts`). Schema versions before 3 were never released; from the
 * first release on, every store file must remain readable, so a change of these tables needs a migration.
 */

import { accessSync, constants, existsSync } from 'node:fs'
import { QuerentError } from '../../model/errors.ts'
import { writeMeta } from './changes.ts'
import { IN_MEMORY, type SqlDatabase, type SqlValue } from './node-sqlite.ts'
import { CHECK, isDamage, isWhole } from './rows.ts'

/** SQLite application id that marks a file as a store: `QRNT` in ASCII. */
export const APPLICATION_ID = 0x51524e54

/**
 * The SQL of the tables. Rows of `entries` are short, since filters and lists read many of them; what only a reader of a single entry needs
 * is in `bodies`. `entry_tags` and `entry_values` repeat tags and metadata for filters: one row per tag, and one per scalar in the metadata
 * by its path; in these, a number is REAL, text is TEXT and a boolean is a BLOB of one byte, so that SQLite's order of storage classes
 * keeps the types apart. The key of a vector combines its chunk and its model in one number (`vectorKey`), so that reading each of the 60
 * vectors that a query needs is one descent of one tree. `tallies` holds, for each partition, the number of chunks (as model 0) and of
 * vectors of each model, since counting 100,000 rows takes a tenth of a second.
 *
 * `structure` of a chunk: its lead and sections (`ChunkDraft`) as a JSON object; null where it has neither.
 */
const TABLES = `
create table identity (id text not null) strict;
create table meta (name text primary key, value text not null, ${CHECK} integer) strict, without rowid;
create table declarations (name text primary key, declaration text not null, ${CHECK} integer) strict, without rowid;

create table partitions (
  id integer primary key autoincrement,
  name text not null unique,
  audience text not null,
  ${CHECK} integer
) strict;

create table entries (
  key integer primary key autoincrement,
  partition integer not null references partitions,
  id text not null,
  holder text not null,
  collection text not null,
  kind text not null,
  title text not null,
  origin text,
  created_at integer not null,
  updated_at integer not null,
  valid_from integer,
  valid_until integer,
  known_at integer not null,
  ${CHECK} integer
) strict;
create unique index entries_by_id on entries (id, holder);
create index entries_by_partition on entries (partition, collection, kind, created_at, updated_at);
create index entries_by_collection on entries (collection, partition);
create index entries_by_kind on entries (kind, partition);
create index entries_by_created on entries (created_at, partition);
create index entries_by_updated on entries (updated_at, partition);
create index entries_by_validity on entries (key) where valid_from is not null or valid_until is not null;

create table bodies (
  entry integer primary key references entries on delete cascade,
  content text not null,
  content_hash text not null,
  tags text not null,
  metadata text not null,
  ${CHECK} integer
) strict;

create table entry_tags (
  tag text not null,
  entry integer not null references entries on delete cascade,
  primary key (tag, entry)
) strict, without rowid;
create index entry_tags_by_entry on entry_tags (entry);

create table entry_values (
  path text not null,
  value any not null,
  entry integer not null references entries on delete cascade,
  primary key (path, value, entry)
) strict, without rowid;
create index entry_values_by_entry on entry_values (entry);

create table chunks (
  key integer primary key autoincrement,
  entry integer not null references entries on delete cascade,
  ordinal integer not null,
  start_unit integer not null,
  end_unit integer not null,
  start_line integer not null,
  end_line integer not null,
  headings text not null,
  ${CHECK} integer,
  structure text
) strict;
create index chunks_by_entry on chunks (entry, ordinal);

create table models (
  id integer primary key,
  name text not null unique,
  dimensions integer not null,
  ${CHECK} integer
) strict;

create table vectors (
  key integer primary key,
  entry integer not null,
  vector blob not null,
  ${CHECK} integer
) strict;
create trigger vectors_of_chunk after delete on chunks begin
  delete from vectors where key between old.key * 256 and old.key * 256 + 255;
end;

create table tallies (
  partition integer not null references partitions,
  model integer not null,
  count integer not null,
  ${CHECK} integer,
  primary key (partition, model)
) strict, without rowid;

create table access (
  viewer text not null,
  entry integer not null references entries on delete cascade,
  last_accessed integer not null,
  count integer not null,
  strength real not null,
  ${CHECK} integer,
  primary key (viewer, entry)
) strict, without rowid;
create index access_by_entry on access (entry);

create table changes (
  seq integer primary key autoincrement,
  entry integer not null,
  kind text not null,
  partition integer not null,
  from_partition integer,
  at integer not null,
  ${CHECK} integer
) strict;
`

/** Schema version that this version of the program writes into store files. */
export const SCHEMA = 3

/** Creates the tables where the file is empty, or throws when the file cannot be used. A file that is no store is left unchanged. */
export function prepareSchema(db: SqlDatabase, readOnly: boolean, storeId: string | undefined): void {
  const found = headerOf(db)
  if (readOnly) {
    if (found === null) throw notAStore(db)
    return
  }
  if (found !== null) {
    checkWritable(db)
  } else {
    db.exec('pragma journal_mode = wal')
    db.write(() => {
      // Tested again under the write lock, since another process may have created the tables meanwhile.
      if (headerOf(db) !== null) return
      db.exec(TABLES)
      db.prepare('insert into identity values (coalesce(?, lower(hex(randomblob(16)))))').run(storeId ?? null)
      db.exec(`pragma application_id = ${APPLICATION_ID}; pragma user_version = ${SCHEMA}`)
    })
  }
  renewSchemaCopy(db, found?.cookie)
}

/**
 * Schema cookie (SQLite's counter of schema changes) of a store file of this version; null: the file is empty. Throws for any other file.
 */
function headerOf(db: SqlDatabase): { readonly cookie: number } | null {
  const sql = `select application_id, user_version, schema_version
    from pragma_application_id, pragma_user_version, pragma_schema_version`
  const [application, version, cookie] = db.prepareArrays<[number, number, number]>(sql).get() ?? [0, 0, 0]
  if (application !== APPLICATION_ID) {
    const isEmpty =
      application === 0 && version === 0 && db.prepareArrays('select 1 from sqlite_schema').get() === undefined
    if (!isEmpty) throw notAStore(db)
    return null
  }
  if (version > SCHEMA) {
    const message = `${db.file}: has schema ${version}; this version knows up to ${SCHEMA}`
    throw new QuerentError('store_newer', message, { found: version, supported: SCHEMA })
  }
  if (version < SCHEMA) {
    const message = `${db.file}: has schema ${version} of a version before the first release; export it with that version and import it`
    throw new QuerentError('store_corrupt', message, { file: db.file })
  }
  return { cookie }
}

function notAStore(db: SqlDatabase): QuerentError {
  return new QuerentError('store_corrupt', `${db.file}: is a database, but not a Querent store`, { file: db.file })
}

/** The store's own tables whose rows have a check sum; all tables declared by lenses have one too. */
const CHECKED: ReadonlySet<string> = new Set([
  ...['meta', 'declarations', 'partitions', 'entries', 'bodies', 'chunks', 'models', 'vectors', 'tallies'],
  ...['access', 'changes'],
])

/** Names of the tables whose rows have a check sum. */
export function checkedTables(db: SqlDatabase): readonly string[] {
  return db
    .prepareArrays<[string]>(`select name from sqlite_schema where type = 'table' order by name`)
    .all()
    .map(([name]) => name)
    .filter(name => CHECKED.has(name) || name.startsWith('declared_'))
}

export function columnsOf(db: SqlDatabase, table: string): readonly string[] {
  return db
    .prepareArrays<[string]>('select name from pragma_table_info(?)')
    .all(table)
    .map(([name]) => name)
}

// A copy of SQLite's list of tables (`sqlite_schema`) in rows of `meta`, each with its check sum: without that list no table can be found,
// so one damaged page of it would lose the whole store. The copy is current while its schema cookie (SQLite's counter of schema changes)
// equals that of the file; VACUUM, which moves root pages, advances the cookie too.

/**
 * Prefix of the names of `meta` rows that contain the copy of the list of tables; `AFTER_PREFIX` is the first possible name after all of
 * them, since `0` follows `/` in the order of characters. No text given to the store may contain a NUL, so no other row of a table or index
 * can be mistaken for one of these.
 */
export const COPY_PREFIX = '\0schema/'
const AFTER_PREFIX = '\0schema0'

/** One row of SQLite's list of tables. `root`: number of the root page; 0 for a trigger. */
export interface SchemaPart {
  readonly type: string
  readonly name: string
  readonly table: string
  readonly root: number
  readonly sql: string | null
}

export interface SchemaCopy {
  /** Schema cookie (SQLite's counter of schema changes) that the file had when the copy of its list of tables was made. */
  readonly cookie: number
  readonly parts: readonly SchemaPart[]
  /** Whether all rows of the copy of the list of tables are present and undamaged. */
  readonly isComplete: boolean
}

/**
 * SQL expression for a name as bytes: Node 22 reads a text only up to its first NUL, so where all rows of `meta` are read, their names are
 * read as bytes.
 */
export const NAME_BYTES = 'cast(name as blob)'

export function nameIn(bytes: SqlValue): string {
  return bytes instanceof Uint8Array ? Buffer.from(bytes).toString() : String(bytes)
}

/**
 * Whether a row of `meta` belongs to the copy of the list of tables, by its name as any version of Node reads it. An empty name belongs to
 * the copy, since only these names begin with NUL and so can appear empty.
 */
export function isOfCopy(name: SqlValue): boolean {
  return name === '' || String(name).startsWith(COPY_PREFIX)
}

type MetaRow = readonly [name: string, value: string, check: number]

export function schemaCookie(db: SqlDatabase): number {
  return db.prepareArrays<[number]>('pragma schema_version').get()?.[0] ?? 0
}

/** Reads SQLite's list of tables, indexes and triggers. */
export function schemaParts(db: SqlDatabase): readonly SchemaPart[] {
  const sql = 'select type, name, tbl_name, rootpage, sql from sqlite_schema order by rowid'
  const rows = db.prepareArrays<[string, string, string, number, string | null]>(sql).all()
  return rows.map(([type, name, table, root, made]) => ({ type, name, table, root, sql: made }))
}

/**
 * The newest copy of the list of tables among rows of `meta`; damaged and other rows are skipped, so some of its rows may be missing. Null:
 * there is none.
 */
export function copyAmong(rows: Iterable<readonly SqlValue[]>): SchemaCopy | null {
  const copies = new Map<number, SchemaPart[]>()
  const counts = new Map<number, number>()
  for (const row of rows) {
    const [name, value] = row
    if (typeof name !== 'string' || !name.startsWith(COPY_PREFIX) || typeof value !== 'string') continue
    if (row.length !== 3 || !isWhole(row)) continue
    type Cells = [number, number, number, ...(string | number | null)[]]
    const [cookie, count, place, type, table, root, sql] = JSON.parse(value) as Cells
    counts.set(cookie, count)
    const parts = copies.get(cookie) ?? []
    copies.set(cookie, parts)
    parts[place] = { type, name: name.slice(COPY_PREFIX.length), table, root, sql } as SchemaPart
  }
  if (copies.size === 0) return null
  const cookie = Math.max(...copies.keys())
  const parts = Object.values(copies.get(cookie) as SchemaPart[])
  return { cookie, parts, isComplete: parts.length === counts.get(cookie) }
}

/** The copy of the list of tables that the store's `meta` table contains; null: there is none. */
export function storedCopy(db: SqlDatabase): SchemaCopy | null {
  return copyAmong(metaRows(db))
}

/**
 * Makes the copy of the list of tables again where it is not current: after a change of the schema or a VACUUM, and where damage has
 * affected the copy. A list that differs from the copy although their cookies are equal is damaged itself, so the copy is left unchanged.
 */
export function renewSchemaCopy(db: SqlDatabase, known: number = schemaCookie(db)): void {
  // A database in memory needs no copy, since it has no pages on disk that could be damaged.
  if (db.file === IN_MEMORY || isCurrent(db, known)) return
  db.write(() => {
    const cookie = schemaCookie(db)
    db.prepare('delete from meta where name >= ? and name < ?').run(COPY_PREFIX, AFTER_PREFIX)
    const parts = schemaParts(db)
    for (const [place, { type, name, table, root, sql }] of parts.entries())
      writeMeta(db, COPY_PREFIX + name, JSON.stringify([cookie, parts.length, place, type, table, root, sql]))
  })
}

/**
 * Whether the copy of the list of tables is current. Also true where a page of `meta` is damaged, since the copy cannot be written there.
 */
function isCurrent(db: SqlDatabase, cookie: number): boolean {
  try {
    const copy = storedCopy(db)
    return copy?.cookie === cookie && copy.isComplete
  } catch (error) {
    if (isDamage(error)) return true
    throw error
  }
}

export function isSameSchema(a: readonly SchemaPart[], b: readonly SchemaPart[]): boolean {
  const rows = (parts: readonly SchemaPart[]) =>
    parts.map(({ type, name, table, root, sql }) => JSON.stringify([type, name, table, root, sql])).sort()
  return JSON.stringify(rows(a)) === JSON.stringify(rows(b))
}

function metaRows(db: SqlDatabase): readonly MetaRow[] {
  return db
    .prepareArrays<readonly [Uint8Array, string, number]>(
      `select ${NAME_BYTES}, value, _check from meta where name >= ? and name < ?`,
    )
    .all(COPY_PREFIX, AFTER_PREFIX)
    .map(([name, value, check]) => [nameIn(name), value, check])
}

/**
 * Throws `io_failed` where the file may be written but this connection cannot write it. When SQLite cannot open a file for writing, it
 * silently opens it for reading. That is correct for a read-only file; but where opening failed for a temporary reason (such as too many
 * open files), the connection would refuse every write for as long as it is open.
 */
export function checkWritable(db: SqlDatabase): void {
  try {
    // Tests writing by an update that changes no row, since `begin immediate` alone does nothing on a file opened for reading. The test
    // does not wait for another writer, since a locked file is not a read-only one.
    db.tryToWrite('update identity set id = id where false')
  } catch (error) {
    const code = error instanceof QuerentError ? error.code : ''
    if (code === 'store_locked') return
    if (code !== 'store_readonly') throw error
    if (mayWrite(db.file)) throw openedForReading(db.file, error)
  }
}

/**
 * The error for a store that could not be opened for writing: `store_readonly` where the file's location is not writable, otherwise the
 * given error.
 */
export function orReadOnly(error: unknown, file: string): unknown {
  if (!(error instanceof QuerentError) || error.code !== 'io_failed' || !existsSync(file) || mayWrite(file))
    return error
  return new QuerentError('store_readonly', `${file}: cannot be written (it or its disk is read-only)`, { file }, error)
}

/**
 * Whether a reader failed only because it could not create lock files. Even a reader writes locks beside the file; where it cannot, and no
 * other process has the file open, it can read without locks.
 */
export function isLockless(error: unknown, file: string): boolean {
  const code = error instanceof QuerentError ? error.code : ''
  return (code === 'store_readonly' || code === 'io_failed') && !existsSync(`${file}-wal`)
}

function mayWrite(file: string): boolean {
  try {
    accessSync(file, constants.W_OK)
    return true
  } catch {
    return false
  }
}

function openedForReading(file: string, error: unknown): QuerentError {
  const cause = 'it could be opened for reading only, though it may be written'
  return new QuerentError('io_failed', `${file}: ${cause}; try again`, { path: file, cause }, error)
}
