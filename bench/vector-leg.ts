/**
 * The vector index alone: 100,000 rows of 384 dimensions, vectors in a SQLite store on disk. Ways of asking take turns
 * query by query with each other and with the floor (all sign-code distances and nothing else), so that ratios are
 * fair on a machine that does other things too. Recall is against brute force in double precision.
 */
import { Bitset } from '../src/base/bitset.ts'
import { TopK } from '../src/base/top-k.ts'
import type { Hit, Prior } from '../src/index/contract.ts'
import { loadSnapshot, saveSnapshot } from '../src/index/snapshot.ts'
import { type KernelVectorIndex, openVectorIndex } from '../src/index/vectors.ts'
import { dot } from '../src/math/vector.ts'
import { seededUniform } from '../test/support/seeded.ts'
import { type TempFolder, tempFolder } from '../test/support/temp-folder.ts'
import { quick } from './lib/quick.ts'
import { percentile, type Row, timed } from './lib/report.ts'
import { openVectorStore, type VectorStore } from './lib/vector-store.ts'
import { cached, type Mixture, mixture } from './lib/vectors-data.ts'

export const name = 'vector-leg'

const ROWS = quick ? 20_000 : 100_000
const QUERIES = quick ? 60 : 300
const WARM_UP = 60
const DIMENSIONS = 384
const K = 10
const SEED = 42
const SHARES = [0.9, 0.5, 0.05, 0.005] as const
/** How far a median may lie above another and count as the same on a machine that is not quiet. */
const SAME = 1.05

interface Way {
  readonly name: string
  readonly ask: (vector: Float32Array) => readonly Hit[]
  /** Filter that recall is measured under; undefined: recall is not measured. */
  readonly truth?: readonly Int32Array[]
  readonly timesFloor?: number
  /** The way whose median this one must not exceed. */
  readonly notSlowerThan?: string
}

export async function run(): Promise<readonly Row[]> {
  const data = mixture({ rows: ROWS, queries: QUERIES, dimensions: DIMENSIONS, seed: SEED })
  using folder = tempFolder()
  const held = openVectorStore(folder.file('store.db'), data.rows, DIMENSIONS)
  try {
    const { index, rows } = open(held, folder)
    return [...rows, ...measure(index, held, data)]
  } finally {
    held.store.close()
  }
}

function open(held: VectorStore, folder: TempFolder): { index: KernelVectorIndex; rows: Row[] } {
  const index = emptyIndex(held)
  const rebuilt = timed(() => held.store.read(reader => index.rebuild(reader)))
  const path = folder.file('vectors.snapshot')
  const saved = timed(() => saveSnapshot(path, index, held.store))
  const restored = emptyIndex(held)
  const loaded = timed(() => loadSnapshot(path, restored, held.store))
  const bytes = index.byteLength / ROWS
  return {
    index,
    rows: [
      { name: 'rebuild from SQLite', unit: 'ms', value: rebuilt },
      { name: 'save a snapshot (checksum, fsync, rename)', unit: 'ms', value: saved },
      { name: 'load a snapshot (read, checksum, restore)', unit: 'ms', value: loaded },
      { name: 'memory a row', unit: 'bytes', value: bytes, goal: '<= 460', ok: bytes <= 460 },
    ],
  }
}

function emptyIndex({ store, model }: VectorStore, keepVectors = false): KernelVectorIndex {
  return openVectorIndex({ model, dimensions: DIMENSIONS, source: chunks => store.vectors(model, chunks), keepVectors })
}

function measure(index: KernelVectorIndex, held: VectorStore, data: Mixture): Row[] {
  const { partitions } = held
  const filters = SHARES.map(share => rowsKept(share))
  const [everywhere, ...filtered] = nearest(data, [rowsKept(1), ...filters]) as [Int32Array[], ...Int32Array[][]]
  const allow = filters.map(kept => Bitset.of(held.entries.filter((_, row) => kept[row] === 1)))
  const search = (of: KernelVectorIndex, more: object) => (vector: Float32Array) =>
    of.search({ vector, k: K, partitions, approximate: true, ...more })
  const all = 'approximate'
  const onDisk: Way[] = [
    { name: all, ask: search(index, {}), truth: everywhere, timesFloor: 3 },
    ...SHARES.map((share, i) => ({
      name: `approximate, filter keeps ${share * 100} %`,
      ask: search(index, { allow: allow[i] }),
      truth: filtered[i] as Int32Array[],
      timesFloor: 3,
      notSlowerThan: all,
    })),
    { name: 'approximate, k = 100', ask: search(index, { k: 100 }) },
    { name: 'exact', ask: search(index, { approximate: false }), truth: everywhere },
    { name: 'exact with a prior', ask: search(index, { approximate: false, prior: prior(held) }) },
    { name: 'exact, filter keeps 5 %', ask: search(index, { approximate: false, allow: allow[2] }) },
  ]
  // Another index, so another memory: it takes turns with its own floor.
  const inMemory = emptyIndex(held, true)
  held.store.read(reader => inMemory.rebuild(reader))
  const kept = { name: 'approximate, vectors in memory', ask: search(inMemory, {}), truth: everywhere, timesFloor: 2 }
  const [, ...ofKept] = timeInTurns([kept], inMemory, held, data)
  return [...timeInTurns(onDisk, index, held, data), ...ofKept]
}

function timeInTurns(ways: readonly Way[], index: KernelVectorIndex, held: VectorStore, data: Mixture): Row[] {
  const query = (i: number) => data.queries.subarray(i * DIMENSIONS, (i + 1) * DIMENSIONS)
  const floor: number[] = []
  const times = ways.map((): number[] => [])
  const found = ways.map(() => 0)
  const rowOf = new Map(held.chunks.map((chunk, row) => [chunk, row]))
  for (let turn = -WARM_UP; turn < QUERIES; turn++) {
    const q = (turn + WARM_UP) % QUERIES
    const sweep = timed(() => index.sweepDistances(query(q), { partitions: held.partitions }))
    if (turn >= 0) floor.push(sweep)
    for (const [w, way] of ways.entries()) {
      let hits: readonly Hit[] = []
      const time = timed(() => {
        hits = way.ask(query(q))
      })
      if (turn < 0) continue
      times[w]?.push(time)
      const truth = new Set(way.truth?.[q])
      found[w] = (found[w] as number) + hits.filter(hit => truth.has(rowOf.get(hit.chunk) as number)).length
    }
  }
  const floorMs = percentile(floor, 0.5)
  const medianOf = (of: string) => percentile(times[ways.findIndex(way => way.name === of)] as number[], 0.5)
  const rows: Row[] = [
    { name: 'floor: all sign-code distances', unit: 'ms', value: floorMs, p99: percentile(floor, 0.99) },
  ]
  for (const [w, way] of ways.entries()) {
    const p50 = medianOf(way.name)
    const slower = way.notSlowerThan !== undefined && p50 > medianOf(way.notSlowerThan) * SAME
    const goal =
      way.timesFloor && `p50 <= ${way.timesFloor} x floor${way.notSlowerThan ? ', not slower than unfiltered' : ''}`
    rows.push({
      name: way.name,
      unit: 'ms',
      value: p50,
      p99: percentile(times[w] as number[], 0.99),
      ratioToFloor: p50 / floorMs,
      goal: goal || undefined,
      ok: way.timesFloor === undefined ? undefined : p50 <= way.timesFloor * floorMs && !slower,
    })
    if (!way.truth) continue
    const recall = (found[w] as number) / way.truth.reduce((sum, truth) => sum + truth.length, 0)
    rows.push({ name: `${way.name}: recall@${K}`, unit: 'share', value: recall, goal: '>= 0.99', ok: recall >= 0.99 })
  }
  return rows
}

function rowsKept(share: number): Uint8Array {
  const uniform = seededUniform(SEED + share * 1000)
  return Uint8Array.from({ length: ROWS }, () => Number(uniform() < share))
}

/** As beliefs have it: similarity is about a third of the score. */
function prior({ entries }: VectorStore): Prior {
  const uniform = seededUniform(SEED)
  const values = new Float32Array(Math.max(...entries.slice(-1)) + 1)
  for (const entry of entries) values[entry] = uniform() * 0.65
  return { weight: 0.35, values }
}

/** For each filter, the K nearest kept rows of each query, by brute force; in bench/out, as it takes a while. */
function nearest({ rows, queries }: Mixture, filters: readonly Uint8Array[]): Int32Array[][] {
  const bytes = cached(`nearest-${ROWS}-${QUERIES}-${SEED}-${SHARES.join('-')}.i32`, () => {
    const all = new Int32Array(filters.length * QUERIES * K)
    const scores = new Float64Array(ROWS)
    for (let q = 0; q < QUERIES; q++) {
      const query = queries.subarray(q * DIMENSIONS, (q + 1) * DIMENSIONS)
      for (let row = 0; row < ROWS; row++) scores[row] = dot(query, rows, row * DIMENSIONS)
      for (const [f, kept] of filters.entries()) all.set(bestOf(scores, kept), (f * QUERIES + q) * K)
    }
    return new Uint8Array(all.buffer)
  })
  const all = new Int32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4)
  return filters.map((_, f) =>
    Array.from({ length: QUERIES }, (_, q) => all.slice((f * QUERIES + q) * K, (f * QUERIES + q + 1) * K)),
  )
}

function bestOf(scores: Float64Array, kept: Uint8Array): number[] {
  const best = new TopK<number>(K, (a, b) => (scores[b] as number) - (scores[a] as number) || a - b)
  for (let row = 0; row < scores.length; row++) if (kept[row] === 1) best.push(row)
  return best.sorted()
}
