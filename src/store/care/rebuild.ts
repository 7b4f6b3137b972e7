/**
 * Makes damaged indexes and lookup tables anew, in the transaction that runs. SQLite can neither clear nor drop a tree
 * that is broken, so a table with such a tree is copied and put in its place by hand; the pages of the old one are then
 * nobody's, until the file is packed.
 */
import { must } from '../../base/assert.ts'
import { QuerentError } from '../../model/errors.ts'
import type { SqlDatabase } from '../sqlite/sql-driver.ts'
import { quote } from '../sqlite/table.ts'
import { type DamagedTable, linesOf } from './pages.ts'

const COPY = 'querent_rebuilt'

/** Says what was done; throws `store_corrupt`, so that all is rolled back, when the pages are not sound afterwards. */
export function rebuildTables(db: SqlDatabase, damaged: readonly DamagedTable[]): string {
  for (const { table, part, isBroken } of damaged) {
    if (isBroken) replace(db, table, part === 'indexes')
    else db.exec(`reindex ${quote(table)}`)
  }
  return `made the indexes of ${damaged.map(({ table }) => table).join(', ')} anew`
}

/** Whether the file has pages that nobody uses: then it should be packed. */
export function mustBeSound(db: SqlDatabase): { readonly leaves: boolean } {
  const lines = linesOf(db, 'pragma integrity_check(20)')
  const wrong = lines.filter(line => !/^Page \d+: never used/.test(line))
  if (wrong.length === 0) return { leaves: lines.length > 0 }
  throw new QuerentError('store_corrupt', `${db.file}: still damaged after its indexes were made anew (${wrong[0]})`, {
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
    // Reads the schema anew.
    db.exec('pragma writable_schema = reset')
  }
}
