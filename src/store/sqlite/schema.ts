/**
 * The tables of a store file. Every row of most has a check (`rows.ts`). No schema before 3 was released; from the first release on
 * a store file must open for ever, so a change of these tables then needs a migration.
 */

import { QuerentError } from '../../model/errors.ts'
import { CHECK } from './rows.ts'
import { checkWritable, renewSchemaCopy } from './schema-copy.ts'
import type { SqlDatabase } from './sql-driver.ts'

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
 *
 * `structure` of a chunk: its lead and the sections in it (`ChunkDraft`), as a JSON object; null where it has neither.
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

/** What a file written by this version has. */
export const SCHEMA = 3

/** Makes the tables where the file is empty, or says why it cannot be used. Touches nothing in a file that is not ours. */
export function prepareSchema(db: SqlDatabase, readOnly: boolean, storeId: string | undefined): void {
  const found = schemaOf(db)
  if (readOnly) {
    if (found === 0) throw notAStore(db)
    return
  }
  if (found === SCHEMA) {
    checkWritable(db)
  } else {
    db.exec('pragma journal_mode = wal')
    db.write(() => {
      // Looked at again under the lock: another process may have been quicker.
      if (schemaOf(db) === SCHEMA) return
      db.exec(TABLES)
      db.prepare('insert into identity values (coalesce(?, lower(hex(randomblob(16)))))').run(storeId ?? null)
      db.exec(`pragma application_id = ${APPLICATION_ID}; pragma user_version = ${SCHEMA}`)
    })
  }
  renewSchemaCopy(db)
}

/** `SCHEMA`, or 0 when the file is empty. */
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
  if (version < SCHEMA) {
    const message = `${db.file}: has schema ${version} of a version before the first release; export it with that version and import it`
    throw new QuerentError('store_corrupt', message, { file: db.file })
  }
  return version
}

function notAStore(db: SqlDatabase): QuerentError {
  return new QuerentError('store_corrupt', `${db.file}: is a database, but not a Querent store`, { file: db.file })
}

/** Tables of the store itself whose rows have a check; so has every declared one. */
const CHECKED: ReadonlySet<string> = new Set([
  ...['meta', 'declarations', 'partitions', 'entries', 'bodies', 'chunks', 'models', 'vectors', 'tallies'],
  ...['access', 'changes'],
])

/** Tables whose rows have a check, by name. */
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
