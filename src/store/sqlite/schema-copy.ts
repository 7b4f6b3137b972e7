/**
 * A copy of SQLite's list of tables (`sqlite_schema`) in rows of `meta`, each with its check. No table can be found
 * without that list, so a damaged page of it would cost the whole store. The copy is current while the schema cookie it
 * was made with is that of the file: every change of the schema and every VACUUM (which moves root pages) advances it.
 */

import { accessSync, constants, existsSync } from 'node:fs'
import { QuerentError } from '../../model/errors.ts'
import { writeMeta } from './meta.ts'
import { isDamage, isWhole } from './rows.ts'
import { IN_MEMORY, type SqlDatabase, type SqlValue } from './sql-driver.ts'

/**
 * Begins the names of these rows; `0` comes directly after `/`. No text that is given to the store may hold a NUL, so that
 * nobody can write a row of another table or index that would be taken for one of these.
 */
export const COPY_PREFIX = '\0schema/'
const AFTER_PREFIX = '\0schema0'

/** One row of `sqlite_schema`. `root`: the number of the root page, 0 for a trigger. */
export interface SchemaPart {
  readonly type: string
  readonly name: string
  readonly table: string
  readonly root: number
  readonly sql: string | null
}

export interface SchemaCopy {
  /** Schema cookie of the file that it was made with. */
  readonly cookie: number
  readonly parts: readonly SchemaPart[]
  /** False: some of its rows are damaged. */
  readonly isComplete: boolean
}

/** Node 22 reads a text up to its first NUL only, so names of `meta` are read as bytes where all of them are. */
export const NAME_BYTES = 'cast(name as blob)'

export function nameIn(bytes: SqlValue): string {
  return bytes instanceof Uint8Array ? Buffer.from(bytes).toString() : String(bytes)
}

/** Whether a row of `meta` belongs to the copy, by its name as any Node reads it: no other name is empty. */
export function isOfCopy(name: SqlValue): boolean {
  return name === '' || String(name).startsWith(COPY_PREFIX)
}

type MetaRow = readonly [name: string, value: string, check: number]

export function schemaCookie(db: SqlDatabase): number {
  return db.prepareArrays<[number]>('pragma schema_version').get()?.[0] ?? 0
}

/** The list itself. */
export function schemaParts(db: SqlDatabase): readonly SchemaPart[] {
  const sql = 'select type, name, tbl_name, rootpage, sql from sqlite_schema order by rowid'
  const rows = db.prepareArrays<[string, string, string, number, string | null]>(sql).all()
  return rows.map(([type, name, table, root, made]) => ({ type, name, table, root, sql: made }))
}

/** The newest copy among rows of `meta`; damaged rows and others are passed over. Null: there is none. */
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

/** The copy as the store reads it. */
export function storedCopy(db: SqlDatabase): SchemaCopy | null {
  return copyAmong(metaRows(db))
}

/** Makes the copy again where it is not current. To be called after every change of the schema and every VACUUM. */
export function renewSchemaCopy(db: SqlDatabase): void {
  // Memory has no pages that could be damaged.
  if (db.file === IN_MEMORY || isCurrent(db)) return
  db.write(() => {
    const cookie = schemaCookie(db)
    db.prepare('delete from meta where name >= ? and name < ?').run(COPY_PREFIX, AFTER_PREFIX)
    const parts = schemaParts(db)
    for (const [place, { type, name, table, root, sql }] of parts.entries())
      writeMeta(db, COPY_PREFIX + name, JSON.stringify([cookie, parts.length, place, type, table, root, sql]))
  })
}

/** True also where a page of `meta` is damaged: then nothing can be written there. */
function isCurrent(db: SqlDatabase): boolean {
  try {
    const copy = storedCopy(db)
    return copy !== null && copy.cookie === schemaCookie(db) && isSameSchema(copy.parts, schemaParts(db))
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
 * Throws `io_failed` where the file may be written, and the connection cannot write it. When a file cannot be opened for
 * writing, SQLite opens it for reading instead and says nothing. That is as it should be with a file that is read-only;
 * but where opening failed for a passing reason (too many open files, say), the connection would refuse every write for
 * as long as it lives.
 */
export function checkWritable(db: SqlDatabase): void {
  try {
    // Changes nothing, and `begin immediate` alone does nothing on a file that was opened for reading. Not to wait for
    // another writer: where there is one, it is the turn that is missing, not the right.
    db.write(() => db.exec('update identity set id = id where false'), 0)
  } catch (error) {
    const code = error instanceof QuerentError ? error.code : ''
    if (code === 'store_locked') return
    if (code !== 'store_readonly') throw error
    if (mayWrite(db.file)) throw openedForReading(db.file, error)
  }
}

/** Why a store could not be opened for writing; where its file lies is not to be written, that is why, whatever failed first. */
export function orReadOnly(error: unknown, file: string): unknown {
  if (!(error instanceof QuerentError) || error.code !== 'io_failed' || !existsSync(file) || mayWrite(file))
    return error
  return new QuerentError('store_readonly', `${file}: cannot be written (it or its disk is read-only)`, { file }, error)
}

/**
 * Whether a reader failed for want of locks only. Even a reader writes them beside the file; where it cannot, it needs
 * none if nobody else has the file open.
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
