/** usearch: a graph of neighbours in memory. Its JavaScript package cannot filter: more are fetched than are wanted. */
import { join } from 'node:path'
import { keeps } from '../lib/filters.ts'
import type { Fields } from '../lib/item.ts'
import { load, type Peer, versionOf } from '../lib/peer.ts'

interface Usearch {
  readonly Index: new (options: Readonly<Record<string, unknown>>) => Index
}

interface Index {
  add(keys: BigUint64Array | bigint, vectors: Float32Array, threads?: number): void
  search(vector: Float32Array, k: number, threads: number): { readonly keys: BigUint64Array }
  remove(key: bigint): void
  save(path: string): void
  load(path: string): void
}

const DIMENSIONS = 384
const BATCH = 10_000
const THREADS = 2
const FILE = 'index.usearch'

export const peer: Peer = {
  name: 'usearch',
  version: () => versionOf('usearch'),
  holds: 'ids',
  settings:
    'inner product, f32, connectivity 16, expansion_add 128 (its defaults); knob: expansion_search, fixed when an index is made, so one is loaded for each; with a filter: results fetched before a test of each in JavaScript, expansion 64',
  durability: 'in memory; the file is written again as a whole by save()',
  async build(folder, items) {
    const index = await make(64)
    for (let from = 0; from < items.count; from += BATCH) {
      const count = Math.min(BATCH, items.count - from)
      const keys = BigUint64Array.from({ length: count }, (_, i) => BigInt(from + i))
      index.add(keys, items.vectors.subarray(from * DIMENSIONS, (from + count) * DIMENSIONS), THREADS)
    }
    index.save(join(folder, FILE))
  },
  async open(folder, items) {
    const fields = Array.from({ length: items.count }, (_, row): Fields => items.of(row).fields)
    let [index, expansion, fetched] = [await made(folder, 64), 64, 10]
    return {
      knob: filtered =>
        filtered
          ? { name: 'fetched', values: [20, 40, 80, 200, 400, 1000, 2000, 4000, 8000, 16_000] }
          : { name: 'expansion_search', values: [16, 32, 64, 128, 256, 512] },
      set: async (value, filtered) => {
        if (filtered) fetched = value
        const wanted = filtered ? 64 : value
        if (wanted === expansion) return
        expansion = wanted
        index = await made(folder, wanted)
      },
      nearest: ({ vector }, k, filter) => {
        if (filter === undefined) return Array.from(index.search(vector, k, 1).keys, Number)
        const found: number[] = []
        for (const key of index.search(vector, Math.min(fetched, items.count), 1).keys) {
          const row = Number(key)
          if (keeps(filter, fields[row] as Fields) && found.push(row) === k) break
        }
        return found
      },
      put: (item, isNew) => {
        if (!isNew) index.remove(BigInt(item.row))
        index.add(BigInt(item.row), item.vector, 1)
      },
      remove: row => index.remove(BigInt(row)),
      close: () => {},
    }
  },
}

async function made(folder: string, expansion: number): Promise<Index> {
  const index = await make(expansion)
  index.load(join(folder, FILE))
  return index
}

async function make(expansion: number): Promise<Index> {
  const { Index } = await load<Usearch>('usearch')
  return new Index({
    ...{ dimensions: DIMENSIONS, metric: 'ip', quantization: 'f32', connectivity: 16 },
    ...{ expansion_add: 128, expansion_search: expansion, multi: false },
  })
}
