/** Reads, adds and checks rows and their values; used by all parts of the SQLite store. */
import { crc32 } from 'node:zlib'
import type { JsonObject } from '../../base/canonical.ts'
import { QuerentError } from '../../model/errors.ts'
import type { SqlDatabase, SqlValue } from './node-sqlite.ts'

/**
 * Reads rows by key; the last column of `select` must be the key. Where damage makes the statement fail, and the policy is to skip damage,
 * the rows are read one by one, so that the undamaged ones are found.
 */
export function rowsByKey<Row extends readonly SqlValue[]>(
  db: SqlDatabase,
  select: string,
  keys: readonly number[],
  damage: DamagePolicy,
): readonly Row[] {
  if (keys.length === 0) return []
  if (keys.length === 1) return oneRow<Row>(db, select, keys[0] as number, damage)
  try {
    return db.prepareArrays<Row>(`${select} in (select value from json_each(?))`).all(keyList(keys))
  } catch (error) {
    if (!damage.isAround) throw error
    return keys.flatMap(key => oneRow<Row>(db, select, key, damage))
  }
}

function oneRow<Row extends readonly SqlValue[]>(
  db: SqlDatabase,
  select: string,
  key: number,
  damage: DamagePolicy,
): readonly Row[] {
  try {
    const row = db.prepareArrays<Row>(`${select} = ?`).get(key)
    return row === undefined ? [] : [row]
  } catch (error) {
    damage.met(error)
    return []
  }
}

interface OrderedRows<Row extends readonly SqlValue[], T> {
  /** The SQL statement for the rows, without its limit: `forward` in ascending, `backward` in descending order. */
  readonly forward: string
  readonly backward: string
  readonly values: readonly SqlValue[]
  readonly limit: number
  /** Makes a value from a row; throws `store_corrupt` where the row is damaged. */
  readonly take: (row: Row) => T
}

/**
 * Reads at most `limit` rows in order. Where the policy is to skip damage, a damaged row is left out, and where a damaged page ends the
 * reading, the rows after the page are read from the other end.
 */
export function rowsInOrder<Row extends readonly SqlValue[], T>(
  db: SqlDatabase,
  ordered: OrderedRows<Row, T>,
  damage: DamagePolicy,
): readonly T[] {
  const { forward, backward, values, limit, take } = ordered
  try {
    return db
      .prepareArrays<Row>(`${forward} limit ?`)
      .all(...values, limit)
      .map(take)
  } catch (error) {
    if (!(damage.isAround && isDamage(error))) throw error
  }
  // Rows are read one by one, which takes twice as long, only where one of them is damaged.
  const read: Row[] = []
  /** Collects the rows of a statement; returns false where damage ended the reading. */
  const collect = (sql: string, into: T[], most: number, isKnown: (row: Row) => boolean): boolean => {
    try {
      for (const row of db.prepareArrays<Row>(sql).each(...values)) {
        if (into.length === most || isKnown(row)) return true
        read.push(row)
        try {
          into.push(take(row))
        } catch (error) {
          damage.met(error)
        }
      }
      return true
    } catch (error) {
      damage.met(error)
      return false
    }
  }
  const [front, back]: [T[], T[]] = [[], []]
  if (!collect(forward, front, limit, () => false)) {
    // Rows read from both ends are compared only where damage ended the first reading, since comparing whole rows, with their vectors, is
    // slow.
    const places = new Set(read.map(row => JSON.stringify(row)))
    collect(backward, back, Number.POSITIVE_INFINITY, row => places.has(JSON.stringify(row)))
  }
  return [...front, ...back.reverse()].slice(0, limit)
}

/** The next unused key of a table whose keys ascend and are never reused. Must be called inside a write transaction. */
export function nextKey(db: SqlDatabase, table: 'entries' | 'chunks' | 'partitions', column = 'key'): number {
  const sql = `select max(coalesce((select seq from sqlite_sequence where name = ?), 0), coalesce(max(${column}), 0)) + 1
    from ${table}`
  return db.prepareArrays<[number]>(sql).get(table)?.[0] ?? 1
}

// A check sum in every row, so that damage of the file which SQLite does not notice is never read as data. Each table has a column
// `_check`, the CRC-32 of the row's other cells; except `identity`, and `entry_tags` and `entry_values`, whose rows repeat data of entries.
// CRC-32 detects every burst of up to 32 wrong bits, and all but one in four thousand million other changes. It does not protect against
// deliberate changes of the file.

/** Name of the check sum column. Names of declared columns begin with a letter, so no column of a lens can have this name. */
export const CHECK = '_check'

/**
 * Texts longer than this many characters are added to the check sum separately, to avoid copying them into one text with the other cells.
 */
const LONG = 256

/**
 * The check sum of a row: a signed 32-bit CRC of its cells in the order of the table's columns, without `_check`. A null adds nothing, so
 * that a column added at the table's end leaves the check sums of older rows valid. `from` and `to` (excluded): which cells to use.
 */
export function checkOf(cells: readonly SqlValue[], from = 0, to: number = cells.length): number {
  let short = ''
  let sum = 0
  for (let at = from; at < to; at++) {
    const cell = cells[at] as SqlValue
    if (cell === null) continue
    if (typeof cell === 'number') short += `n${at - from}:${cell}`
    else if (typeof cell === 'string' && cell.length <= LONG) short += `t${at - from}:${cell}`
    else {
      sum = crc32(cell, sum)
      short += `${typeof cell === 'string' ? 't' : 'b'}${at - from}:${cell.length}`
    }
  }
  return crc32(short, sum) | 0
}

/**
 * Whether a row is unchanged since it was written, by its check sum, which is its last cell. `from` and `to` (excluded): which cells belong
 * to the row.
 */
export function isWhole(row: readonly SqlValue[], from = 0, to: number = row.length): boolean {
  return row[to - 1] === checkOf(row, from, to - 1)
}

/** A row with its check sum appended, as it is written. */
export function checked(cells: readonly SqlValue[]): SqlValue[] {
  return [...cells, checkOf(cells)]
}

/** The error for a damaged row. `what`: the damaged thing, for people; `details`: for programs (`id`, or `table` and `key`). */
export function damaged(what: string, details: JsonObject, cause?: unknown): QuerentError {
  const message = `${what}: what is stored is damaged; delete it or write it again, or restore a backup`
  return new QuerentError('store_corrupt', message, details, cause)
}

export function isDamage(error: unknown): error is QuerentError {
  return error instanceof QuerentError && error.code === 'store_corrupt'
}

/**
 * What happens when a damaged row is read: normally the read throws `store_corrupt`; inside `around`, the row is left out and reported
 * instead. Each connection has one policy.
 */
export class DamagePolicy {
  #report: ((damage: QuerentError) => void) | null = null

  get isAround(): boolean {
    return this.#report !== null
  }

  around<T>(report: (damage: QuerentError) => void, body: () => T): T {
    const outer = this.#report
    this.#report = report
    try {
      return body()
    } finally {
      this.#report = outer
    }
  }

  /** Handles an error of reading: throws it, or, inside `around`, reports it if it is about damage. Other errors are always thrown. */
  met(error: unknown): void {
    if (this.#report === null || !isDamage(error)) throw error
    this.#report(error)
  }
}

/** A list of keys as one bound value, for `in (select value from json_each(?))`, so that lists of any length use the same statement. */
export function keyList(keys: readonly number[]): string {
  return JSON.stringify(keys)
}

/** A limit as a value for `limit ?`, which does not accept infinity. */
export function limitOf(limit: number): number {
  return Math.min(limit, Number.MAX_SAFE_INTEGER)
}

/** Rows sorted into the order of the requested keys; keys without a row are left out. */
export function inOrder<Row>(keys: readonly number[], rows: readonly Row[], keyOf: (row: Row) => number): Row[] {
  const byKey = new Map(rows.map(row => [keyOf(row), row]))
  return keys.flatMap(key => {
    const row = byKey.get(key)
    return row === undefined ? [] : [row]
  })
}

export function bytesOf(vector: Float32Array): Uint8Array {
  return new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength)
}

/** The vector stored in a blob. It uses the blob's memory without copying, since the driver returns every blob in a new buffer. */
export function vectorOf(blob: Uint8Array): Float32Array {
  return new Float32Array(blob.buffer, blob.byteOffset, blob.byteLength / Float32Array.BYTES_PER_ELEMENT)
}

/** A boolean in the form that is stored in columns that may also contain numbers and texts: a blob of one byte. */
export function truthValue(flag: boolean): SqlValue {
  return Uint8Array.of(Number(flag))
}
