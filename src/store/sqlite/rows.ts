/** Reading, adding and checking rows and their values, for every part of the store alike. */
import { crc32 } from 'node:zlib'
import type { JsonObject } from '../../base/canonical.ts'
import { QuerentError } from '../../model/errors.ts'
import type { SqlDatabase, SqlValue } from './node-sqlite.ts'

/**
 * `select` ends with the key column. Where damage keeps one row from being read, and the policy is to go around damage,
 * the others are read one by one.
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
  /** The same statement in both orders, without its limit. */
  readonly forward: string
  readonly backward: string
  readonly values: readonly SqlValue[]
  readonly limit: number
  /** What is made of a row; throws `store_corrupt` where it is damaged. */
  readonly take: (row: Row) => T
}

/**
 * At most `limit` rows in order. Where the policy is to go around damage, a damaged row counts for nothing, and where a
 * damaged page ends the reading, what lies behind it comes from the other end.
 */
export function rowsInOrder<Row extends readonly SqlValue[], T>(
  db: SqlDatabase,
  ordered: OrderedRows<Row, T>,
  damage: DamagePolicy,
): readonly T[] {
  const { forward, backward, values, limit, take } = ordered
  if (!damage.isAround)
    return db
      .prepareArrays<Row>(`${forward} limit ?`)
      .all(...values, limit)
      .map(take)
  const read: Row[] = []
  /** False: the reading was ended by damage. */
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
    // Only here are rows compared: they hold whole vectors.
    const places = new Set(read.map(row => JSON.stringify(row)))
    collect(backward, back, Number.POSITIVE_INFINITY, row => places.has(JSON.stringify(row)))
  }
  return [...front, ...back.reverse()].slice(0, limit)
}

/** The next key of a table that counts its keys up and never gives one twice; inside a write transaction. */
export function nextKey(db: SqlDatabase, table: 'entries' | 'chunks' | 'partitions', column = 'key'): number {
  const sql = `select max(coalesce((select seq from sqlite_sequence where name = ?), 0), coalesce(max(${column}), 0)) + 1
    from ${table}`
  return db.prepareArrays<[number]>(sql).get(table)?.[0] ?? 1
}

// A check sum in every row, so that damage of the file that SQLite does not notice is never read as data. Each table but
// `identity`, `entry_tags` and `entry_values` (whose rows repeat what entries hold) has a column `_check`: the CRC-32 of
// the row's other cells. It finds every burst of up to 32 bits and all but one in four thousand million others. It is no
// defence against somebody who edits the file on purpose.

/** Declared columns begin with a letter, so no lens can have a column of this name. */
export const CHECK = '_check'

/** Longer texts are summed on their own instead of being copied into one text with the other cells. */
const LONG = 256

/**
 * Signed, 32 bits. Cells in the order of the table's columns, `_check` left out. A null counts as nothing, so that a
 * column that the table grows at its end leaves the check of older rows as it is. `from` and `to` (excluded) take a part.
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

/** Whether a row is as it was written; its check is its last cell. `from` and `to` (excluded) take a part. */
export function isWhole(row: readonly SqlValue[], from = 0, to: number = row.length): boolean {
  return row[to - 1] === checkOf(row, from, to - 1)
}

/** A row with its check, as it is written. */
export function checked(cells: readonly SqlValue[]): SqlValue[] {
  return [...cells, checkOf(cells)]
}

/** `what` names the place for a person, `details` for a program (`id`, or `table` and `key`). */
export function damaged(what: string, details: JsonObject, cause?: unknown): QuerentError {
  const message = `${what}: what is stored is damaged; delete it or write it again, or restore a backup`
  return new QuerentError('store_corrupt', message, details, cause)
}

export function isDamage(error: unknown): error is QuerentError {
  return error instanceof QuerentError && error.code === 'store_corrupt'
}

/**
 * What happens where a row is damaged: normally the read throws `store_corrupt`; inside `around` the row is left out and
 * reported. One for each connection.
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

  /** Throws the damage, or reports it. Anything that is no damage is always thrown. */
  met(error: unknown): void {
    if (this.#report === null || !isDamage(error)) throw error
    this.#report(error)
  }
}

/** Keys as one value, for `in (select value from json_each(?))`: one statement for lists of any length. */
export function keyList(keys: readonly number[]): string {
  return JSON.stringify(keys)
}

/** `limit ?` takes no infinity. */
export function limitOf(limit: number): number {
  return Math.min(limit, Number.MAX_SAFE_INTEGER)
}

/** What rows by key were asked for, in the order of the keys; those that are missing left out. */
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

/** Every blob comes out of the driver as a fresh buffer of its own. */
export function vectorOf(blob: Uint8Array): Float32Array {
  return new Float32Array(blob.buffer, blob.byteOffset, blob.byteLength / Float32Array.BYTES_PER_ELEMENT)
}

/** How a truth value is stored where numbers and texts may stand too. */
export function truthValue(flag: boolean): SqlValue {
  return Uint8Array.of(Number(flag))
}
