/** Partitions in SQLite. They are never changed or deleted, so what was read once is remembered. */
import { type Audience, type PartitionId, partitionKey } from '../../model/partition.ts'
import { audienceOfPartition, soundAudience } from '../check.ts'
import { checked, damaged, isWhole } from './row-checks.ts'
import { nextKey } from './rows.ts'
import type { SqlDatabase } from './sql-driver.ts'

interface Partition {
  readonly id: PartitionId
  readonly audience: Audience
}

export class SqlitePartitions {
  readonly #db: SqlDatabase
  #known = new Map<PartitionId, Partition>()
  #last: PartitionId = 0

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
  }
}
