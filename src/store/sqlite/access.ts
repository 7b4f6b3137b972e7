/** Access state in SQLite: a narrow table, changed by increments, so that no process undoes another's. */
import type { Instant } from '../../base/clock.ts'
import type { AccessState, EntryKey } from '../../model/entry.ts'
import type { Viewer } from '../../model/viewer.ts'
import { checkAccess } from '../check.ts'
import { checkOf, type DamagePolicy, damaged, isWhole } from './row-checks.ts'
import type { SqlDatabase } from './sql-driver.ts'
import { keyList } from './values.ts'

type Row = readonly [
  viewer: string,
  entry: number,
  lastAccessed: number,
  count: number,
  strength: number,
  check: number,
]

export class SqliteAccess {
  readonly #db: SqlDatabase
  readonly #damage: DamagePolicy

  constructor(db: SqlDatabase, damage: DamagePolicy) {
    this.#db = db
    this.#damage = damage
  }

  of(viewer: Viewer, entries: readonly EntryKey[]): ReadonlyMap<EntryKey, AccessState> {
    const states = this.#states(viewer, entries)
    return new Map(entries.flatMap(entry => (states.has(entry) ? [[entry, states.get(entry) as AccessState]] : [])))
  }

  viewers(): readonly string[] {
    const rows = this.#db.prepareArrays<[string]>('select distinct viewer from access order by viewer').all()
    return rows.map(([viewer]) => viewer)
  }

  touch(viewer: Viewer, entries: readonly EntryKey[], now: Instant, gain: number): void {
    checkAccess(viewer, { lastAccessed: now, count: 0, strength: gain })
    const known = this.#states(viewer, entries)
    for (const entry of entries) {
      const { lastAccessed, count, strength } = known.get(entry) ?? { lastAccessed: now, count: 0, strength: 0 }
      const state = { lastAccessed: Math.max(lastAccessed, now), count: count + 1, strength: strength + gain }
      this.#write(viewer, entry, state)
      known.set(entry, state)
    }
  }

  set(viewer: Viewer, entry: EntryKey, state: AccessState): void {
    checkAccess(viewer, state)
    this.#write(viewer, entry, state)
  }

  #states(viewer: Viewer, entries: readonly EntryKey[]): Map<EntryKey, AccessState> {
    const rows = this.#db
      .prepareArrays<Row>(
        `select viewer, entry, last_accessed, count, strength, _check from access
         where viewer = ? and entry in (select value from json_each(?))`,
      )
      .all(viewer.id, keyList(entries))
    const states = new Map<EntryKey, AccessState>()
    for (const row of rows) {
      const [, entry, lastAccessed, count, strength] = row
      if (isWhole(row)) states.set(entry, { lastAccessed, count, strength })
      else this.#damage.met(damaged(`use of entry number ${entry}`, { table: 'access', key: entry }))
    }
    return states
  }

  /** Nothing when the entry is gone. */
  #write(viewer: Viewer, entry: EntryKey, { lastAccessed, count, strength }: AccessState): void {
    this.#db
      .prepare(
        `insert into access (viewer, entry, last_accessed, count, strength, _check)
         select ?, key, ?, ?, ?, ? from entries where key = ?
         on conflict do update set last_accessed = excluded.last_accessed, count = excluded.count,
           strength = excluded.strength, _check = excluded._check`,
      )
      .run(viewer.id, lastAccessed, count, strength, checkOf([viewer.id, entry, lastAccessed, count, strength]), entry)
  }
}
