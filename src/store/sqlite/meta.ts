/** Named texts of the store itself. */
import type { SqlDatabase } from './sql-driver.ts'

export function readMeta(db: SqlDatabase, name: string): string | undefined {
  return db.prepareArrays<[string]>('select value from meta where name = ?').get(name)?.[0]
}

export function writeMeta(db: SqlDatabase, name: string, value: string): void {
  db.prepare('insert into meta (name, value) values (?, ?) on conflict do update set value = excluded.value').run(
    name,
    value,
  )
}
