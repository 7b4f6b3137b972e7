/** The change feed in SQLite. */
import type { Instant } from '../../base/clock.ts'
import type { EntryKey } from '../../model/entry.ts'
import type { PartitionId } from '../../model/partition.ts'
import type { Change } from '../store.ts'
import type { SqlDatabase } from './sql-driver.ts'
import { limitOf } from './values.ts'

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
    const { lastKey } = this.#db
      .prepare('insert into changes (entry, kind, partition, from_partition, at) values (?, ?, ?, ?, ?)')
      .run(entry, kind, partition, from, at)
    this.told = lastKey
  }

  last(): number {
    return this.#db.prepareArrays<[number | null]>('select max(seq) from changes').get()?.[0] ?? 0
  }

  first(): number {
    return this.#db.prepareArrays<[number | null]>('select min(seq) from changes').get()?.[0] ?? 0
  }

  since(seq: number, limit: number): readonly Change[] {
    return this.#db
      .prepare<Change>(
        `select seq, entry, kind, partition, from_partition as "from", at from changes
         where seq > ? order by seq limit ?`,
      )
      .all(seq, limitOf(limit))
      .map(change => ({ ...change }))
  }

  prune(seq: number): void {
    this.#db.prepare('delete from changes where seq <= ? and seq < (select max(seq) from changes)').run(seq)
  }
}
