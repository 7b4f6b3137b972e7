/** Access state in SQLite: a narrow table, changed by increments, so that no process undoes another's. */
import type { Instant } from '../../base/clock.ts'
import type { AccessState, EntryKey } from '../../model/entry.ts'
import type { Viewer } from '../../model/viewer.ts'
import { checkAccess } from '../check.ts'
import type { SqlDatabase } from './sql-driver.ts'
import { keyList } from './values.ts'

type Row = readonly [entry: number, lastAccessed: number, count: number, strength: number]

export class SqliteAccess {
  readonly #db: SqlDatabase

  constructor(db: SqlDatabase) {
    this.#db = db
  }

  of(viewer: Viewer, entries: readonly EntryKey[]): ReadonlyMap<EntryKey, AccessState> {
    const rows = this.#db
      .prepareArrays<Row>(
        `select entry, last_accessed, count, strength from access
         where viewer = ? and entry in (select value from json_each(?))`,
      )
      .all(viewer.id, keyList(entries))
    const states = new Map(
      rows.map(([entry, lastAccessed, count, strength]) => [entry, { lastAccessed, count, strength }] as const),
    )
    return new Map(entries.flatMap(entry => (states.has(entry) ? [[entry, states.get(entry) as AccessState]] : [])))
  }

  viewers(): readonly string[] {
    const rows = this.#db.prepareArrays<[string]>('select distinct viewer from access order by viewer').all()
    return rows.map(([viewer]) => viewer)
  }

  touch(viewer: Viewer, entries: readonly EntryKey[], now: Instant, gain: number): void {
    checkAccess(viewer, { lastAccessed: now, count: 0, strength: gain })
    const update = this.#db.prepare(
      `update access set last_accessed = max(last_accessed, ?), count = count + 1, strength = strength + ?
       where viewer = ? and entry = ?`,
    )
    // Apart from the update, which is by far the commoner case and a third dearer as an upsert.
    const insert = this.#db.prepare('insert into access select ?, key, ?, 1, ? from entries where key = ?')
    for (const entry of entries) {
      const { changes } = update.run(now, gain, viewer.id, entry)
      if (changes === 0) insert.run(viewer.id, now, gain, entry)
    }
  }

  set(viewer: Viewer, entry: EntryKey, state: AccessState): void {
    checkAccess(viewer, state)
    this.#db
      .prepare(
        `insert into access select ?, key, ?, ?, ? from entries where key = ?
         on conflict do update set
           last_accessed = excluded.last_accessed, count = excluded.count, strength = excluded.strength`,
      )
      .run(viewer.id, state.lastAccessed, state.count, state.strength, entry)
  }
}
