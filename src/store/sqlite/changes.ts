/** The change feed in SQLite. */
import type { Instant } from '../../base/clock.ts'
import type { EntryKey } from '../../model/entry.ts'
import type { PartitionId } from '../../model/partition.ts'
import type { Change } from '../store.ts'
import { checked, damaged, isWhole } from './row-checks.ts'
import type { SqlDatabase } from './sql-driver.ts'
import { limitOf } from './values.ts'

type Row = readonly [
  seq: number,
  entry: EntryKey,
  kind: Change['kind'],
  partition: PartitionId,
  from: PartitionId | null,
  at: Instant,
  check: number,
]

/** Adds a change to the feed and returns its number. Inside a write transaction. */
export function tellChange(db: SqlDatabase, { entry, kind, partition, from, at }: Omit<Change, 'seq'>): number {
  const sql = `select max(coalesce((select seq from sqlite_sequence where name = 'changes'), 0), coalesce(max(seq), 0)) + 1
    from changes`
  const seq = db.prepareArrays<[number]>(sql).get()?.[0] ?? 1
  db.prepare(
    'insert into changes (seq, entry, kind, partition, from_partition, at, _check) values (?, ?, ?, ?, ?, ?, ?)',
  ).run(...checked([seq, entry, kind, partition, from, at]))
  return seq
}

export class SqliteChanges {
  readonly #db: SqlDatabase
  /** The newest change of the running transaction, null when it told none. */
  told: number | null = null

  constructor(db: SqlDatabase) {
    this.#db = db
  }

  /** A transaction begins. */
  begin(): void {
    this.told = null
  }

  tell(kind: Change['kind'], entry: EntryKey, partition: PartitionId, from: PartitionId | null, at: Instant): void {
    this.told = tellChange(this.#db, { entry, kind, partition, from, at })
  }

  last(): number {
    return this.#db.prepareArrays<[number | null]>('select max(seq) from changes').get()?.[0] ?? 0
  }

  first(): number {
    return this.#db.prepareArrays<[number | null]>('select min(seq) from changes').get()?.[0] ?? 0
  }

  since(seq: number, limit: number): readonly Change[] {
    return this.#db
      .prepareArrays<Row>(
        `select seq, entry, kind, partition, from_partition, at, _check from changes
         where seq > ? order by seq limit ?`,
      )
      .all(seq, limitOf(limit))
      .map(row => {
        const [at, entry, kind, partition, from, time] = row
        if (!isWhole(row)) throw damaged(`change ${at} of the feed`, { table: 'changes', key: at })
        return { seq: at, entry, kind, partition, from, at: time }
      })
  }

  prune(seq: number): void {
    this.#db.prepare('delete from changes where seq <= ? and seq < (select max(seq) from changes)').run(seq)
  }
}
