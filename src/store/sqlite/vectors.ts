/** Vectors and their models in SQLite. Vectors are f32 in the machine's byte order, little-endian wherever Node runs. */
import type { ChunkKey, EntryKey } from '../../model/entry.ts'
import { QuerentError } from '../../model/errors.ts'
import type { PartitionId } from '../../model/partition.ts'
import { checkText, checkVector } from '../check.ts'
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
  limitOf,
  rowsByKey,
  rowsInOrder,
  vectorOf,
} from './rows.ts'
import type { SqliteTallies } from './tallies.ts'

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

  /** At most `limit` of them; returns how many. */
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

/** Null: it is damaged, and counts as if it had not been made yet. A repair has it made again. */
function vectorIn([key, entry, partition, blob, check]: Row, { dimensions }: Model): ChunkVector | null {
  const isRight =
    check === checkOf([key, entry, blob]) && blob.byteLength === dimensions * Float32Array.BYTES_PER_ELEMENT
  return isRight ? { chunk: chunkOfVector(key), entry, partition, vector: vectorOf(blob) } : null
}

/** One byte of a vector's key; 0 stands for none (see `CHUNKS` in `tallies.ts`). */
const MAX_MODELS = 255

interface Model {
  readonly id: number
  readonly dimensions: number
}

/** Models are never changed or removed, so one that was read once is remembered. */
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
