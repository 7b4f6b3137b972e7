/** What `vector-leg` and `vector-leg-1m` share: an index over a store on disk, and searches that take turns. */
import type { Hit } from '../../src/index/contract.ts'
import { loadSnapshot, saveSnapshot } from '../../src/index/snapshot.ts'
import type { KernelVectorIndex } from '../../src/index/vectors.ts'
import { tempFolder } from '../../test/support/temp-folder.ts'
import { percentile, type Row, timed } from './report.ts'
import type { VectorStore } from './vector-store.ts'

/** How far a median may be above another and count as the same on a machine that is not quiet. */
const SAME = 1.05

/** One kind of search. */
export interface Way {
  readonly name: string
  readonly ask: (vector: Float32Array) => readonly Hit[]
  /** The same search, exact: what recall is measured against. */
  readonly exact?: (vector: Float32Array) => readonly Hit[]
  readonly goals?: Goals
}

export interface Goals {
  /** Limit of the median, in floors. */
  readonly timesFloor?: number
  /** The way whose median is the limit. */
  readonly notSlowerThan?: string
  readonly minRecall?: number
}

/** Of an index: building, saving and loading it; `maxBytes` a row. The index that was loaded from the snapshot is given. */
export function buildAndLoad(
  held: VectorStore,
  make: () => KernelVectorIndex,
  maxBytes: number,
): { readonly index: KernelVectorIndex; readonly rows: Row[]; readonly cpuSeconds: number } {
  using folder = tempFolder()
  const [built, index, path] = [make(), make(), folder.file('vectors.snapshot')]
  const before = process.cpuUsage()
  const rebuilt = timed(() => held.store.read(reader => built.rebuild(reader)))
  const { user, system } = process.cpuUsage(before)
  const saved = timed(() => saveSnapshot(path, built, held.store))
  const loaded = timed(() => loadSnapshot(path, index, held.store))
  const bytes = built.byteLength / held.chunks.length
  return {
    index,
    cpuSeconds: (user + system) / 1e6,
    rows: [
      { name: 'rebuild from SQLite', unit: 'ms', value: rebuilt },
      { name: 'save a snapshot (checksum, fsync, rename)', unit: 'ms', value: saved },
      { name: 'load a snapshot (read, checksum, restore)', unit: 'ms', value: loaded },
      { name: 'memory a row', unit: 'bytes', value: bytes, goal: `<= ${maxBytes}`, ok: bytes <= maxBytes },
    ],
  }
}

/** All ways search for each query in turn; a fifth of the queries warm up. The first way is the floor. */
export function inTurns(ways: readonly Way[], count: number, query: (at: number) => Float32Array): readonly Row[] {
  const times = ways.map((): number[] => [])
  const found = ways.map((): (readonly Hit[])[] => [])
  for (let turn = -Math.ceil(count / 5); turn < count; turn++) {
    const vector = query((turn + count) % count)
    for (const [which, way] of ways.entries()) {
      let hits: readonly Hit[] = []
      const ms = timed(() => {
        hits = way.ask(vector)
      })
      if (turn < 0) continue
      times[which]?.push(ms)
      found[which]?.push(hits)
    }
  }
  // After all were timed: exact search would bring the vectors into the cache of the store.
  const tallies = ways.map(() => ({ hits: 0, wanted: 0 }))
  for (let at = 0; at < count; at++) {
    const vector = query(at)
    for (const [which, way] of ways.entries()) {
      const exact = new Set(way.exact?.(vector).map(hit => hit.chunk))
      const tally = tallies[which] as { hits: number; wanted: number }
      tally.hits += (found[which]?.[at] ?? []).filter(hit => exact.has(hit.chunk)).length
      tally.wanted += exact.size
    }
  }
  const medianOf = (of: string) => percentile(times[ways.findIndex(way => way.name === of)] ?? [], 0.5)
  const floor = percentile(times[0] ?? [], 0.5)
  return ways.flatMap(({ name, exact, goals = {} }, which): readonly Row[] => {
    const { timesFloor, notSlowerThan, minRecall } = goals
    const p50 = medianOf(name)
    const wanted = [
      timesFloor !== undefined && `p50 <= ${timesFloor} x floor`,
      notSlowerThan !== undefined && `not slower than ${notSlowerThan}`,
    ].filter(Boolean)
    const isMet =
      (timesFloor === undefined || p50 <= timesFloor * floor) &&
      (notSlowerThan === undefined || p50 <= medianOf(notSlowerThan) * SAME)
    const row: Row = {
      name,
      unit: 'ms',
      value: p50,
      p99: percentile(times[which] ?? [], 0.99),
      ...(which > 0 && { ratioToFloor: p50 / floor }),
      ...(wanted.length > 0 && { goal: wanted.join(', '), ok: isMet }),
    }
    if (exact === undefined) return [row]
    const { hits, wanted: total } = tallies[which] as { hits: number; wanted: number }
    const recall: Row = { name: `${name}: recall`, unit: 'share', value: hits / total }
    const least = minRecall !== undefined && { goal: `>= ${minRecall}`, ok: recall.value >= minRecall }
    return [row, { ...recall, ...least }]
  })
}
