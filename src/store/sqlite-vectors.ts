/** Vectors in SQLite: f32 in the machine's byte order, which is little-endian wherever Node runs. */
import type { ChunkKey, EntryKey } from '../model/entry.ts'
import type { PartitionId } from '../model/partition.ts'
import { checkText, checkVector } from './check.ts'
import type { SqlDatabase } from './sql-driver.ts'
import type { SqliteTallies } from './sqlite-tallies.ts'
import { bytesOf, inOrder, keyList, limitOf, vectorOf } from './sqlite-values.ts'
import type { ChunkVector } from './store.ts'

const SELECT = `select v.chunk, c.entry, e.partition, v.vector
  from vectors v join chunks c on c.key = v.chunk join entries e on e.key = c.entry`

type Row = readonly [chunk: number, entry: number, partition: number, vector: Uint8Array]

interface Model {
  readonly id: number
  readonly dimensions: number
}

export class SqliteVectors {
  readonly #db: SqlDatabase
  readonly #tallies: SqliteTallies

  constructor(db: SqlDatabase, tallies: SqliteTallies) {
    this.#db = db
    this.#tallies = tallies
  }

  byChunk(model: string, chunks: readonly ChunkKey[]): readonly ChunkVector[] {
    const known = this.#model(model)
    if (known === undefined) return []
    const sql = `${SELECT} where v.chunk in (select value from json_each(?)) and v.model = ?`
    return inOrder(chunks, this.#select(sql, keyList(chunks), known.id), row => row.chunk)
  }

  scan(model: string, after: ChunkKey, limit: number): readonly ChunkVector[] {
    const known = this.#model(model)
    if (known === undefined) return []
    const sql = `${SELECT} where v.chunk > ? and v.model = ? order by v.chunk limit ?`
    return this.#select(sql, after, known.id, limitOf(limit))
  }

  count(model: string, partitions: readonly PartitionId[]): number {
    const known = this.#model(model)
    return known === undefined ? 0 : this.#tallies.sum(known.id, partitions)
  }

  /** The entries that got one, ascending. */
  write(
    name: string,
    vectors: readonly { readonly chunk: ChunkKey; readonly vector: Float32Array }[],
  ): readonly { readonly entry: EntryKey; readonly partition: PartitionId }[] {
    checkText('model', name)
    let model = this.#model(name)
    const owner = this.#db.prepareArrays<[number, number]>(
      'select c.entry, e.partition from chunks c join entries e on e.key = c.entry where c.key = ?',
    )
    const insert = this.#db.prepare('insert or ignore into vectors (vector, chunk, model) values (?, ?, ?)')
    const replace = this.#db.prepare('update vectors set vector = ? where chunk = ? and model = ?')
    const touched = new Map<EntryKey, PartitionId>()
    for (const { chunk, vector } of vectors) {
      checkVector(name, vector, model?.dimensions)
      const [entry, partition] = owner.get(chunk) ?? []
      if (entry === undefined || partition === undefined) continue
      model ??= this.#addModel(name, vector.length)
      const row = [bytesOf(vector), chunk, model.id] as const
      if (insert.run(...row).changes === 1) this.#tallies.add(partition, new Map([[model.id, 1]]))
      else replace.run(...row)
      touched.set(entry, partition)
    }
    return [...touched].map(([entry, partition]) => ({ entry, partition })).sort((a, b) => a.entry - b.entry)
  }

  #model(name: string): Model | undefined {
    return this.#db.prepare<Model & Record<string, never>>('select id, dimensions from models where name = ?').get(name)
  }

  #addModel(name: string, dimensions: number): Model {
    const insert = this.#db.prepare('insert into models (name, dimensions) values (?, ?)')
    return { id: insert.run(name, dimensions).lastKey, dimensions }
  }

  #select(sql: string, ...values: readonly (number | string)[]): readonly ChunkVector[] {
    const rows = this.#db.prepareArrays<Row>(sql).all(...values)
    return rows.map(([chunk, entry, partition, blob]) => ({ chunk, entry, partition, vector: vectorOf(blob) }))
  }
}
