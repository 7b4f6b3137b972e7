/** The rows of a table that can be read although some of its pages cannot: from both ends, then key by key in between. */
import { QuerentError } from '../../model/errors.ts'
import type { SqlDatabase, SqlValue } from '../sqlite/sql-driver.ts'
import { quote } from '../sqlite/table.ts'

/** Keys asked for one by one where pages are damaged, at some 20 µs each: in all, and in vain one after the other. */
const MOST_PROBES = 200_000
const MOST_IN_VAIN = 5_000

export interface ReadableRows {
  readonly rows: Iterable<readonly SqlValue[]>
  /** Whether something could not be read; known when all rows were taken. */
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
    // With neither end the root is damaged, and no key leads anywhere.
    if (Number.isFinite(ends.first) || Number.isFinite(ends.last)) yield* between(ends.first, ends.last)
  }

  function* between(first: number, last: number): Generator<readonly SqlValue[]> {
    const highest = Number.isFinite(last) ? last - 1 : first + MOST_PROBES
    const lowest = Number.isFinite(first) ? first + 1 : Math.max(1, highest - MOST_PROBES)
    const one = db.prepareArrays<readonly SqlValue[]>(`select ${list} ${from} where rowid = ?`)
    let inVain = 0
    for (let key = lowest; key <= Math.min(highest, lowest + MOST_PROBES) && inVain < MOST_IN_VAIN; key++) {
      const row = orNothing(() => one.get(key))
      inVain = row === undefined ? inVain + 1 : 0
      if (row !== undefined) yield row
    }
  }

  /** Without row ids a table is its primary key. The same row twice does no harm. */
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
