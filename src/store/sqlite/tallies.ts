/** Partitions in SQLite, and how many chunks and vectors each has, counted as they come and go. */
import type { EntryKey } from '../../model/entry.ts'
import { type Audience, type PartitionId, partitionKey } from '../../model/partition.ts'
import { audienceOfPartition, soundAudience } from '../check.ts'
import type { SqlDatabase } from './node-sqlite.ts'
import { checked, damaged, isWhole, keyList, nextKey } from './rows.ts'

/** In place of a model: the chunks themselves. */
export const CHUNKS = 0

/** Numbers by model, or by `CHUNKS`. */
type Tally = ReadonlyMap<number, number>

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
}

export function setTally(db: SqlDatabase, partition: PartitionId, model: number, count: number): void {
  db.prepare(
    `insert into tallies (partition, model, count, _check) values (?, ?, ?, ?)
     on conflict do update set count = excluded.count, _check = excluded._check`,
  ).run(...checked([partition, model, count]))
}

interface WrongTally {
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

interface Partition {
  readonly id: PartitionId
  readonly audience: Audience
}

export class SqlitePartitions {
  readonly #db: SqlDatabase
  #known = new Map<PartitionId, Partition>()
  #last: PartitionId = 0
  /** The transaction that reads in which others were last looked for: in it there are no more. */
  #askedIn = 0

  constructor(db: SqlDatabase) {
    this.#db = db
    db.onRollback(() => this.#forget())
  }

  all(): readonly Partition[] {
    this.#learn()
    return [...this.#known.values()]
  }

  intern(audience: Audience): PartitionId {
    const sound = soundAudience(audience)
    const name = partitionKey(sound)
    const known = this.#db.prepare<{ id: number }>('select id from partitions where name = ?').get(name)
    if (known !== undefined) return known.id
    const cells = [nextKey(this.#db, 'partitions', 'id'), name, JSON.stringify(audienceOfPartition(sound))]
    return this.#db
      .prepare('insert into partitions (id, name, audience, _check) values (?, ?, ?, ?)')
      .run(...checked(cells)).lastKey
  }

  /** The audience of an entry: its partition's, and for a public one the entry's own holder. */
  audienceOf(partition: PartitionId, holder: string): Audience {
    if (!this.#known.has(partition)) this.#learn()
    const found = this.#known.get(partition)
    if (found === undefined) throw damaged(`partition ${partition}`, { table: 'partitions', key: partition })
    const { audience } = found
    return audience.kind === 'public' ? { kind: 'public', holder } : audience
  }

  #learn(): void {
    const { transaction, writing } = this.#db
    if (transaction !== 0 && !writing && transaction === this.#askedIn) return
    this.#askedIn = transaction
    const newer = this.#db.prepareArrays<[number, string, string, number]>(
      'select id, name, audience, _check from partitions where id > ? order by id',
    )
    for (const row of newer.all(this.#last)) {
      const [id, , audience] = row
      this.#last = id
      // Nobody sees what lies in a partition of which it is not known who may.
      if (isWhole(row)) this.#known.set(id, Object.freeze({ id, audience: JSON.parse(audience) as Audience }))
    }
  }

  #forget(): void {
    this.#known = new Map()
    this.#last = 0
    this.#askedIn = 0
  }
}
