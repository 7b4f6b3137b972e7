/**
 * The pages of the file, as SQLite checks them, and which tables a damage touches. What an index or a lookup table holds
 * is elsewhere too, so damage there loses nothing; a table of its own rows is never made up from what is left of it.
 */

import { must } from '../../base/assert.ts'
import { QuerentError } from '../../model/errors.ts'
import type { SqlDatabase } from '../sqlite/node-sqlite.ts'
import { quote } from '../sqlite/tables.ts'

export interface PageReport {
  /** As SQLite says it; none when all is sound. */
  readonly lines: readonly string[]
  readonly damaged: readonly DamagedTable[]
  /** What is wrong is in no table: pages that nobody uses, or a list of free pages that is wrong. */
  readonly isOutside: boolean
}

/** `rows`: some of its own are damaged. `indexes`: only what repeats them. `derived`: its rows repeat other tables. */
interface DamagedTable {
  readonly table: string
  readonly part: 'rows' | 'indexes' | 'derived'
  /** The tree of the index is broken, so that SQLite cannot clear it. */
  readonly isBroken: boolean
}

/** Tables that the repairing of lookups and tallies fills again. */
const DERIVED: ReadonlySet<string> = new Set(['entry_tags', 'entry_values', 'tallies'])
const MAX_LINES = 200

export function checkPages(db: SqlDatabase): PageReport {
  const lines = linesOf(db, `pragma integrity_check(${MAX_LINES})`)
  if (lines.length === 0) return { lines, damaged: [], isOutside: false }
  const damaged = tablesOf(db).flatMap(table => damageOf(db, table) ?? [])
  // Below a broken page there are pages that nobody seems to use, and a broken page reaches into others: both are of that
  // tree alone.
  const outside = lines.some(line => /freelist/i.test(line))
  const isLoose = damaged.length === 0 && lines.every(line => /never used|2nd reference/.test(line))
  return { lines, damaged, isOutside: outside || isLoose }
}

/** Whether nothing is damaged but what can be made again. */
export function isRepairable({ damaged, isOutside, lines }: PageReport): boolean {
  if (damaged.some(({ part }) => part === 'rows')) return false
  // To make an index, pages are taken from the list of free ones: it must be right.
  return isOutside ? damaged.length === 0 : damaged.length > 0 || lines.length === 0
}

/** Also when the check itself fails on the way: what it said before counts. */
function linesOf(db: SqlDatabase, pragma: string): readonly string[] {
  const lines: string[] = []
  try {
    for (const [text] of db.prepareArrays<[string]>(pragma).each()) lines.push(...text.split('\n'))
  } catch (error) {
    if (!(error instanceof QuerentError) || error.code !== 'store_corrupt') throw error
    lines.push('the check itself met damage')
  }
  return lines.filter(line => line !== 'ok' && !line.startsWith('***'))
}

interface Tree {
  readonly name: string
  readonly root: number
}

function tablesOf(db: SqlDatabase): readonly Tree[] {
  return db
    .prepareArrays<[string, number]>(`select name, rootpage from sqlite_schema where type = 'table' order by name`)
    .all()
    .map(([name, root]) => ({ name, root }))
}

function damageOf(db: SqlDatabase, { name, root }: Tree): DamagedTable | null {
  const lines = linesOf(db, `pragma integrity_check(${quote(name)})`)
  if (lines.length === 0) return null
  const isBroken = lines.some(line => /^Tree |met damage/.test(line))
  if (DERIVED.has(name)) return { table: name, part: 'derived', isBroken: true }
  const isOwn = lines.some(line => line.startsWith(`Tree ${root} `) || / value in /i.test(line))
  const rows = isOwn ? null : countRows(db, `select * from ${quote(name)} not indexed`)
  const part = rows === null || indexesKnowMore(db, name, rows) ? 'rows' : 'indexes'
  return { table: name, part, isBroken }
}

/** Reading every row to its end; null when one cannot be. */
function countRows(db: SqlDatabase, sql: string): number | null {
  try {
    let rows = 0
    for (const _ of db.prepareArrays<[]>(sql).each()) rows++
    return rows
  } catch (error) {
    if (error instanceof QuerentError) return null
    throw error
  }
}

/** An index that is whole and has more entries than there are rows tells of rows that were lost. */
function indexesKnowMore(db: SqlDatabase, table: string, rows: number): boolean {
  const indexes = db
    .prepareArrays<[string, number]>(
      `select name, partial from pragma_index_list(?) where origin <> 'pk' or partial = 0`,
    )
    .all(table)
  return indexes.some(([index, partial]) => {
    if (partial === 1) return false
    const known = countRows(db, `select 1 from ${quote(table)} indexed by ${quote(index)}`)
    return known !== null && known > rows && linesOf(db, `pragma quick_check(${quote(table)})`).length === 0
  })
}

// Makes damaged indexes and lookup tables again, in the transaction that runs. SQLite can neither clear nor drop a tree
// that is broken, so a table with such a tree is copied and put in its place by hand; the pages of the old one are then
// nobody's, until the file is packed.

const COPY = 'querent_rebuilt'

/** Says what was done; throws `store_corrupt`, so that all is rolled back, when the pages are not sound afterwards. */
export function rebuildTables(db: SqlDatabase, damaged: readonly DamagedTable[]): string {
  for (const { table, part, isBroken } of damaged) {
    if (isBroken) replace(db, table, part === 'indexes')
    else db.exec(`reindex ${quote(table)}`)
  }
  return `made the indexes of ${damaged.map(({ table }) => table).join(', ')} again`
}

/** Whether the file has pages that nobody uses: then it should be packed. */
export function assertSound(db: SqlDatabase): { readonly leaves: boolean } {
  const lines = linesOf(db, 'pragma integrity_check(20)')
  const wrong = lines.filter(line => !/^Page \d+: never used/.test(line))
  if (wrong.length === 0) return { leaves: lines.length > 0 }
  throw new QuerentError('store_corrupt', `${db.file}: still damaged after its indexes were made again (${wrong[0]})`, {
    file: db.file,
  })
}

interface SchemaRow {
  readonly type: string
  readonly name: string
  readonly sql: string | null
}

function replace(db: SqlDatabase, table: string, withRows: boolean): void {
  const rows = db.prepare<Record<string, string>>('select type, name, sql from sqlite_schema where tbl_name = ?')
  const parts = rows.all(table) as unknown as readonly SchemaRow[]
  const sql = must(parts.find(({ type }) => type === 'table')?.sql, 'the statement that made the table')
  db.exec(sql.replace(/^create table\s+(if not exists\s+)?("(?:[^"]|"")*"|\w+)/i, `create table ${COPY}`))
  // Without the limit SQLite would copy tree by tree, damaged indexes included.
  if (withRows) db.exec(`insert into ${COPY} select * from ${quote(table)} not indexed limit -1`)
  swap(db, table, sql)
  for (const { type, sql: made } of parts) if (type !== 'table' && made !== null) db.exec(made)
}

function swap(db: SqlDatabase, table: string, sql: string): void {
  db.exec('pragma writable_schema = on')
  try {
    db.prepare('delete from sqlite_schema where tbl_name = ?').run(table)
    db.prepare(
      `update sqlite_schema set name = replace(name, '${COPY}', ?), tbl_name = ?,
         sql = case type when 'table' then ? else sql end
       where tbl_name = '${COPY}'`,
    ).run(table, table, sql)
    const hasSequence = db.prepareArrays(`select 1 from sqlite_schema where name = 'sqlite_sequence'`).get()
    if (hasSequence !== undefined) db.prepare(`delete from sqlite_sequence where name = '${COPY}'`).run()
  } finally {
    // Reads the schema again.
    db.exec('pragma writable_schema = reset')
  }
}
