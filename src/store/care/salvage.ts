/**
 * Copies everything readable of a damaged store into a new one. The damaged file is only read: the work is done on a copy of it beside the
 * new file. Rows that refer to something lost are left out, and everything lost is reported.
 */
import { copyFileSync, existsSync } from 'node:fs'
import { sha256 } from '../../base/canonical.ts'
import type { Instant } from '../../base/clock.ts'
import { QuerentError } from '../../model/errors.ts'
import { partitionKey } from '../../model/partition.ts'
import type { TableDeclaration } from '../../model/table.ts'
import { missingColumns } from '../check.ts'
import type { SqlDatabase, SqlValue } from '../sqlite/node-sqlite.ts'
import { CHECK, checked, checkOf } from '../sqlite/rows.ts'
import { APPLICATION_ID, columnsOf, isOfCopy, prepareSchema, SCHEMA } from '../sqlite/schema.ts'
import { createIndexes, physicalName, quote } from '../sqlite/tables.ts'
import { openFile, removeStore } from './file.ts'
import { soundHeaderOf, writeHeader } from './header.ts'
import { counted } from './problem.ts'
import { repairStore } from './store-care.ts'
import { declarationsIn, orNothing, readableRows, restoreTableList } from './table-list.ts'

export interface Salvage {
  readonly entries: number
  /** What was lost, one line for each kind of loss; empty: nothing. */
  readonly lost: readonly string[]
}

/** Largest number of lost entries that the report lists by name. */
const MAX_NAMES = 20

/**
 * Salvages the store file `from` into a new file `to`, which must not exist. A table whose columns differ from this version's declaration
 * in `declared` is left out and reported. Throws `store_corrupt` when not even the list of tables can be read.
 */
export function salvageStore(
  from: string,
  to: string,
  now: Instant,
  declared: readonly TableDeclaration[] = [],
): Salvage {
  const raw = `${to}.damaged`
  try {
    takeCopy(from, raw)
    const salvage = copyReadable(raw, to, declared)
    toThisSchema(to)
    repairStore(to, now)
    return salvage
  } finally {
    removeStore(raw)
  }
}

function toThisSchema(file: string): void {
  const db = openFile(file, 'write')
  try {
    prepareSchema(db, false, undefined)
  } finally {
    db.close()
  }
}

/** Copies the damaged file with its write-ahead log, gives the copy a correct header, and restores its list of tables. */
function takeCopy(from: string, to: string): void {
  for (const end of ['', '-wal']) if (existsSync(from + end)) copyFileSync(from + end, to + end)
  writeHeader(to, soundHeaderOf(to))
  orNothing(() => restoreTableList(to))
}

interface Part {
  readonly type: string
  readonly name: string
  readonly sql: string
}

function copyReadable(from: string, to: string, declared: readonly TableDeclaration[]): Salvage {
  const source = openFile(from, 'repair')
  try {
    source.exec('pragma writable_schema = on')
    const parts = partsOf(source, from)
    const target = openFile(to, 'write')
    try {
      target.exec(`pragma foreign_keys = off; pragma journal_mode = wal`)
      const lost = target.write(() => fill(target, source, parts, declared))
      const entries = target.prepareArrays<[number]>('select count(*) from entries').get()?.[0] ?? 0
      return { entries, lost }
    } finally {
      target.close()
    }
  } finally {
    source.close()
  }
}

function partsOf(source: SqlDatabase, file: string): readonly Part[] {
  const sql = `select type, name, sql from sqlite_schema where sql is not null and name not like 'sqlite_%'`
  const rows = [...readAll(source, sql)] as unknown as readonly (readonly [string, string, string])[]
  const parts = rows.map(([type, name, made]) => ({ type, name, sql: made }))
  if (['entries', 'bodies', 'partitions'].every(name => parts.some(part => part.name === name))) return parts
  throw new QuerentError('store_corrupt', `${file}: not even its list of tables can be read`, { file })
}

function readAll(db: SqlDatabase, sql: string): readonly (readonly unknown[])[] {
  return orNothing(() => db.prepareArrays<readonly string[]>(sql).all()) ?? []
}

function fill(
  target: SqlDatabase,
  source: SqlDatabase,
  parts: readonly Part[],
  declared: readonly TableDeclaration[],
): readonly string[] {
  const tables = parts.filter(({ type }) => type === 'table')
  for (const { sql } of tables) target.exec(sql)
  const cut = tables.filter(({ name }) => copyTable(target, source, name)).map(({ name }) => name)
  const identity = target.prepareArrays('select 1 from identity').get()
  if (identity === undefined) target.exec('insert into identity values (lower(hex(randomblob(16))))')
  const names = lostNames(target, source)
  const left = [...dropForeign(target, declared), ...makePrivate(target), ...dropHalves(target)]
  for (const { type, sql, name } of parts) if (type !== 'table' && !name.startsWith('declared_')) target.exec(sql)
  // Indexes are created from the declarations of tables, not from the SQL statements in the damaged file, which may be lost; the
  // declarations include all indexes.
  for (const sql of declarationsIn(target).flatMap(createIndexes)) orNothing(() => target.exec(sql))
  keepSequences(target, source)
  target.exec(`pragma application_id = ${APPLICATION_ID}; pragma user_version = ${SCHEMA}`)
  return [
    ...cut.map(name => `rows of ${name.replace(/^declared_/, '')} that are damaged`),
    ...left,
    ...listedNames(names),
  ]
}

/** Copies the readable rows of a table. Returns true where something could not be read, or a row was damaged. */
function copyTable(target: SqlDatabase, source: SqlDatabase, name: string): boolean {
  const columns = target
    .prepareArrays<[string]>('select name from pragma_table_info(?)')
    .all(name)
    .map(([one]) => one)
  const marks = columns.map(() => '?').join(', ')
  const put = target.prepare(
    `insert or ignore into ${quote(name)} (${columns.map(quote).join(', ')}) values (${marks})`,
  )
  const { rows, isCutShort } = readableRows(source, name, columns)
  const isSound = soundRows(name, columns)
  let isWrong = false
  for (const row of rows) {
    // Rows of `meta` that belong to the copy of the list of tables are not copied, since they are made again for the new file.
    if (name === 'meta' && isOfCopy(row[0] ?? null)) continue
    if (!isSound(row)) {
      isWrong = true
      continue
    }
    try {
      put.run(...row)
    } catch (error) {
      // The type of a value does not fit its column: damage that SQLite did not detect when reading.
      if (!(error instanceof QuerentError) || error.code !== 'internal') throw error
      isWrong = true
    }
  }
  return isCutShort() || isWrong
}

/**
 * Returns a test for rows that are unchanged since they were written: by the check sum, or, in a store from before check sums existed, by
 * the content's hash.
 */
function soundRows(table: string, columns: readonly string[]): (row: readonly SqlValue[]) => boolean {
  const at = columns.indexOf(CHECK)
  const [content, hash] = ['content', 'content_hash'].map(name => columns.indexOf(name)) as [number, number]
  return row => {
    // A store that is being migrated to the current schema has rows without a check sum.
    const check = at === -1 ? null : row[at]
    if (check !== null && check !== undefined) return check === checkOf(row.filter((_, cell) => cell !== at))
    return table !== 'bodies' || sha256(String(row[content])) === row[hash]
  }
}

/** Names of entries that the table has lost, read from an index that is still readable. */
function lostNames(target: SqlDatabase, source: SqlDatabase): readonly string[] {
  const known = readAll(source, 'select key, holder, id from entries indexed by entries_by_id')
  const isThere = target.prepareArrays('select 1 from entries e join bodies b on b.entry = e.key where e.key = ?')
  const bare = target
    .prepareArrays<[string, string]>('select holder, id from entries where key not in (select entry from bodies)')
    .all()
    .map(([holder, id]) => `${holder}/${id}`)
  const gone = known
    .filter(([key]) => isThere.get(key as number) === undefined)
    .map(([, holder, id]) => `${holder}/${id}`)
  return [...new Set([...bare, ...gone])].sort()
}

function listedNames(names: readonly string[]): readonly string[] {
  if (names.length === 0) return []
  const more = names.length > MAX_NAMES ? `, and ${names.length - MAX_NAMES} more` : ''
  return [`${counted(names.length, 'entry', 'entries')}: ${names.slice(0, MAX_NAMES).join(', ')}${more}`]
}

/**
 * Makes entries private to their holder where the partition that determines who may see them is lost. A new private partition gets a number
 * that none had before. Returns lines for the report, with the entries' holders and ids.
 */
function makePrivate(target: SqlDatabase): readonly string[] {
  const columns = columnsOf(target, 'entries')
  const list = columns.map(quote).join(', ')
  const found = target
    .prepareArrays<readonly SqlValue[]>(
      `select ${list} from entries where partition not in (select id from partitions)
       and key in (select entry from bodies) order by key`,
    )
    .all()
  if (found.length === 0) return []
  const at = (row: readonly SqlValue[], name: string) => row[columns.indexOf(name)]
  const known = target.prepareArrays<[number]>('select id from partitions where name = ?')
  const isChecked = columns.includes(CHECK)
  const sum = (cells: readonly SqlValue[]) => (isChecked ? checked(cells) : cells)
  const [free = 0] =
    target
      .prepareArrays<[number]>(
        `select 1 + max(coalesce((select max(id) from partitions), 0), (select max(partition) from entries),
           coalesce((select max(max(partition, coalesce(from_partition, 0))) from changes), 0))`,
      )
      .get() ?? []
  let next = free
  const partitionOf = (holder: string): number => {
    const audience = { kind: 'private', holder } as const
    const there = known.get(partitionKey(audience))
    if (there !== undefined) return there[0]
    const row = sum([next, partitionKey(audience), JSON.stringify(audience)])
    target.prepare(`insert into partitions values (${row.map(() => '?').join(', ')})`).run(...row)
    return next++
  }
  const set = target.prepare(`update entries set partition = ?${isChecked ? `, ${CHECK} = ?` : ''} where key = ?`)
  for (const row of found) {
    const moved = partitionOf(String(at(row, 'holder')))
    const cells = columns.flatMap((name, i) => (name === CHECK ? [] : [name === 'partition' ? moved : row[i]]))
    const check = isChecked ? [checkOf(cells as SqlValue[])] : []
    set.run(moved, ...check, at(row, 'key') as number)
  }
  const names = found.map(row => `${at(row, 'holder')}/${at(row, 'id')}`)
  return listedNames(names).map(line => `who may see ${line} (saved as private)`)
}

/**
 * Drops tables whose columns differ from this version's declaration, since their rows cannot be read; only unreleased versions made such
 * tables. Returns lines for the report.
 */
function dropForeign(target: SqlDatabase, declared: readonly TableDeclaration[]): readonly string[] {
  const foreign = declarationsIn(target).filter(stored => {
    const one = declared.find(({ name }) => name === stored.name)
    return one !== undefined && !isOfShape(stored, one, target)
  })
  return foreign.map(table => {
    const [rows = 0] = target.prepareArrays<[number]>(`select count(*) from ${quote(physicalName(table))}`).get() ?? []
    target.exec(`drop table ${quote(physicalName(table))}`)
    target.prepare('delete from declarations where name = ?').run(table.name)
    return `table ${table.name}, ${counted(rows, 'row')}: it has other columns than this version declares`
  })
}

function isOfShape(stored: TableDeclaration, declared: TableDeclaration, db: SqlDatabase): boolean {
  try {
    missingColumns(stored, declared)
  } catch (error) {
    if (error instanceof QuerentError && error.code === 'conflict') return false
    throw error
  }
  const columns = new Set(columnsOf(db, physicalName(stored)))
  return stored.columns.every(({ name }) => columns.has(name))
}

/**
 * Deletes entries without content, then rows whose entry or partition is missing, so that what remains is consistent. Returns lines for the
 * report.
 */
function dropHalves(target: SqlDatabase): readonly string[] {
  target.exec('delete from entries where key not in (select entry from bodies)')
  const dropped: string[] = []
  const orphans = target.prepareArrays<[string, number | null, string]>('pragma foreign_key_check')
  for (const table of new Set(orphans.all().map(([name]) => name))) {
    const column =
      table === 'tallies' ? 'partition not in (select id from partitions)' : 'entry not in (select key from entries)'
    const { changes } = target.prepare(`delete from ${quote(table)} where ${column}`).run()
    if (changes > 0) dropped.push(`${counted(changes, 'row')} of ${table.replace(/^declared_/, '')} of lost entries`)
  }
  return dropped
}

/** Continues the numbering of keys where the damaged store ended, so that no key is used a second time, not even that of a lost row. */
function keepSequences(target: SqlDatabase, source: SqlDatabase): void {
  const put = target.prepare('update sqlite_sequence set seq = max(seq, ?) where name = ?')
  const add = target.prepare('insert into sqlite_sequence (seq, name) values (?, ?)')
  for (const [name, seq] of readAll(source, 'select name, seq from sqlite_sequence') as readonly [string, number][]) {
    if (put.run(seq, name).changes === 0) add.run(seq, name)
  }
}
