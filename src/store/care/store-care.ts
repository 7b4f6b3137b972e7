/** Examines a store file for damage, and repairs what can be derived from the file's other data. */

import { must } from '../../base/assert.ts'
import type { Instant } from '../../base/clock.ts'
import { QuerentError } from '../../model/errors.ts'
import { advanceRevision } from '../sqlite/changes.ts'
import type { SqlDatabase } from '../sqlite/node-sqlite.ts'
import { renewSchemaCopy } from '../sqlite/schema.ts'
import { quote } from '../sqlite/tables.ts'
import { references, rows, tables } from './contents.ts'
import { feed, lookups, tallyRows, vectorRows } from './derived-rows.ts'
import { openFile } from './file.ts'
import { headRepair } from './header.ts'
import { type Check, counted, type Problem, REPAIR_HELP, RESTORE_HELP, type StoreFinding, sound } from './problem.ts'
import { copyOfAlteredList, orNothing, writeList } from './table-list.ts'

export interface Repaired {
  readonly check: string
  readonly done: string
}

/** All checks in the order in which they are repaired: later checks count rows that the repair of earlier ones may remove. */
const CHECKS: readonly Check[] = [tables, references, rows, lookups, vectorRows, tallyRows, feed]
const PAGES = 'pages'
const FILE = 'file'
const ALTERED_LIST: StoreFinding = {
  ...{ check: FILE, ok: false, message: 'the list of tables is not as it was written' },
  ...{ help: REPAIR_HELP, isRepairable: true },
}
/** Number of messages of SQLite's own check that are included in the report. */
const LINES = 5

/**
 * Examines a store file and returns the findings; everything is read within one transaction, so within one committed state. Throws the
 * errors of opening a store.
 */
export function examineStore(file: string): readonly StoreFinding[] {
  return looking(file, examine)
}

/**
 * Repairs what `examineStore` reports as repairable, and nothing else. The rows are repaired in one transaction: completely, or not at all
 * when a repair fails. Other processes may continue to use the store; throws `store_locked` when they prevent writing.
 */
export function repairStore(file: string, now: Instant): readonly Repaired[] {
  const list = restoreAlteredList(file)
  const head = headRepair(file)
  head?.repair(file)
  const done = [...(list ? ['wrote the list of tables again'] : []), ...(head === null ? [] : [head.done])]
  return [...done.map(what => ({ check: FILE, done: what })), ...repairRows(file, now)]
}

/** Restores the list of tables (`sqlite_schema`) from its stored copy, in a file that can be opened; false where the list was unchanged. */
function restoreAlteredList(file: string): boolean {
  return (
    orNothing(() => {
      const db = openFile(file, 'repair')
      try {
        const copy = copyOfAlteredList(db)
        if (copy !== null) db.write(() => writeList(db, copy.parts))
        return copy !== null
      } finally {
        db.close()
      }
    }) ?? false
  )
}

function repairRows(file: string, now: Instant): readonly Repaired[] {
  const pages = looking(file, checkPages)
  if (!isRepairable(pages)) return []
  const db = openFile(file, 'repair')
  try {
    db.exec('pragma secure_delete = on; pragma foreign_keys = off; pragma synchronous = full')
    // The file is packed (VACUUM) before anything is written to it: with a wrong list of free pages, SQLite could overwrite a page that is
    // in use.
    if (pages.isOutside) pack(db)
    const packed = pages.isOutside ? [{ check: PAGES, done: 'packed the file' }] : []
    const { repaired, leaves } = db.write(() => {
      const done = repair(db, pages, now)
      if (done.repaired.length > 0) advanceRevision(db)
      return done
    })
    if (leaves) pack(db)
    else renewSchemaCopy(db)
    return [...packed, ...repaired]
  } finally {
    db.close()
  }
}

/** Packs the file (VACUUM). That moves the root pages of tables, so the stored copy of the list of tables is made again. */
function pack(db: SqlDatabase): void {
  db.exec('vacuum')
  renewSchemaCopy(db)
}

/** Runs a check on a separate connection: a connection that met damage can no longer commit, so it cannot be used for repairs. */
function looking<T>(file: string, look: (db: SqlDatabase) => T): T {
  const db = openFile(file, 'read')
  try {
    // Closing the connection ends the transaction.
    db.exec('begin')
    return look(db)
  } finally {
    db.close()
  }
}

/** Examines a store for damage on an open connection, inside a transaction; otherwise like `examineStore`. */
export function examine(db: SqlDatabase): readonly StoreFinding[] {
  if ((orNothing(() => copyOfAlteredList(db)) ?? null) !== null) return [ALTERED_LIST]
  const pages = checkPages(db)
  const [first] = pages.lines
  if (first !== undefined) return [ofPages(pages)]
  return [sound(PAGES, 'every page and index is sound'), ...CHECKS.map(check => examined(check, db))]
}

/** The finding to report where damage prevents the examination itself. Throws the error where it is not about damage. */
export function unreadable(error: unknown): readonly StoreFinding[] {
  if (!(error instanceof QuerentError) || error.code !== 'store_corrupt') throw error
  return [wrong(PAGES, [{ what: error.message, help: RESTORE_HELP, repair: null }])]
}

function examined(check: Check, db: SqlDatabase): StoreFinding {
  const problems = lookedAt(check, db)
  return problems.length === 0 ? sound(check.name, check.sound) : wrong(check.name, problems)
}

/** The problems that one check finds; damage that stops the check is a problem too, so that the other checks still run. */
function lookedAt(check: Check, db: SqlDatabase): readonly Problem[] {
  try {
    return check.look(db)
  } catch (error) {
    if (!(error instanceof QuerentError)) throw error
    return [{ what: error.message, help: RESTORE_HELP, repair: null }]
  }
}

function wrong(check: string, problems: readonly Problem[]): StoreFinding {
  return {
    check,
    ok: false,
    message: problems.map(({ what }) => what).join('; '),
    help: [...new Set(problems.map(({ help }) => help))].join(' '),
    isRepairable: problems.some(({ repair }) => repair !== null),
  }
}

function ofPages(pages: PageReport): StoreFinding {
  const more = pages.lines.length > LINES ? `; and ${pages.lines.length - LINES} more` : ''
  const where = pages.damaged.map(({ table, part }) => (part === 'rows' ? table : `indexes of ${table}`))
  const place = where.length === 0 ? '' : ` (in ${where.join(', ')})`
  const canRepair = isRepairable(pages)
  return {
    check: PAGES,
    ok: false,
    message: `${counted(pages.lines.length, 'damage')}${place}: ${pages.lines.slice(0, LINES).join('; ')}${more}`,
    help: canRepair ? `No knowledge is lost. ${REPAIR_HELP}` : RESTORE_HELP,
    isRepairable: canRepair,
  }
}

function repair(
  db: SqlDatabase,
  { damaged }: PageReport,
  now: Instant,
): { readonly repaired: readonly Repaired[]; readonly leaves: boolean } {
  const repaired: Repaired[] = []
  if (damaged.length > 0) repaired.push({ check: PAGES, done: rebuildTables(db, damaged) })
  for (const check of CHECKS) {
    for (const repairIt of repairersOf(check, db)) repaired.push({ check: check.name, done: repairIt(db, now) })
  }
  return { repaired, leaves: damaged.length > 0 && assertSound(db).leaves }
}

/** The repair functions for the problems that a check finds, each once. */
function repairersOf(check: Check, db: SqlDatabase): ReadonlySet<NonNullable<Problem['repair']>> {
  return new Set(lookedAt(check, db).flatMap(({ repair }) => (repair === null ? [] : [repair])))
}

// Check of the file's pages by SQLite, and of which tables are damaged. The contents of an index or a lookup table exist elsewhere too, so
// damage in them loses nothing; a table's own rows are never reconstructed from an index.

export interface PageReport {
  /** Messages of SQLite's integrity check; empty when the file is sound. */
  readonly lines: readonly string[]
  readonly damaged: readonly DamagedTable[]
  /**
   * Whether the damage is outside of all tables: pages that are neither used nor in the list of free pages, or a wrong list of free pages.
   */
  readonly isOutside: boolean
}

/**
 * A damaged table. `rows`: rows of the table itself are damaged; `indexes`: only its indexes are; `derived`: the table's rows repeat data
 * of other tables.
 */
interface DamagedTable {
  readonly table: string
  readonly part: 'rows' | 'indexes' | 'derived'
  /** Whether the B-tree of the table or of an index is broken, so that SQLite cannot clear it. */
  readonly isBroken: boolean
}

/** Tables that are filled again by the repair of lookup rows (tags and metadata for filters) and of tallies (counts per partition). */
const DERIVED: ReadonlySet<string> = new Set(['entry_tags', 'entry_values', 'tallies'])
const MAX_LINES = 200

export function checkPages(db: SqlDatabase): PageReport {
  const lines = linesOf(db, `pragma integrity_check(${MAX_LINES})`)
  if (lines.length === 0) return { lines, damaged: [], isOutside: false }
  const damaged = tablesOf(db).flatMap(table => damageOf(db, table) ?? [])
  // Where a table is damaged, SQLite's messages on unused or doubly used pages are ignored. Below a broken page of a B-tree, pages seem
  // unused, and the broken page may refer to pages of other trees. So these messages are about the same damage.
  const outside = lines.some(line => /freelist/i.test(line))
  const isLoose = damaged.length === 0 && lines.every(line => /never used|2nd reference/.test(line))
  return { lines, damaged, isOutside: outside || isLoose }
}

/** Whether all damaged data can be made again from other data. */
export function isRepairable({ damaged, isOutside, lines }: PageReport): boolean {
  if (damaged.some(({ part }) => part === 'rows')) return false
  // Where the list of free pages is wrong too, a damaged table cannot be repaired here: rebuilding its indexes takes pages from that list.
  return isOutside ? damaged.length === 0 : damaged.length > 0 || lines.length === 0
}

/** Messages of a check by SQLite, including those given before damage ended the check itself. */
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

/** Counts the rows of a query by reading each row completely; null when a row cannot be read. */
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

/** Whether an undamaged index has more entries than the table has readable rows, which shows that rows were lost. */
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

// Rebuilds damaged indexes and lookup tables in the current transaction. SQLite can neither clear nor drop a broken B-tree, so the table is
// copied, and the copy is put in its place by editing the schema table; the pages of the old table remain unused until the file is packed.

const COPY = 'querent_rebuilt'

/**
 * Rebuilds the damaged tables' indexes or lookup rows, and returns a text on what was done. Throws `store_corrupt`, so that everything is
 * rolled back, when the file's pages are not sound afterwards.
 */
export function rebuildTables(db: SqlDatabase, damaged: readonly DamagedTable[]): string {
  for (const { table, part, isBroken } of damaged) {
    if (isBroken) replace(db, table, part === 'indexes')
    else db.exec(`reindex ${quote(table)}`)
  }
  return `made the indexes of ${damaged.map(({ table }) => table).join(', ')} again`
}

/**
 * Throws `store_corrupt` when the file's pages are not sound. `leaves`: whether the file has pages that nothing uses, so that it should be
 * packed.
 */
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
  // The clause `limit -1` makes SQLite copy row by row; without it, SQLite may copy whole B-trees, including damaged indexes.
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
    // The pragma makes SQLite read the changed schema table again.
    db.exec('pragma writable_schema = reset')
  }
}
