/** Embedding models by name. There are few, so that a vector's key can hold its model's number beside its chunk's. */
import type { ChunkKey } from '../../model/entry.ts'
import { QuerentError } from '../../model/errors.ts'
import { checked, damaged, isWhole } from './row-checks.ts'
import type { SqlDatabase } from './sql-driver.ts'

/** One byte of a vector's key; 0 stands for none (see `CHUNKS` in `tallies.ts`). */
const MAX_MODELS = 255

export interface Model {
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

export function vectorKey(chunk: ChunkKey, model: number): number {
  return chunk * (MAX_MODELS + 1) + model
}

export function chunkOfVector(key: number): ChunkKey {
  return Math.floor(key / (MAX_MODELS + 1))
}
