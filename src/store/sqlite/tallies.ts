/** How many chunks and vectors there are, kept by partition as they come and go. */
import type { EntryKey } from '../../model/entry.ts'
import type { PartitionId } from '../../model/partition.ts'
import type { SqlDatabase } from './sql-driver.ts'
import { keyList } from './values.ts'

/** In place of a model: the chunks themselves. */
export const CHUNKS = 0

/** Numbers by model, or by `CHUNKS`. */
export type Tally = ReadonlyMap<number, number>

export class SqliteTallies {
  readonly #db: SqlDatabase

  constructor(db: SqlDatabase) {
    this.#db = db
  }

  sum(model: number, partitions: readonly PartitionId[]): number {
    const sql = `select total(count) from tallies
      where model = ? and partition in (select value from json_each(?))`
    return this.#db.prepareArrays<[number]>(sql).get(model, keyList(partitions))?.[0] ?? 0
  }

  /** What one entry has now. */
  ofEntry(entry: EntryKey): Tally {
    const sql = `select ${CHUNKS}, count(*) from chunks where entry = ?
      union all
      select v.key & 255, count(*) from chunks c join vectors v on v.key between c.key * 256 and c.key * 256 + 255
        where c.entry = ? group by 1`
    return new Map(this.#db.prepareArrays<[number, number]>(sql).all(entry, entry))
  }

  /** `sign` 1 counts the tally in, -1 out. */
  add(partition: PartitionId, tally: Tally, sign: 1 | -1 = 1): void {
    const statement = this.#db.prepare(
      `insert into tallies (partition, model, count) values (?, ?, ?)
       on conflict do update set count = count + excluded.count`,
    )
    for (const [model, count] of tally) if (count !== 0) statement.run(partition, model, sign * count)
  }

  /** One line for each number that is wrong. */
  check(): readonly string[] {
    return wrongTallies(this.#db).map(({ partition, model, kept, right }) => {
      return `tallies, partition ${partition}, model ${model}: wrong by ${kept - right}`
    })
  }
}

export interface WrongTally {
  readonly partition: PartitionId
  /** Or `CHUNKS`. */
  readonly model: number
  readonly kept: number
  /** What is counted. */
  readonly right: number
}

/** By partition, then model. Counts everything. */
export function wrongTallies(db: SqlDatabase): readonly WrongTally[] {
  const sql = `
    with counted (partition, model, right) as (
      select e.partition, ${CHUNKS}, count(*) from chunks c join entries e on e.key = c.entry group by 1
      union all
      select e.partition, v.key & 255, count(*) from vectors v
        join chunks c on c.key = v.key >> 8 join entries e on e.key = c.entry and e.key = v.entry group by 1, 2
    ),
    kept as (select partition, model, count from tallies)
    select coalesce(c.partition, k.partition), coalesce(c.model, k.model), coalesce(k.count, 0), coalesce(c.right, 0)
    from counted c full join kept k on k.partition = c.partition and k.model = c.model
    where coalesce(c.right, 0) <> coalesce(k.count, 0) order by 1, 2`
  const rows = db.prepareArrays<[number, number, number, number]>(sql).all()
  return rows.map(([partition, model, kept, right]) => ({ partition, model, kept, right }))
}
