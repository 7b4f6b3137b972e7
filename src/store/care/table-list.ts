/**
 * Restores the list of tables of a damaged store (`sqlite_schema`) from the copy that the store keeps in its table `meta`. Where the list
 * cannot be read, no table can be, so the copy's rows are searched directly in the pages of the file (sqlite.org/fileformat2, "B-tree
 * Pages" and "Record Format").
 */

import { closeSync, fsyncSync, openSync, readSync, statSync, writeSync } from 'node:fs'
import { isRecord } from '../../base/record.ts'
import { QuerentError } from '../../model/errors.ts'
import type { TableDeclaration } from '../../model/table.ts'
import type { SqlDatabase, SqlValue } from '../sqlite/node-sqlite.ts'
import {
  COPY_PREFIX,
  copyAmong,
  isSameSchema,
  type SchemaCopy,
  type SchemaPart,
  schemaCookie,
  schemaParts,
  storedCopy,
} from '../sqlite/schema.ts'
import { quote } from '../sqlite/tables.ts'
import { openFile } from './file.ts'
import { parsed } from './problem.ts'

/** Page size of every store file, in bytes. */
const PAGE = 4096
/**
 * Type byte of pages in SQLite's file format. `INTERIOR`: an interior page of an index, or of a table without row ids. `LEAF`: a leaf page
 * of such an index or table.
 */
const INTERIOR = 2
const LEAF = 10

/** The stored copy of the list of tables, where it is current and differs from the list itself; null: nothing is to be restored. */
export function copyOfAlteredList(db: SqlDatabase): SchemaCopy | null {
  const copy = storedCopy(db)
  if (copy === null || !copy.isComplete || copy.cookie !== schemaCookie(db)) return null
  return isSameSchema(copy.parts, schemaParts(db)) ? null : copy
}

/**
 * Replaces the list of tables (`sqlite_schema`), inside a write transaction of a connection that may write it; afterwards SQLite reads the
 * schema again.
 */
export function writeList(db: SqlDatabase, parts: readonly SchemaPart[]): void {
  db.exec('pragma writable_schema = on')
  try {
    db.exec('delete from sqlite_schema')
    const put = db.prepare('insert into sqlite_schema (type, name, tbl_name, rootpage, sql) values (?, ?, ?, ?, ?)')
    for (const { type, name, table, root, sql } of parts) put.run(type, name, table, root, sql)
  } finally {
    db.exec('pragma writable_schema = reset')
  }
}

/**
 * Replaces the list of tables in a file that no other process has open, where the copy in the file shows that the list is damaged. Returns
 * false where it is not damaged, or where there is no copy. Throws `store_locked` where another process keeps a write-ahead log beside the
 * file.
 */
export function restoreTableList(file: string): boolean {
  const list = readList(file)
  if ((statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0)
    throw new QuerentError('store_locked', `${file}: another process has the store open`, { file })
  const copy = copyAmong(metaRowsIn(file))
  if (copy === null) return false
  const isCurrent = copy.isComplete && copy.cookie === list?.cookie
  if (list !== null && (!isCurrent || isSameSchema(list.parts, copy.parts))) return false
  clearFirstPage(file)
  const db = openFile(file, 'repair')
  try {
    db.write(() => writeList(db, copy.parts))
  } finally {
    db.close()
  }
  return true
}

/**
 * The list of tables with the schema cookie (SQLite's counter of schema changes), as SQLite reads them; null where it cannot. Closing the
 * connection folds the write-ahead log into the file, if no other process has the file open.
 */
function readList(file: string): Pick<SchemaCopy, 'cookie' | 'parts'> | null {
  const db = openFile(file, 'write')
  try {
    return orNothing(() => ({ cookie: schemaCookie(db), parts: schemaParts(db) })) ?? null
  } finally {
    db.close()
  }
}

/**
 * Overwrites the first page of the file with an empty list of tables and no list of free pages. Pages that only the old first page referred
 * to are then unused until the file is packed.
 */
function clearFirstPage(file: string): void {
  const handle = openSync(file, 'r+')
  try {
    const page = Buffer.alloc(PAGE)
    readSync(handle, page, 0, 100, 0)
    page.fill(0, 32, 40)
    page[100] = 13
    page.writeUInt16BE(PAGE, 105)
    writeSync(handle, page, 0, PAGE, 0)
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

/**
 * Rows of the table `meta` that contain the copy of the list of tables, searched in every page of the file that may belong to `meta`,
 * whether in use or not.
 */
function* metaRowsIn(file: string): Generator<readonly SqlValue[]> {
  const handle = openSync(file, 'r')
  try {
    const pages = Math.floor(statSync(file).size / PAGE)
    const pageAt = (number: number): Buffer => {
      const page = Buffer.alloc(PAGE)
      if (number >= 1 && number <= pages) readSync(handle, page, 0, PAGE, (number - 1) * PAGE)
      return page
    }
    for (let number = 2; number <= pages; number++) {
      const page = pageAt(number)
      if ((page[0] !== LEAF && page[0] !== INTERIOR) || !page.includes(COPY_PREFIX, 0, 'latin1')) continue
      const [first, child] = page[0] === LEAF ? [8, 0] : [12, 4]
      const cells = Math.min(page.readUInt16BE(3), (PAGE - first) / 2)
      for (let cell = 0; cell < cells; cell++) {
        const row = recordIn(page, page.readUInt16BE(first + 2 * cell) + child, pageAt)
        if (row !== null) yield row
      }
    }
  } finally {
    closeSync(handle)
  }
}

/** Decodes a row of the table `meta` in SQLite's record format: two texts and a number; null for a record of any other form. */
function recordIn(page: Buffer, at: number, pageAt: (number: number) => Buffer): readonly SqlValue[] | null {
  const [size, behind] = varint(page, at)
  const payload = payloadAt(page, behind, size, pageAt)
  if (payload === null) return null
  const [headerSize, first] = varint(payload, 0)
  const types: number[] = []
  for (let place = first; place < headerSize && types.length < 4; ) {
    const [type, next] = varint(payload, place)
    types.push(type)
    place = next
  }
  const [name = 0, value = 0, check = 0] = types
  const isText = (type: number) => type >= 13 && type % 2 === 1
  const [nameEnd, valueEnd] = [headerSize + (name - 13) / 2, headerSize + (name - 13) / 2 + (value - 13) / 2]
  const bytes = check <= 4 ? check : 0
  if (types.length !== 3 || !isText(name) || !isText(value) || valueEnd + bytes > payload.length) return null
  const number = bytes === 0 ? Number(check === 9) : payload.readIntBE(valueEnd, bytes)
  return [payload.toString('utf8', headerSize, nameEnd), payload.toString('utf8', nameEnd, valueEnd), number]
}

/** The bytes of a record at a place of a page, including its overflow pages; null where the size is impossible for a row of `meta`. */
function payloadAt(page: Buffer, at: number, size: number, pageAt: (number: number) => Buffer): Buffer | null {
  if (size > 64 * PAGE) return null
  const most = Math.floor(((PAGE - 12) * 64) / 255) - 23
  const least = Math.floor(((PAGE - 12) * 32) / 255) - 23
  const fitting = least + ((size - least) % (PAGE - 4))
  const local = size <= most ? size : fitting <= most ? fitting : least
  if (at + local + 4 > PAGE && at + size > PAGE) return null
  const pieces = [page.subarray(at, at + local)]
  let next = local < size ? page.readUInt32BE(at + local) : 0
  for (let left = size - local; left > 0; left -= PAGE - 4) {
    const overflow = pageAt(next)
    pieces.push(overflow.subarray(4, 4 + Math.min(left, PAGE - 4)))
    next = overflow.readUInt32BE(0)
  }
  return Buffer.concat(pieces)
}

/**
 * Decodes a variable-length integer of at most 4 bytes (below 2^28) and returns it with the offset after it; rows of `meta` contain no
 * longer ones.
 */
function varint(bytes: Buffer, at: number): readonly [value: number, next: number] {
  let value = 0
  for (let place = at; place < at + 4 && place < bytes.length; place++) {
    const byte = bytes[place] as number
    value = value * 128 + (byte & 127)
    if (byte < 128) return [value, place + 1]
  }
  return [Number.MAX_SAFE_INTEGER, at]
}

/** The declarations of tables stored in the file; invalid ones are left out. */
export function declarationsIn(db: SqlDatabase): readonly TableDeclaration[] {
  const rows = orNothing(() => db.prepareArrays<[string]>('select declaration from declarations').all()) ?? []
  return rows.flatMap(([json]) => {
    const found = parsed(json)
    return isRecord(found) && Array.isArray(found['columns']) ? [found as unknown as TableDeclaration] : []
  })
}

/**
 * Largest number of keys that are tried one by one where pages are damaged (about 20 µs each): `MAX_PROBES` in total, and `MAX_IN_VAIN`
 * without success in a row.
 */
const MAX_PROBES = 200_000
const MAX_IN_VAIN = 5_000

interface ReadableRows {
  readonly rows: Iterable<readonly SqlValue[]>
  /** Whether some rows could not be read; only known after all rows were taken from `rows`. */
  readonly isCutShort: () => boolean
}

export function readableRows(db: SqlDatabase, table: string, columns: readonly string[]): ReadableRows {
  let isCut = false
  const list = columns.map(quote).join(', ')
  const from = `from ${quote(table)} not indexed`
  const hasRowid = canRead(db, `select rowid ${from} limit 0`)
  return { rows: hasRowid ? byRowid() : fromBothEnds(), isCutShort: () => isCut }

  function* byRowid(): Generator<readonly SqlValue[]> {
    const ends = { first: Number.NEGATIVE_INFINITY, last: Number.POSITIVE_INFINITY }
    for (const [key, ...row] of until(`select rowid, ${list} ${from} order by rowid`)) {
      ends.first = key as number
      yield row
    }
    if (!isCut) return
    for (const [key, ...row] of until(`select rowid, ${list} ${from} order by rowid desc`)) {
      if ((key as number) <= ends.first) return
      ends.last = key as number
      yield row
    }
    // When no row at either end of the table can be read, its root page is damaged, so no key can be found and none is tried.
    if (Number.isFinite(ends.first) || Number.isFinite(ends.last)) yield* between(ends.first, ends.last)
  }

  function* between(first: number, last: number): Generator<readonly SqlValue[]> {
    const highest = Number.isFinite(last) ? last - 1 : first + MAX_PROBES
    const lowest = Number.isFinite(first) ? first + 1 : Math.max(1, highest - MAX_PROBES)
    const one = db.prepareArrays<readonly SqlValue[]>(`select ${list} ${from} where rowid = ?`)
    let inVain = 0
    for (let key = lowest; key <= Math.min(highest, lowest + MAX_PROBES) && inVain < MAX_IN_VAIN; key++) {
      const row = orNothing(() => one.get(key))
      inVain = row === undefined ? inVain + 1 : 0
      if (row !== undefined) yield row
    }
  }

  /**
   * Reads a table without row ids, which is stored by its primary key: from the start, and where that fails from the end. The caller
   * tolerates that a row is read twice.
   */
  function* fromBothEnds(): Generator<readonly SqlValue[]> {
    yield* until(`select ${list} ${from}`)
    if (!isCut) return
    const key = db
      .prepareArrays<[string]>('select name from pragma_table_info(?) where pk > 0 order by pk')
      .all(table)
      .map(([name]) => `${quote(name)} desc`)
    yield* until(`select ${list} ${from} order by ${key.join(', ')}`)
  }

  function* until(sql: string): Generator<readonly SqlValue[]> {
    try {
      yield* db.prepareArrays<readonly SqlValue[]>(sql).each()
    } catch (error) {
      if (!isDamage(error)) throw error
      isCut = true
    }
  }
}

function isDamage(error: unknown): boolean {
  return error instanceof QuerentError && (error.code === 'store_corrupt' || error.code === 'io_failed')
}

export function orNothing<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (isDamage(error)) return undefined
    throw error
  }
}

function canRead(db: SqlDatabase, sql: string): boolean {
  try {
    db.prepareArrays(sql).all()
    return true
  } catch (error) {
    if (error instanceof QuerentError) return false
    throw error
  }
}
