/** Vectors in SQLite: f32 in the machine's byte order, which is little-endian wherever Node runs. */
import type { ChunkKey, EntryKey } from '../../model/entry.ts'
import type { PartitionId } from '../../model/partition.ts'
import { checkText, checkVector } from '../check.ts'
import type { ChunkVector } from '../store.ts'
import { chunkOfVector, type SqliteModels, vectorKey } from './models.ts'
import type { SqlDatabase } from './sql-driver.ts'
import type { SqliteTallies } from './tallies.ts'
import { bytesOf, inOrder, keyList, limitOf, vectorOf } from './values.ts'

const SELECT = 'select v.key, v.entry, e.partition, v.vector from vectors v join entries e on e.key = v.entry'

type Row = readonly [key: number, entry: number, partition: number, vector: Uint8Array]

export class SqliteVectors {
  readonly #db: SqlDatabase
  readonly #models: SqliteModels
  readonly #tallies: SqliteTallies

  constructor(db: SqlDatabase, models: SqliteModels, tallies: SqliteTallies) {
    this.#db = db
    this.#models = models
    this.#tallies = tallies
  }

  byChunk(model: string, chunks: readonly ChunkKey[]): readonly ChunkVector[] {
    const known = this.#models.get(model)
    if (known === undefined) return []
    const keys = chunks.map(chunk => vectorKey(chunk, known.id))
    const rows = this.#select(`${SELECT} where v.key in (select value from json_each(?))`, keyList(keys))
    return inOrder(chunks, rows, row => row.chunk)
  }

  only(model: string, chunks: readonly ChunkKey[]): readonly Pick<ChunkVector, 'chunk' | 'vector'>[] {
    const known = this.#models.get(model)
    if (known === undefined) return []
    const keys = chunks.map(chunk => vectorKey(chunk, known.id))
    const rows = this.#db
      .prepareArrays<[number, Uint8Array]>(
        'select key, vector from vectors where key in (select value from json_each(?))',
      )
      .all(keyList(keys))
      .map(([key, blob]) => ({ chunk: chunkOfVector(key), vector: vectorOf(blob) }))
    return inOrder(chunks, rows, row => row.chunk)
  }

  scan(model: string, after: ChunkKey, limit: number): readonly ChunkVector[] {
    const known = this.#models.get(model)
    if (known === undefined) return []
    const sql = `${SELECT} where v.key > ? and v.key & 255 = ${known.id} order by v.key limit ?`
    return this.#select(sql, vectorKey(after, known.id), limitOf(limit))
  }

  count(model: string, partitions: readonly PartitionId[]): number {
    const known = this.#models.get(model)
    return known === undefined ? 0 : this.#tallies.sum(known.id, partitions)
  }

  /** The entries that got one, ascending. */
  write(
    name: string,
    vectors: readonly { readonly chunk: ChunkKey; readonly vector: Float32Array }[],
  ): readonly { readonly entry: EntryKey; readonly partition: PartitionId }[] {
    checkText('model', name)
    let model = this.#models.get(name)
    const owner = this.#db.prepareArrays<[number, number]>(
      'select c.entry, e.partition from chunks c join entries e on e.key = c.entry where c.key = ?',
    )
    const insert = this.#db.prepare('insert or ignore into vectors (vector, entry, key) values (?, ?, ?)')
    const replace = this.#db.prepare('update vectors set vector = ? where key = ?')
    const touched = new Map<EntryKey, PartitionId>()
    for (const { chunk, vector } of vectors) {
      checkVector(name, vector, model?.dimensions)
      const [entry, partition] = owner.get(chunk) ?? []
      if (entry === undefined || partition === undefined) continue
      model ??= this.#models.add(name, vector.length)
      const [bytes, key] = [bytesOf(vector), vectorKey(chunk, model.id)]
      if (insert.run(bytes, entry, key).changes === 1) this.#tallies.add(partition, new Map([[model.id, 1]]))
      else replace.run(bytes, key)
      touched.set(entry, partition)
    }
    return [...touched].map(([entry, partition]) => ({ entry, partition })).sort((a, b) => a.entry - b.entry)
  }

  /** One line for each vector that belongs to no chunk. */
  check(): readonly string[] {
    const sql = `select v.key from vectors v left join chunks c on c.key = v.key >> 8
      where c.entry is not v.entry limit 20`
    const rows = this.#db.prepareArrays<[number]>(sql).all()
    return rows.map(([key]) => `vectors, key ${key}: no such chunk of its entry`)
  }

  #select(sql: string, ...values: readonly (number | string)[]): readonly ChunkVector[] {
    const rows = this.#db.prepareArrays<Row>(sql).all(...values)
    return rows.map(([key, entry, partition, blob]) => {
      return { chunk: chunkOfVector(key), entry, partition, vector: vectorOf(blob) }
    })
  }
}
