/**
 * Vectors and their models in SQLite. A vector is stored as 32-bit floats in the machine's byte order, which is little-endian wherever Node
 * runs.
 */
import type { ChunkKey, EntryKey } from '../../model/entry.ts'
import { QuerentError } from '../../model/errors.ts'
import { type Audience, type PartitionId, partitionKey } from '../../model/partition.ts'
import { audienceOfPartition, checkText, checkVector, soundAudience } from '../check.ts'
import type { ChunkVector } from '../store.ts'
import type { SqlDatabase } from './node-sqlite.ts'
import {
  bytesOf,
  checked,
  checkOf,
  type DamagePolicy,
  damaged,
  inOrder,
  isWhole,
  keyList,
  limitOf,
  nextKey,
  rowsByKey,
  rowsInOrder,
  vectorOf,
} from './rows.ts'

const SELECT = 'select v.key, v.entry, e.partition, v.vector, v._check from vectors v join entries e on e.key = v.entry'

type Row = readonly [key: number, entry: number, partition: number, vector: Uint8Array, check: number]

export class SqliteVectors {
  readonly #db: SqlDatabase
  readonly #models: SqliteModels
  readonly #tallies: SqliteTallies
  readonly #damage: DamagePolicy

  constructor(db: SqlDatabase, models: SqliteModels, tallies: SqliteTallies, damage: DamagePolicy) {
    this.#db = db
    this.#damage = damage
    this.#models = models
    this.#tallies = tallies
  }

  byChunk(model: string, chunks: readonly ChunkKey[]): readonly ChunkVector[] {
    const known = this.#models.get(model)
    if (known === undefined) return []
    const keys = chunks.map(chunk => vectorKey(chunk, known.id))
    const rows = rowsByKey<Row>(this.#db, `${SELECT} where v.key`, keys, this.#damage)
    return inOrder(chunks, this.#sound(rows, known), row => row.chunk)
  }

  only(model: string, chunks: readonly ChunkKey[]): readonly Pick<ChunkVector, 'chunk' | 'vector'>[] {
    const known = this.#models.get(model)
    if (known === undefined) return []
    const keys = chunks.map(chunk => vectorKey(chunk, known.id))
    const select = 'select key, entry, 0, vector, _check from vectors where key'
    const rows = this.#sound(rowsByKey<Row>(this.#db, select, keys, this.#damage), known)
    return inOrder(chunks, rows, row => row.chunk).map(({ chunk, vector }) => ({ chunk, vector }))
  }

  scan(model: string, after: ChunkKey, limit: number): readonly ChunkVector[] {
    const known = this.#models.get(model)
    if (known === undefined) return []
    const sql = `${SELECT} where v.key > ? and v.key & 255 = ${known.id} order by v.key`
    const ordered = {
      ...{ forward: sql, backward: `${sql} desc`, values: [vectorKey(after, known.id)], limit: limitOf(limit) },
      take: (row: Row) => {
        const found = vectorIn(row, known)
        if (found !== null) return found
        throw damaged(`vector of passage number ${chunkOfVector(row[0])}`, { table: 'vectors', key: row[0] })
      },
    }
    return this.#damage.around(
      () => undefined,
      () => rowsInOrder(this.#db, ordered, this.#damage),
    )
  }

  count(model: string, partitions: readonly PartitionId[]): number {
    const known = this.#models.get(model)
    return known === undefined ? 0 : this.#tallies.sum(known.id, partitions)
  }

  /** Writes vectors of a model for chunks that exist; returns the entries that got a vector, ascending by key. */
  write(
    name: string,
    vectors: readonly { readonly chunk: ChunkKey; readonly vector: Float32Array }[],
  ): readonly { readonly entry: EntryKey; readonly partition: PartitionId }[] {
    checkText('model', name)
    let model = this.#models.get(name)
    const owner = this.#db.prepareArrays<[number, number]>(
      'select c.entry, e.partition from chunks c join entries e on e.key = c.entry where c.key = ?',
    )
    const insert = this.#db.prepare('insert or ignore into vectors (key, entry, vector, _check) values (?, ?, ?, ?)')
    const replace = this.#db.prepare('update vectors set key = ?, entry = ?, vector = ?, _check = ? where key = ?')
    const touched = new Map<EntryKey, PartitionId>()
    for (const { chunk, vector } of vectors) {
      checkVector(name, vector, model?.dimensions)
      const [entry, partition] = owner.get(chunk) ?? []
      if (entry === undefined || partition === undefined) continue
      model ??= this.#models.add(name, vector.length)
      const key = vectorKey(chunk, model.id)
      const cells = checked([key, entry, bytesOf(vector)])
      if (insert.run(...cells).changes === 1) this.#tallies.add(partition, new Map([[model.id, 1]]))
      else replace.run(...cells, key)
      touched.set(entry, partition)
    }
    return [...touched].map(([entry, partition]) => ({ entry, partition })).sort((a, b) => a.entry - b.entry)
  }

  /** Removes at most `limit` vectors of a model; returns how many it removed. */
  remove(name: string, limit: number): number {
    const model = this.#models.get(name)
    if (model === undefined) return 0
    const found = this.#db
      .prepareArrays<[key: number, partition: number]>(
        `select v.key, e.partition from vectors v join entries e on e.key = v.entry
         where v.key & 255 = ? order by v.key limit ?`,
      )
      .all(model.id, limit)
    const remove = this.#db.prepare('delete from vectors where key = ?')
    const counts = new Map<PartitionId, number>()
    for (const [key, partition] of found) {
      remove.run(key)
      counts.set(partition, (counts.get(partition) ?? 0) + 1)
    }
    for (const [partition, count] of counts) this.#tallies.add(partition, new Map([[model.id, count]]), -1)
    return found.length
  }

  #sound(rows: readonly Row[], model: Model): readonly ChunkVector[] {
    return rows.map(row => vectorIn(row, model)).filter(vector => vector !== null)
  }
}

/** The vector in a row; null where it is damaged: it counts as missing, and a repair makes it be computed again. */
function vectorIn([key, entry, partition, blob, check]: Row, { dimensions }: Model): ChunkVector | null {
  const isRight =
    check === checkOf([key, entry, blob]) && blob.byteLength === dimensions * Float32Array.BYTES_PER_ELEMENT
  return isRight ? { chunk: chunkOfVector(key), entry, partition, vector: vectorOf(blob) } : null
}

/** Largest number of models: a model's number takes one byte of a vector's key, and 0 means chunks instead of a model (see `CHUNKS`). */
const MAX_MODELS = 255

interface Model {
  readonly id: number
  readonly dimensions: number
}

/** Embedding models known to the store. They are never changed or removed, so each is cached once it was read. */
export class SqliteModels {
  readonly #db: SqlDatabase
  readonly #known = new Map<string, Model>()

  constructor(db: SqlDatabase) {
    this.#db = db
    db.onRollback(() => this.#known.clear())
  }

  get(name: string): Model | undefined {
    const known = this.#known.get(name)
    if (known !== undefined) return known
    const row = this.#db
      .prepareArrays<[number, string, number, number]>('select id, name, dimensions, _check from models where name = ?')
      .get(name)
    if (row === undefined) return undefined
    if (!isWhole(row) || row[1] !== name) throw damaged(`model ${name}`, { table: 'models', key: name })
    const found = { id: row[0], dimensions: row[2] }
    this.#known.set(name, found)
    return found
  }

  add(name: string, dimensions: number): Model {
    const id = (this.#db.prepareArrays<[number | null]>('select max(id) from models').get()?.[0] ?? 0) + 1
    if (id > MAX_MODELS) {
      const details = { field: 'model', value: id, limit: MAX_MODELS }
      throw new QuerentError('too_large', `a store keeps vectors of at most ${MAX_MODELS} models`, details)
    }
    this.#db
      .prepare('insert into models (id, name, dimensions, _check) values (?, ?, ?, ?)')
      .run(...checked([id, name, dimensions]))
    return { id, dimensions }
  }
}

function vectorKey(chunk: ChunkKey, model: number): number {
  return chunk * (MAX_MODELS + 1) + model
}

function chunkOfVector(key: number): ChunkKey {
  return Math.floor(key / (MAX_MODELS + 1))
}

// Partitions in SQLite, with tallies: the number of chunks and vectors in each partition, updated whenever chunks or vectors are added or
// deleted.

/** Number used in tallies for the count of chunks, in place of a model's number. */
export const CHUNKS = 0

/**
 * Counts of vectors, by the number of their embedding model. Under the number `CHUNKS`, which is no model's, it has the count of chunks.
 */
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

  /** Number of chunks and of vectors per model of a single entry, as stored now. */
  ofEntry(entry: EntryKey): Tally {
    const sql = `select ${CHUNKS}, count(*) from chunks where entry = ?
      union all
      select v.key & 255, count(*) from chunks c join vectors v on v.key between c.key * 256 and c.key * 256 + 255
        where c.entry = ? group by 1`
    return new Map(this.#db.prepareArrays<[number, number]>(sql).all(entry, entry))
  }

  /** Adds counts of chunks and vectors to (`sign` 1), or subtracts them from (`sign` -1), the stored counts (tallies) of a partition. */
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
  /** Number of the embedding model whose vectors are counted, or `CHUNKS` where chunks are counted. */
  readonly model: number
  readonly kept: number
  /** The correct number of chunks or vectors; `kept` is the number in the stored tally. */
  readonly right: number
}

/**
 * Tallies (stored counts of chunks and vectors) that differ from the actual numbers, by partition, then model. Counts all chunks and
 * vectors.
 */
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
  // Tallies (stored counts) whose row has a wrong check sum although the count in it is right by chance.
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
  /**
   * Number of the read transaction in which this object last looked for new partitions. Within one transaction no new ones can become
   * visible, so it looks only once.
   */
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

  /** The audience of an entry: that of its partition, and for a public entry with the entry's own holder. */
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
      // A partition whose row is damaged is left out: its entries are visible to nobody, since it is unknown who may see them.
      if (isWhole(row)) this.#known.set(id, Object.freeze({ id, audience: JSON.parse(audience) as Audience }))
    }
  }

  #forget(): void {
    this.#known = new Map()
    this.#last = 0
    this.#askedIn = 0
  }
}
