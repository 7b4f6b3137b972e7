/** Reading and adding rows, for every part of the store alike. */
import type { DamagePolicy } from './row-checks.ts'
import type { SqlDatabase, SqlValue } from './sql-driver.ts'
import { keyList } from './values.ts'

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

export interface OrderedRows<Row extends readonly SqlValue[], T> {
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
