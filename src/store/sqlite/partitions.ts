/** Partitions in SQLite. They are never changed or deleted, so what was read once is remembered. */
import { must } from '../../base/assert.ts'
import { type Audience, type PartitionId, partitionKey } from '../../model/partition.ts'
import { audienceOfPartition, soundAudience } from '../check.ts'
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
    const insert = this.#db.prepare('insert into partitions (name, audience) values (?, ?)')
    return insert.run(name, JSON.stringify(audienceOfPartition(sound))).lastKey
  }

  /** The audience of an entry: its partition's, and for a public one the entry's own holder. */
  audienceOf(partition: PartitionId, holder: string): Audience {
    if (!this.#known.has(partition)) this.#learn()
    const { audience } = must(this.#known.get(partition), 'the partition of an entry')
    return audience.kind === 'public' ? { kind: 'public', holder } : audience
  }

  #learn(): void {
    const newer = this.#db.prepare<{ id: number; audience: string }>(
      'select id, audience from partitions where id > ? order by id',
    )
    for (const { id, audience } of newer.all(this.#last)) {
      this.#known.set(id, Object.freeze({ id, audience: JSON.parse(audience) as Audience }))
      this.#last = id
    }
  }

  #forget(): void {
    this.#known = new Map()
    this.#last = 0
  }
}
