/**
 * The list of tables in a damaged store (`sqlite_schema`). SQLite opens no file in which one statement of it is damaged,
 * although nothing else may be. What the list should say is known: the store's own tables from this version, the others
 * from their declarations. A wrong guess does no harm, since every row has a check.
 */
import type { TableDeclaration } from '../../model/table.ts'
import { openNodeSqlite } from '../sqlite/node-sqlite.ts'
import { prepareSchema } from '../sqlite/schema.ts'
import type { SqlDatabase } from '../sqlite/sql-driver.ts'
import { createTable, physicalName } from '../sqlite/tables.ts'
import { isObject, parsed } from './parsed.ts'
import { orNothing } from './readable-rows.ts'

interface Part {
  readonly type: string
  readonly name: string
  readonly table: string
  readonly sql: string | null
}

/** Writes the list anew where it is damaged; `db` may write what SQLite says of its own tables, and stays so. */
export function mendTableList(db: SqlDatabase): void {
  db.exec('pragma writable_schema = on')
  const known = ownParts()
  const rows = orNothing(() => {
    const sql = 'select rowid, type, name, tbl_name, sql from sqlite_schema order by rowid'
    return db.prepareArrays<[number, string, string, string, string | null]>(sql).all()
  })
  if (rows === undefined) return
  const found = new Set(rows.map(([, , name]) => name))
  const lost = known.filter(({ name }) => !found.has(name))
  const set = db.prepare('update sqlite_schema set type = ?, name = ?, tbl_name = ?, sql = ? where rowid = ?')
  const put = (rowid: number, { type, name, table, sql }: Part) => set.run(type, name, table, sql, rowid)
  let changed = false
  for (const [rowid, type, name, table, sql] of rows) {
    const part = known.find(one => one.name === name) ?? nearest({ type, name, table, sql }, lost)
    if (part === undefined) continue
    if (part.type === type && part.name === name && part.table === table && part.sql === sql) continue
    put(rowid, part)
    changed = true
  }
  // The declarations can be read from here on.
  if (changed) db.exec('pragma writable_schema = reset; pragma writable_schema = on')
  const declared = declarationsIn(db)
  const lostOnes = declared.filter(one => !found.has(physicalName(one)))
  for (const [rowid, type, name, table, sql] of rows) {
    const isOwn = known.some(one => one.name === name) || name.startsWith('sqlite_')
    if (type === 'index' || isOwn || (isStatement(sql) && declared.some(one => physicalName(one) === name))) continue
    const meant = declared.find(one => [name, table].includes(physicalName(one)))
    const declaration = meant ?? (lostOnes.length === 1 ? lostOnes[0] : undefined)
    if (declaration === undefined) continue
    const right = physicalName(declaration)
    put(rowid, { type: 'table', name: right, table: right, sql: createTable(right, declaration) })
    changed = true
  }
  if (changed) db.exec('pragma writable_schema = reset; pragma writable_schema = on')
}

/** Statements as SQLite keeps them, of a store made now. */
function ownParts(): readonly Part[] {
  const db = openNodeSqlite({ file: ':memory:', readOnly: false, immutable: false, timeoutMs: 0 })
  try {
    prepareSchema(db, false, undefined)
    return db
      .prepareArrays<[string, string, string, string | null]>('select type, name, tbl_name, sql from sqlite_schema')
      .all()
      .map(([type, name, table, sql]) => ({ type, name, table, sql }))
  } finally {
    db.close()
  }
}

/** Of a row whose name is damaged: the one of the lost that has the same statement, or the only one there is. */
function nearest(row: Part, lost: readonly Part[]): Part | undefined {
  if (/^(declared_|sqlite_)/.test(row.name) || row.table.startsWith('declared_')) return undefined
  return lost.find(({ sql }) => sql !== null && sql === row.sql) ?? (lost.length === 1 ? lost[0] : undefined)
}

function isStatement(sql: string | null): boolean {
  if (sql === null) return false
  const db = openNodeSqlite({ file: ':memory:', readOnly: false, immutable: false, timeoutMs: 0 })
  try {
    db.exec(sql)
    return true
  } catch {
    return false
  } finally {
    db.close()
  }
}

/** Those that are as they were written. */
export function declarationsIn(db: SqlDatabase): readonly TableDeclaration[] {
  const rows = orNothing(() => db.prepareArrays<[string]>('select declaration from declarations').all()) ?? []
  return rows.flatMap(([json]) => {
    const found = parsed(json)
    return isObject(found) && Array.isArray(found['columns']) ? [found as unknown as TableDeclaration] : []
  })
}
