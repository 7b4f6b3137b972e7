/**
 * The vector index over a million rows of 384 dimensions, vectors in a SQLite store on disk: all rows, and near cells
 * first; filters at random and filters that go with the question; what it takes to build, save, load and change it. Ways
 * of asking take turns question by question. Recall is against exact answers, which the contract suite holds to brute
 * force.
 */
import type { Bitset } from '../src/base/bitset.ts'
import type { Hit, VectorSearch } from '../src/index/contract.ts'
import { loadSnapshot, saveSnapshot } from '../src/index/snapshot.ts'
import { CELL_LIMITS } from '../src/index/vectors/cells.ts'
import { type KernelVectorIndex, openVectorIndex } from '../src/index/vectors.ts'
import { audience } from '../src/model/partition.ts'
import { draftOf, wholeChunk } from '../test/support/entries.ts'
import { type TempFolder, tempFolder } from '../test/support/temp-folder.ts'
import { FLOOR_ROWS, FLOOR_SCOPE, floorIndexOf } from './lib/floor-index.ts'
import { anyOf, keptVectorStore, nearAndFar } from './lib/large-vectors.ts'
import { quick } from './lib/quick.ts'
import { percentile, type Row, timed } from './lib/report.ts'
import type { VectorStore } from './lib/vector-store.ts'
import { mixture } from './lib/vectors-data.ts'

export const name = 'vector-leg-1m'

const ROWS = quick ? 200_000 : 1_000_000
const MADE_QUESTIONS = 1000
const QUESTIONS = quick ? 30 : 100
/** Ordering a million entries by their nearness to a question takes a second. */
const CORRELATED_QUESTIONS = quick ? 10 : 30
/** Of so few questions three neighbours are one in a hundred. A filter that goes with the question may take longer. */
const CORRELATED_RECALL = 0.98
const DIMENSIONS = 384
const K = 10
const SEED = 42
const SHARES = [0.5, 0.05, 0.005] as const
const CHANGES = 200
/** How far a median may lie above another and count as the same on a machine that is not quiet. */
const SAME = 1.05
const CELLS = { ...CELL_LIMITS, prunedFrom: Math.min(ROWS, CELL_LIMITS.prunedFrom) }

interface Way {
  readonly name: string
  readonly ask: (vector: Float32Array) => readonly Hit[]
  readonly k?: number
}

interface Goals {
  readonly floor?: number | undefined
  readonly timesFloor?: number | undefined
  /** A median that is not to be passed, ms. */
  readonly atMost?: number | undefined
  readonly minRecall?: number | undefined
}

interface Timing {
  readonly times: readonly number[]
  readonly recall: number
}

export async function run(): Promise<readonly Row[]> {
  const { rows: vectors, queries } = mixture({
    rows: ROWS,
    queries: MADE_QUESTIONS,
    dimensions: DIMENSIONS,
    seed: SEED,
  })
  const held = keptVectorStore(vectors, DIMENSIONS)
  using folder = tempFolder()
  try {
    const { index, rows } = open(held, folder)
    const flat = emptyIndex(held, Number.POSITIVE_INFINITY)
    flat.restore(Buffer.concat(index.serialise()), index.position)
    const floorIndex = floorIndexOf(held.model, DIMENSIONS, vectors)
    const question = (i: number) => queries.subarray(i * DIMENSIONS, (i + 1) * DIMENSIONS)
    rows.push(...compare(held, index, flat, floorIndex, question))
    rows.push(...compareCorrelated(held, vectors, index, flat, question))
    return [...rows, ...change(held, index, question)]
  } finally {
    held.store.close()
  }
}

function emptyIndex({ store, model }: VectorStore, prunedFrom: number = CELLS.prunedFrom): KernelVectorIndex {
  const source = (chunks: readonly number[]) => store.vectorsOnly(model, chunks)
  return openVectorIndex({ model, dimensions: DIMENSIONS, source, cells: { ...CELLS, prunedFrom } })
}

function open(held: VectorStore, folder: TempFolder): { index: KernelVectorIndex; rows: Row[] } {
  const index = emptyIndex(held)
  const before = process.cpuUsage()
  const rebuilt = timed(() => held.store.read(reader => index.rebuild(reader)))
  const { user, system } = process.cpuUsage(before)
  const cpu = (user + system) / 1e6
  const path = folder.file('vectors.snapshot')
  const saved = timed(() => saveSnapshot(path, index, held.store))
  const restored = emptyIndex(held)
  const loaded = timed(() => loadSnapshot(path, restored, held.store))
  const bytes = index.byteLength / ROWS
  return {
    index: restored,
    rows: [
      { name: 'rebuild from SQLite, cells included', unit: 's', value: rebuilt / 1000 },
      { name: 'CPU time of it', unit: 's', value: cpu, goal: '<= 60', ok: cpu <= 60 },
      { name: 'save a snapshot (checksum, fsync, rename)', unit: 's', value: saved / 1000 },
      { name: 'load a snapshot (read, checksum, restore)', unit: 's', value: loaded / 1000 },
      { name: 'memory a row', unit: 'bytes', value: bytes, goal: '<= 490', ok: bytes <= 490 },
    ],
  }
}

function compare(
  { partitions, entries }: VectorStore,
  index: KernelVectorIndex,
  flat: KernelVectorIndex,
  floorIndex: KernelVectorIndex,
  question: (i: number) => Float32Array,
): Row[] {
  const search =
    (of: KernelVectorIndex, more: Partial<VectorSearch> = {}) =>
    (vector: Float32Array) =>
      of.search({ vector, k: K, partitions, approximate: true, ...more })
  const sweep = (vector: Float32Array) => {
    floorIndex.sweepDistances(vector, FLOOR_SCOPE)
    return []
  }
  const filters = SHARES.map(share => anyOf(entries, share, SEED + share * 1000))
  const ways: Way[] = [
    { name: 'floor', ask: sweep },
    { name: 'all rows', ask: search(flat) },
    { name: 'near cells', ask: search(index) },
    { name: 'near cells, k = 100', ask: search(index, { k: 100 }), k: 100 },
    { name: 'exact', ask: search(index, { approximate: false }) },
    ...filters.map((allow, i) => ({
      name: `filter keeps any ${(SHARES[i] as number) * 100} %`,
      ask: search(index, { allow }),
    })),
  ]
  const exact = (vector: Float32Array, way: number) =>
    index.search({ vector, k: ways[way]?.k ?? K, partitions, allow: filters[way - 5] })
  const timings = inTurns(ways, QUESTIONS, question, exact)
  const floor = percentile(timings[0]?.times ?? [], 0.5)
  const ofFlat = percentile(timings[1]?.times ?? [], 0.5)
  const limits = [undefined, 12, 4, undefined, undefined]
  return ways.flatMap((way, i) => {
    const timesFloor = limits[i]
    const atMost = i > 4 ? ofFlat : undefined
    const minRecall = timesFloor === undefined && atMost === undefined ? undefined : 0.99
    return rowsOf(way.name, timings[i] as Timing, { floor, timesFloor, atMost, minRecall })
  })
}

function compareCorrelated(
  held: VectorStore,
  vectors: Float32Array,
  index: KernelVectorIndex,
  flat: KernelVectorIndex,
  question: (i: number) => Float32Array,
): Row[] {
  const { partitions } = held
  let filters: { readonly near: readonly Bitset[]; readonly far: readonly Bitset[] } = { near: [], far: [] }
  const filter = (way: number) => (way === 0 ? undefined : [...filters.near, ...filters.far][way - 1])
  const names = ['near', 'far'].flatMap(side => SHARES.map(share => `filter keeps ${share * 100} %, rather ${side}`))
  const ways: Way[] = ['all rows', ...names].map((each, way) => ({
    name: each,
    ask: vector =>
      (way === 0 ? flat : index).search({ vector, k: K, partitions, allow: filter(way), approximate: true }),
  }))
  const prepared = (i: number) => {
    filters = nearAndFar(held, vectors, question(i), SHARES)
    return question(i)
  }
  const exact = (vector: Float32Array, way: number) => index.search({ vector, k: K, partitions, allow: filter(way) })
  const timings = inTurns(ways, CORRELATED_QUESTIONS, prepared, exact)
  const ofFlat = percentile(timings[0]?.times ?? [], 0.5)
  return ways.slice(1).flatMap((way, i) => {
    const rows = rowsOf(way.name, timings[i + 1] as Timing, { minRecall: CORRELATED_RECALL })
    return rows.map((row, at) => (at > 0 ? row : { ...row, note: `${(row.value / ofFlat).toFixed(2)} x all rows` }))
  })
}

function inTurns(
  ways: readonly Way[],
  questions: number,
  question: (i: number) => Float32Array,
  exact: (vector: Float32Array, way: number) => readonly Hit[],
): Timing[] {
  const times = ways.map((): number[] => [])
  const found = ways.map(() => ({ hits: 0, wanted: 0 }))
  for (let i = -Math.ceil(questions / 5); i < questions; i++) {
    const vector = question((i + questions) % questions)
    for (const [w, way] of ways.entries()) {
      let hits: readonly Hit[] = []
      const time = timed(() => {
        hits = way.ask(vector)
      })
      if (i < 0) continue
      times[w]?.push(time)
      if (hits.length === 0) continue
      const truth = new Set(exact(vector, w).map(hit => hit.chunk))
      const tally = found[w] as { hits: number; wanted: number }
      tally.hits += hits.filter(hit => truth.has(hit.chunk)).length
      tally.wanted += truth.size
    }
  }
  return ways.map((_, w) => {
    const { hits, wanted } = found[w] as { hits: number; wanted: number }
    return { times: times[w] as number[], recall: wanted === 0 ? Number.NaN : hits / wanted }
  })
}

function rowsOf(title: string, { times, recall }: Timing, { floor, timesFloor, atMost, minRecall }: Goals): Row[] {
  const p50 = percentile(times, 0.5)
  const goal = timesFloor ? `p50 <= ${timesFloor} x floor` : atMost && 'not slower than all rows without a filter'
  const limit = timesFloor && floor ? timesFloor * floor : atMost && atMost * SAME
  const row: Row = {
    name: title === 'floor' ? `floor: sign-code distances of ${FLOOR_ROWS} rows` : title,
    unit: 'ms',
    value: p50,
    p99: percentile(times, 0.99),
    ratioToFloor: floor && p50 / floor,
    goal: goal || undefined,
    ok: limit ? p50 <= limit : undefined,
  }
  if (Number.isNaN(recall)) return [row]
  const found: Row = { name: `${title}: recall`, unit: 'share', value: recall }
  return [row, minRecall === undefined ? found : { ...found, goal: `>= ${minRecall}`, ok: recall >= minRecall }]
}

/** One entry after the other comes and goes; the store is left as it was. */
function change({ store, model }: VectorStore, index: KernelVectorIndex, question: (i: number) => Float32Array): Row[] {
  store.read(reader => index.refresh(reader))
  const keys = Array.from({ length: CHANGES }, (_, i) =>
    store.write(0, writer => {
      const draft = draftOf({ id: `later-${i}`, content: `Entry ${i}, later.`, audience: audience('public') })
      return writer.put(draft, wholeChunk(draft)).key
    }),
  )
  const refresh = () => timed(() => store.read(reader => index.refresh(reader)))
  refresh()
  const came = keys.map((key, i) => {
    store.write(0, writer => {
      const chunk = writer.chunksOf(key)[0]?.key as number
      writer.putVectors(model, [{ chunk, vector: question(QUESTIONS + i) }])
    })
    return refresh()
  })
  const went = keys.map(key => {
    store.write(0, writer => writer.delete(key))
    return refresh()
  })
  return [
    { name: 'taking in one new row', unit: 'ms', value: percentile(came, 0.5), p99: percentile(came, 0.99) },
    { name: 'dropping one row', unit: 'ms', value: percentile(went, 0.5), p99: percentile(went, 0.99) },
  ]
}
