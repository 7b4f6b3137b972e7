/** Named texts of the store itself. */
import { checkOf, damaged, isDamage, isWhole } from './row-checks.ts'
import type { SqlDatabase } from './sql-driver.ts'

/** Throws `store_corrupt` where it is damaged. */
export function readMeta(db: SqlDatabase, name: string): string | undefined {
  const row = db
    .prepareArrays<[string, string, number]>('select name, value, _check from meta where name = ?')
    .get(name)
  if (row === undefined) return undefined
  if (!isWhole(row) || row[0] !== name)
    throw damaged(`the store's own value ${JSON.stringify(name)}`, { table: 'meta', key: name })
  return row[1]
}

/** For values that can be made again: one that is damaged is taken for none. */
export function readSoundMeta(db: SqlDatabase, name: string): string | undefined {
  try {
    return readMeta(db, name)
  } catch (error) {
    if (isDamage(error)) return undefined
    throw error
  }
}

export function writeMeta(db: SqlDatabase, name: string, value: string): void {
  db.prepare(
    `insert into meta (name, value, _check) values (?, ?, ?)
     on conflict do update set value = excluded.value, _check = excluded._check`,
  ).run(name, value, checkOf([name, value]))
}
