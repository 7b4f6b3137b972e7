/**
 * The tables of a store file and how older files become like it. A store file of every released schema must open for
 * ever: a migration that was released is never changed, the next one is added behind it.
 */

import { sha256 } from '../../base/canonical.ts'
import { QuerentError } from '../../model/errors.ts'
import { readMeta, writeMeta } from './meta.ts'
import { CHECK, checkOf, isDamage } from './rows.ts'
import { checkWritable, renewSchemaCopy } from './schema-copy.ts'
import type { SqlDatabase, SqlValue } from './sql-driver.ts'

/** Marks the file as ours: `QRNT` in ASCII. */
export const APPLICATION_ID = 0x51524e54

/**
 * The rows of `entries` are narrow, since filters and lists look at many of them; what only a reader of the entry needs
 * is in `bodies`. `entry_tags` and `entry_values` repeat tags and metadata for filters: one row a tag, one a scalar
 * in the metadata by its path. There a number is REAL, text TEXT and a truth value a BLOB of one byte, so that SQLite's
 * own order of storage classes keeps the types apart. The key of a vector is its chunk's and its model's in
 * one number (`vectorKey`), so that reading one of the 60 that a question needs is one step down one tree. `tallies`
 * holds how many chunks (model 0) and vectors of a model a partition has, since counting them takes a tenth of a second
 * in 100,000.
 */
const SCHEMA_1 = `
create table identity (id text not null) strict;
create table meta (name text primary key, value text not null) strict, without rowid;
create table declarations (name text primary key, declaration text not null) strict, without rowid;

create table partitions (
  id integer primary key autoincrement,
  name text not null unique,
  audience text not null
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
  known_at integer not null
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
  metadata text not null
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
  headings text not null
) strict;
create index chunks_by_entry on chunks (entry, ordinal);

create table models (
  id integer primary key,
  name text not null unique,
  dimensions integer not null
) strict;

create table vectors (
  key integer primary key,
  entry integer not null,
  vector blob not null
) strict;
create trigger vectors_of_chunk after delete on chunks begin
  delete from vectors where key between old.key * 256 and old.key * 256 + 255;
end;

create table tallies (
  partition integer not null references partitions,
  model integer not null,
  count integer not null,
  primary key (partition, model)
) strict, without rowid;

create table access (
  viewer text not null,
  entry integer not null references entries on delete cascade,
  last_accessed integer not null,
  count integer not null,
  strength real not null,
  primary key (viewer, entry)
) strict, without rowid;
create index access_by_entry on access (entry);

create table changes (
  seq integer primary key autoincrement,
  entry integer not null,
  kind text not null,
  partition integer not null,
  from_partition integer,
  at integer not null
) strict;
`

/**
 * The lead of a chunk and the sections in it (`ChunkDraft`), as a JSON object; null where it has neither. At the end of the row, where a
 * null leaves the check of the rows that are there as it is.
 */
const SCHEMA_3 = 'alter table chunks add column structure text'

/** The one at place n leads from schema n to n + 1. */
const MIGRATIONS: readonly ((db: SqlDatabase) => void)[] = [db => db.exec(SCHEMA_1), addChecks, db => db.exec(SCHEMA_3)]

/** What a file written by this version has. */
export const SCHEMA: number = MIGRATIONS.length

/** The schema that tables made by these statements have, whatever the head of the file says. */
export function schemaOfTables(statements: readonly string[]): number {
  const isOf3 = statements.some(sql => /^create table "?chunks"?\s/i.test(sql) && /\bstructure\b/.test(sql))
  if (isOf3) return 3
  return statements.some(sql => sql.includes(CHECK)) ? 2 : 1
}

/** Brings the file to this version's schema, or says why it cannot be used. Touches nothing in a file that is not ours. */
export function prepareSchema(db: SqlDatabase, readOnly: boolean, storeId: string | undefined): void {
  const found = schemaOf(db)
  if (found === SCHEMA && (areChecksFilled(db) || !readOnly)) {
    if (readOnly) return
    checkWritable(db)
    fillChecks(db)
    renewSchemaCopy(db)
    return
  }
  if (readOnly) {
    if (found === 0) throw notAStore(db)
    const message = `${db.file}: has the older schema ${found}; open it once for writing to bring it to ${SCHEMA}`
    throw new QuerentError('store_readonly', message, { file: db.file })
  }
  if (found === 0) db.exec('pragma journal_mode = wal')
  db.write(() => {
    // Looked at again under the lock: another process may have been quicker.
    const from = schemaOf(db)
    for (const migrate of MIGRATIONS.slice(from)) migrate(db)
    if (from === 0)
      db.prepare('insert into identity values (coalesce(?, lower(hex(randomblob(16)))))').run(storeId ?? null)
    db.exec(`pragma application_id = ${APPLICATION_ID}; pragma user_version = ${SCHEMA}`)
  })
  fillChecks(db)
  renewSchemaCopy(db)
}

/** The schema of the file, 0 when it is empty. */
function schemaOf(db: SqlDatabase): number {
  const numberOf = (sql: string) => db.prepareArrays<[number]>(sql).get()?.[0] ?? 0
  const application = numberOf('pragma application_id')
  const version = numberOf('pragma user_version')
  if (application !== APPLICATION_ID) {
    const empty = application === 0 && version === 0 && numberOf('select count(*) from sqlite_schema') === 0
    if (!empty) throw notAStore(db)
    return 0
  }
  if (version > SCHEMA) {
    const message = `${db.file}: has schema ${version}; this version knows up to ${SCHEMA}`
    throw new QuerentError('store_newer', message, { found: version, supported: SCHEMA })
  }
  return version
}

function notAStore(db: SqlDatabase): QuerentError {
  return new QuerentError('store_corrupt', `${db.file}: is a database, but not a Querent store`, { file: db.file })
}

// Schema 2: the check of every row (`rows.ts`). The columns come in the migration itself, the checks of the rows
// that are there in portions, each a transaction of its own: a process that is killed on the way leaves the rest to the
// next one that opens the store for writing. Some 10 µs a row.

/** Tables of the store itself whose rows have a check; so has every declared one. */
const CHECKED: ReadonlySet<string> = new Set([
  ...['meta', 'declarations', 'partitions', 'entries', 'bodies', 'chunks', 'models', 'vectors', 'tallies'],
  ...['access', 'changes'],
])
/** In the store's own table once every row has its check. */
const FILLED = 'checks'
/** Rows of one transaction: some 50 ms. */
const AT_ONCE = 4_000

/** Tables whose rows have a check, by name. */
export function checkedTables(db: SqlDatabase): readonly string[] {
  return db
    .prepareArrays<[string]>(`select name from sqlite_schema where type = 'table' order by name`)
    .all()
    .map(([name]) => name)
    .filter(name => CHECKED.has(name) || name.startsWith('declared_'))
}

/** Inside the migration. A column that is there already is kept. */
function addChecks(db: SqlDatabase): void {
  for (const table of checkedTables(db)) {
    if (!columnsOf(db, table).includes(CHECK)) db.exec(`alter table "${table}" add column ${CHECK} integer`)
  }
}

/** It is written last, so where it is there and damaged, all rows had their check. */
function areChecksFilled(db: SqlDatabase): boolean {
  try {
    return readMeta(db, FILLED) !== undefined
  } catch (error) {
    if (isDamage(error)) return true
    throw error
  }
}

function fillChecks(db: SqlDatabase): void {
  if (areChecksFilled(db)) return
  for (const table of checkedTables(db)) fillTable(db, table)
  db.write(() => writeMeta(db, FILLED, 'complete'))
}

function fillTable(db: SqlDatabase, table: string): void {
  const columns = columnsOf(db, table).filter(name => name !== CHECK)
  const keys = keyOf(db, table)
  const list = (names: readonly string[]) => names.join(', ')
  const [key, cells] = [list(keys), list(columns.map(name => `"${name}"`))]
  const marks = list(keys.map(() => '?'))
  const select = (behind: string) =>
    `select ${key}, ${cells} from "${table}" where ${behind} ${CHECK} is null order by ${key} limit ${AT_ONCE}`
  const update = `update "${table}" set ${CHECK} = ? where (${key}) = (${marks})`
  for (let after: readonly SqlValue[] = []; ; ) {
    const rows = db.write(() => {
      const behind = after.length === 0 ? '' : `(${key}) > (${marks}) and`
      const found = db.prepareArrays<readonly SqlValue[]>(select(behind)).all(...after)
      const set = db.prepare(update)
      for (const row of found) {
        const [place, values] = [row.slice(0, keys.length), row.slice(keys.length)]
        const check = checkOf(values)
        set.run(isDamagedBody(table, columns, values) ? ~check : check, ...place)
      }
      return found
    })
    const last = rows.at(-1)
    if (last === undefined) return
    after = last.slice(0, keys.length)
  }
}

/** A text that is not what was written gets a check that does not agree, so that it is not read as if it were whole. */
function isDamagedBody(table: string, columns: readonly string[], values: readonly SqlValue[]): boolean {
  if (table !== 'bodies') return false
  const [content, hash] = ['content', 'content_hash'].map(name => values[columns.indexOf(name)])
  return typeof content !== 'string' || sha256(content) !== hash
}

export function columnsOf(db: SqlDatabase, table: string): readonly string[] {
  return db
    .prepareArrays<[string]>('select name from pragma_table_info(?)')
    .all(table)
    .map(([name]) => name)
}

/** What rows are told apart by: the row id, or where there is none the primary key. */
function keyOf(db: SqlDatabase, table: string): readonly string[] {
  const isWithout = db.prepareArrays<[number]>('select wr from pragma_table_list(?)').get(table)?.[0] === 1
  if (!isWithout) return ['rowid']
  return db
    .prepareArrays<[string]>('select name from pragma_table_info(?) where pk > 0 order by pk')
    .all(table)
    .map(([name]) => `"${name}"`)
}
