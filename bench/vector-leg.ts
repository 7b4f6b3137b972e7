/**
 * The vector index alone: 100,000 rows of 384 dimensions, vectors in a SQLite store on disk. Kinds of search take turns query
 * by query with each other and with the floor (all sign-code distances and nothing else), so that ratios are fair on a
 * machine that does other things too. Recall is against exact search, which the suite of the index compares with brute force.
 */
import { openVectorIndex } from '../src/index/vectors.ts'
import { tempFolder } from '../test/support/temp-folder.ts'
import { anyOf } from './lib/large-vectors.ts'
import { quick } from './lib/quick.ts'
import type { Row } from './lib/report.ts'
import { buildAndLoad, inTurns } from './lib/vector-leg.ts'
import { openVectorStore } from './lib/vector-store.ts'
import { mixture } from './lib/vectors-data.ts'

export const name = 'vector-leg'

const ROWS = quick ? 20_000 : 100_000
const QUERIES = quick ? 60 : 300
const DIMENSIONS = 384
const K = 10
const SEED = 42
const SHARES = [0.9, 0.5, 0.05, 0.005] as const
const MAX_BYTES = 460
const GOALS = { timesFloor: 3, minRecall: 0.99 }

export async function run(): Promise<readonly Row[]> {
  const data = mixture({ rows: ROWS, queries: QUERIES, dimensions: DIMENSIONS, seed: SEED })
  using folder = tempFolder()
  const held = openVectorStore(folder.file('store.db'), data.rows, DIMENSIONS)
  const { store, model, partitions, entries } = held
  try {
    const source = (chunks: readonly number[]) => store.vectors(model, chunks)
    const { index, rows } = buildAndLoad(
      held,
      () => openVectorIndex({ model, dimensions: DIMENSIONS, source }),
      MAX_BYTES,
    )
    const search = (more: object) => (vector: Float32Array) => index.search({ vector, k: K, partitions, ...more })
    const sweep = (vector: Float32Array) => {
      index.sweepDistances(vector, { partitions })
      return []
    }
    const filters = SHARES.map(share => anyOf(entries, share, SEED + share * 1000))
    const ways = [
      { name: 'floor: all sign-code distances', ask: sweep },
      { name: 'approximate', ask: search({ approximate: true }), exact: search({}), goals: GOALS },
      ...filters.map((allow, at) => ({
        name: `approximate, filter keeps ${(SHARES[at] as number) * 100} %`,
        ask: search({ approximate: true, allow }),
        exact: search({ allow }),
        goals: { ...GOALS, notSlowerThan: 'approximate' },
      })),
      { name: 'approximate, k = 100', ask: search({ approximate: true, k: 100 }) },
      { name: 'exact', ask: search({}) },
      { name: 'exact, filter keeps 5 %', ask: search({ allow: filters[2] }) },
    ]
    const query = (at: number) => data.queries.subarray(at * DIMENSIONS, (at + 1) * DIMENSIONS)
    return [...rows, ...inTurns(ways, QUERIES, query)]
  } finally {
    store.close()
  }
}
