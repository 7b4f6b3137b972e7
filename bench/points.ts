/**
 * The point index alone, in memory: 100,000 and a million points as hashtags place them, beside SQLite's R*Tree over the
 * same points. Ways of asking take turns question by question, so that ratios are fair on a machine that does other
 * things too. Scorers are like those of the chroma lens: half of the score falls with the distance, half an entry has.
 */
import { Bitset } from '../src/base/bitset.ts'
import { atOnce } from '../src/base/turns.ts'
import type { PointScorer, PointSearch } from '../src/index/contract.ts'
import { PointBlocks } from '../src/index/points/blocks.ts'
import type { PointArrays } from '../src/index/points/grid.ts'
import { searchPoints } from '../src/index/points/search.ts'
import { seededUniform } from '../test/support/seeded.ts'
import { colourPoints, columnsOf, type Point } from './lib/points-data.ts'
import { quick } from './lib/quick.ts'
import { RTree } from './lib/r-tree.ts'
import { percentile, type Row, timed } from './lib/report.ts'

export const name = 'points'

const SIZES = quick ? [20_000] : [100_000, 1_000_000]
const QUESTIONS = quick ? 60 : 200
const WARM_UP = 60
const SEED = 7
const MAX_DISTANCE = 20
const EDITS = 10_000

interface Way {
  readonly name: string
  readonly ask: (point: Point) => unknown
  /** The way whose median this one must stay below. */
  readonly quickerThan?: string
}

export async function run(): Promise<readonly Row[]> {
  return SIZES.flatMap(size => {
    const next = colourPoints(SEED)
    const columns = columnsOf(size, next)
    const questions = Array.from({ length: QUESTIONS }, next)
    const blocks = new PointBlocks()
    const loaded = timed(() => atOnce(blocks.load(columns)))
    const tree = new RTree(pointsOf(columns))
    const rows = timeInTurns(waysOf(blocks, tree, size), questions)
    tree.close()
    const bytes = blocks.byteLength / size
    return [
      { name: 'sort into blocks', unit: 'ms', value: loaded },
      { name: 'memory a point', unit: 'bytes', value: bytes },
      { name: 'remove a point and add another', unit: 'µs', value: editTime(blocks, size, next) },
      ...rows,
    ].map(row => ({ ...row, name: `${size.toLocaleString('en')} points: ${row.name}` }))
  })
}

function waysOf(blocks: PointBlocks, tree: RTree, size: number): Way[] {
  const search = (more: Partial<PointSearch>) => (point: Point) =>
    searchPoints(blocks, { point, k: 5, partitions: [1], ...more })
  const [random, equal, rare] = [
    scorerOf(blocks, size, uniform => uniform() * 0.5),
    scorerOf(blocks, size, () => 0.25),
    scorerOf(blocks, size, uniform => (uniform() < 0.01 ? 0.2 + uniform() * 0.3 : uniform() * 0.02)),
  ]
  const twentieth = kept(size, 0.05)
  return [5, 50].flatMap(k => {
    const [first, inTree, byTree] = [`k = ${k}`, `k = ${k}, within ${MAX_DISTANCE}`, `R*Tree, k = ${k}`]
    return [
      { name: first, ask: search({ k }), quickerThan: byTree },
      { name: inTree, ask: search({ k, maxDistance: MAX_DISTANCE }), quickerThan: `${byTree}, within ${MAX_DISTANCE}` },
      { name: `k = ${k}, filter keeps 5 %`, ask: search({ k, allow: twentieth }) },
      { name: `k = ${k}, filter keeps 0.5 %`, ask: search({ k, allow: kept(size, 0.005) }) },
      { name: `k = ${k}, random worth`, ask: search({ k, scorer: random }) },
      {
        name: `k = ${k}, random worth, filter keeps 5 %`,
        ask: search({ k, scorer: random, allow: twentieth }),
      },
      { name: `k = ${k}, equal worth`, ask: search({ k, scorer: equal }) },
      {
        name: `k = ${k}, equal worth, within ${MAX_DISTANCE}`,
        ask: search({ k, scorer: equal, maxDistance: MAX_DISTANCE }),
      },
      { name: `k = ${k}, 1 % worth much more`, ask: search({ k, scorer: rare }) },
      { name: byTree, ask: (point: Point) => tree.nearest(point, k) },
      { name: `${byTree}, within ${MAX_DISTANCE}`, ask: (point: Point) => tree.nearest(point, k, MAX_DISTANCE) },
    ]
  })
}

function timeInTurns(ways: readonly Way[], questions: readonly Point[]): Row[] {
  const times = new Map(ways.map(way => [way.name, [] as number[]]))
  for (let turn = -WARM_UP; turn < questions.length; turn++) {
    const point = questions[(turn + questions.length) % questions.length] as Point
    for (const way of ways) {
      const time = timed(() => way.ask(point))
      if (turn >= 0) times.get(way.name)?.push(time)
    }
  }
  const median = (of: string) => percentile(times.get(of) ?? [], 0.5)
  return ways.map(way => {
    const value = median(way.name)
    return {
      name: way.name,
      unit: 'ms',
      value,
      p99: percentile(times.get(way.name) ?? [], 0.99),
      goal: way.quickerThan && `< ${way.quickerThan}`,
      ok: way.quickerThan === undefined ? undefined : value < median(way.quickerThan),
    }
  })
}

/** Of one such change, in µs. */
function editTime(blocks: PointBlocks, size: number, next: () => Point): number {
  const uniform = seededUniform(SEED)
  const points = Array.from({ length: EDITS }, next)
  const all = timed(() => {
    for (const point of points) {
      const entry = 1 + Math.floor(uniform() * size)
      blocks.remove(entry)
      blocks.add({ entry, partition: 1, point })
    }
  })
  return (1000 * all) / EDITS
}

function scorerOf(blocks: PointBlocks, size: number, worth: (uniform: () => number) => number): PointScorer {
  const uniform = seededUniform(SEED)
  const own = Float64Array.from({ length: size + 1 }, () => worth(uniform))
  const most = Float64Array.from({ length: blocks.count }, (_, block) =>
    blocks.entriesIn(block).reduce((max, entry) => Math.max(max, own[entry] as number), 0),
  )
  const maxOfAll = most.reduce((max, one) => Math.max(max, one), 0)
  const relevance = (distance: number) => 0.5 * Math.exp(-distance / 20)
  return {
    score: (entry, distance) => relevance(distance) + (own[entry] as number),
    bound: (block, distance) => relevance(distance) + (most[block] as number),
    limit: distance => relevance(distance) + maxOfAll,
  }
}

function kept(size: number, share: number): Bitset {
  const uniform = seededUniform(SEED + share * 1000)
  const set = new Bitset(size + 1)
  for (let entry = 1; entry <= size; entry++) if (uniform() < share) set.add(entry)
  return set
}

function* pointsOf({ length, entries, coordinates }: PointArrays): Iterable<readonly [number, Point]> {
  for (let at = 0; at < length; at++) {
    const point = [coordinates[3 * at], coordinates[3 * at + 1], coordinates[3 * at + 2]] as unknown as Point
    yield [entries[at] as number, point]
  }
}
