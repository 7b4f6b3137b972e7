/** How many chunks and vectors there are, kept by partition as they come and go. */
import type { EntryKey } from '../../model/entry.ts'
import type { PartitionId } from '../../model/partition.ts'
import { checked, damaged, isWhole } from './row-checks.ts'
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
    const sql = `select partition, model, count, _check from tallies
      where model = ? and partition in (select value from json_each(?))`
    let total = 0
    for (const row of this.#db.prepareArrays<[number, number, number, number]>(sql).all(model, keyList(partitions))) {
      if (!isWhole(row)) throw damaged('a count of passages', { table: 'tallies', key: row[0] })
      total += row[2]
    }
    return total
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
    const kept = this.#db.prepareArrays<[number]>('select count from tallies where partition = ? and model = ?')
    for (const [model, count] of tally) {
      if (count === 0) continue
      setTally(this.#db, partition, model, (kept.get(partition, model)?.[0] ?? 0) + sign * count)
    }
  }

  /** One line for each number that is wrong. */
  check(): readonly string[] {
    return wrongTallies(this.#db).map(({ partition, model, kept, right }) => {
      return `tallies, partition ${partition}, model ${model}: wrong by ${kept - right}`
    })
  }
}

export function setTally(db: SqlDatabase, partition: PartitionId, model: number, count: number): void {
  db.prepare(
    `insert into tallies (partition, model, count, _check) values (?, ?, ?, ?)
     on conflict do update set count = excluded.count, _check = excluded._check`,
  ).run(...checked([partition, model, count]))
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
  const wrong = rows.map(([partition, model, kept, right]) => ({ partition, model, kept, right }))
  // Right by chance, but not as it was written.
  const unchecked = db
    .prepareArrays<[number, number, number, number]>('select partition, model, count, _check from tallies')
    .all()
    .filter(row => !isWhole(row) && !wrong.some(one => one.partition === row[0] && one.model === row[1]))
  return [...wrong, ...unchecked.map(([partition, model, kept]) => ({ partition, model, kept, right: kept }))]
}
