import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { RTree } from '../../../bench/lib/r-tree.ts'
import { Bitset } from '../../../src/base/bitset.ts'
import type { PointHit, PointScorer, PointSearch } from '../../../src/index/contract.ts'
import { openPointIndex } from '../../../src/index/points.ts'
import { type Point, PointBlocks } from '../../../src/index/points-blocks.ts'
import { PointColumns } from '../../../src/index/points-columns.ts'
import { CELL, cellOf, partOf } from '../../../src/index/points-grid.ts'
import { searchPoints } from '../../../src/index/points-search.ts'
import { openMemoryStore } from '../../../src/store/memory-store.ts'
import { COLUMNS, POINTS, PointWorld } from '../../../src/testing/point-world.ts'
import { seededNormal, seededUniform } from '../../../src/testing/seeded.ts'

const ENTRIES = 6000
const OPTIONS = { name: 'places', table: POINTS, columns: COLUMNS }

interface Sample {
  /** By entry key; there may be gaps. */
  readonly points: readonly (Point | undefined)[]
  readonly blocks: PointBlocks
}

/** As colours of gravity lie: dense in the middle, many at the very same place; and some outside of the colour space. */
const dense = sampleOf(seed => {
  const [normal, uniform] = [seededNormal(seed), seededUniform(seed)]
  const places: Point[] = []
  return Array.from({ length: ENTRIES }, () => {
    if (places.length > 0 && uniform() < 0.3) return places[Math.floor(uniform() * places.length)] as Point
    const place: Point = [uniform() < 0.1 ? -99 * uniform() : 50 + 5 * normal(), 9 * normal(), 9 * normal()]
    places.push(place)
    return place
  })
})
const even = sampleOf(seed => {
  const uniform = seededUniform(seed)
  return Array.from({ length: ENTRIES }, (): Point => [uniform() * 100, uniform() * 255 - 128, uniform() * 255 - 128])
})

describe('the grid', () => {
  it('puts what lies outside of the colour space into the cells at its border', () => {
    expect(cellOf(-1e9, -1e9, -1e9)).toBe(cellOf(0, -128, -128))
    expect(cellOf(1e9, 1e9, 1e9)).toBe(cellOf(100, 127, 127))
    expect(cellOf(0, 0, CELL)).toBe(cellOf(0, 0, 0) + 1)
    expect(partOf(1e9, 1e9, 1e9)).toBe(partOf(100, 127, 127))
  })

  it('parts a cell into eight', () => {
    const ends = [0, CELL / 2 - 0.1, CELL / 2, CELL - 0.1]
    const parts = ends.flatMap(l => ends.flatMap(a => ends.map(b => partOf(l, a - 128, b - 128))))
    expect(new Set(parts).size).toBe(8)
    expect(parts).not.toContain(cellOf(0, -128, -128))
  })
})

describe('searching thousands of points', () => {
  const questions = fc.record({
    sample: fc.constantFrom(dense, even),
    seed: fc.nat({ max: 1000 }),
    k: fc.constantFrom(1, 5, 50, 200, 500, 1000, Number.POSITIVE_INFINITY),
    maxDistance: fc.option(fc.constantFrom(0, 5, 30, 120), { nil: undefined }),
    partitions: fc.constantFrom([1], [1, 2, 3], [2, 3]),
    allow: fc.option(fc.constantFrom('few', 'half', 'far'), { nil: undefined }),
    worth: fc.option(fc.constantFrom('random', 'equal', 'three', 'rare'), { nil: undefined }),
    curve: fc.constantFrom('fall', 'steps', 'steps', 'flat'),
    hasLimit: fc.boolean(),
  })

  it('gives what brute force gives, whatever the worth of entries, filters and distances', () => {
    fc.assert(
      fc.property(questions, ({ sample, seed, worth, curve, hasLimit, allow, ...rest }) => {
        const uniform = seededUniform(seed)
        const at = Math.floor(uniform() * ENTRIES)
        const [l, a, b] = sample.points[at] as Point
        const point: Point = uniform() < 0.3 ? [l, a, b] : [l + uniform() * 20, a - uniform() * 20, b]
        const scorer = worth && scorerOf(sample.blocks, worth, curve, seed, hasLimit)
        const request = { point, ...rest, scorer, allow: allow && allowed(sample, point, allow) }
        expect(searchPoints(sample.blocks, request)).toEqual(bruteForce(sample, request))
      }),
      { numRuns: 300 },
    )
  })

  it('asks the scorer about few points and few blocks when what is near is best', () => {
    const { blocks } = dense
    const plain = scorerOf(blocks, 'random', 'fall', 1, true)
    const asked = { points: 0, blocks: 0 }
    const scorer: PointScorer = {
      score: (entry, distance) => {
        asked.points++
        return plain.score(entry, distance)
      },
      bound: (block, distance) => {
        asked.blocks++
        return plain.bound(block, distance)
      },
      limit: distance => plain.limit?.(distance) as number,
    }
    searchPoints(blocks, { point: [50, 3, 3], k: 5, partitions: [1, 2, 3], scorer })
    expect(asked.points).toBeLessThan(ENTRIES / 20)
    expect(asked.blocks).toBeLessThan(blocks.count / 2)
  })

  it("agrees with SQLite's R*Tree on what is nearest and what lies within a distance", () => {
    for (const { points, blocks } of [dense, even]) {
      const tree = new RTree(points.map((point, entry) => [entry, point as Point] as const))
      const uniform = seededUniform(3)
      for (let turn = 0; turn < 60; turn++) {
        const point: Point = [uniform() * 100, uniform() * 100 - 50, uniform() * 100 - 50]
        const near = (more: object) =>
          searchPoints(blocks, { point, k: Number.POSITIVE_INFINITY, partitions: [1, 2, 3], ...more })
        const distances = (hits: readonly { readonly distance: number }[]) => hits.map(hit => hit.distance)
        expect(near({ maxDistance: 18 }).map(hit => hit.entry)).toEqual(tree.within(point, 18).map(hit => hit.id))
        const nearest = near({ k: 20 })
        expect(distances(nearest.slice(0, 20))).toEqual(distances(tree.nearest(point, 20)))
      }
      tree.close()
    }
  })
})

describe('blocks', () => {
  it('keep their numbers while points come and go', () => {
    const blocks = new PointBlocks()
    blocks.add({ entry: 1, partition: 1, point: [1, 1, 1] })
    blocks.add({ entry: 2, partition: 1, point: [90, 1, 1] })
    const [first, second] = [blocks.blockOf(1), blocks.blockOf(2)]
    expect(first).not.toBe(second)
    blocks.remove(1)
    expect(blocks.blockOf(1)).toBe(-1)
    for (let entry = 3; entry < 50; entry++) blocks.add({ entry, partition: 1, point: [2, 1, 1] })
    expect(blocks.blockOf(49)).toBe(first)
    expect(blocks.blockOf(2)).toBe(second)
    expect(blocks.count).toBe(2)
  })

  it('are smaller where points crowded when they were loaded', () => {
    const uniform = seededUniform(4)
    const columns = new PointColumns(300)
    const somewhere = () => [uniform() * CELL, uniform() * CELL, uniform() * CELL] as const
    for (let entry = 1; entry <= 200; entry++) columns.push(entry, 1, ...somewhere())
    for (let entry = 201; entry <= 250; entry++) columns.push(entry, 2, ...somewhere())
    const blocks = new PointBlocks()
    blocks.load(columns)
    const of = (from: number, to: number) =>
      new Set(Array.from({ length: to - from + 1 }, (_, at) => blocks.blockOf(from + at)))
    expect(of(1, 200).size).toBe(8)
    expect(of(201, 250).size).toBe(1)
    // What comes later goes where the others near it are.
    blocks.add({ entry: 251, partition: 1, point: blocks.pointAt(blocks.slotOf(1)) })
    expect(blocks.blockOf(251)).toBe(blocks.blockOf(1))
  })

  it('belong to one partition each', () => {
    const blocks = new PointBlocks()
    blocks.add({ entry: 1, partition: 1, point: [1, 1, 1] })
    blocks.add({ entry: 2, partition: 2, point: [1, 1, 1] })
    expect(blocks.blockOf(1)).not.toBe(blocks.blockOf(2))
  })

  it('keep nothing of what was deleted, and use its room again', () => {
    const blocks = new PointBlocks()
    const secret = 12.345678
    for (let round = 0; round < 50; round++) {
      for (let entry = 1; entry <= 40; entry++) blocks.add({ entry, partition: 1, point: [secret, entry, round] })
      for (let entry = 1; entry <= 40; entry++) blocks.remove(entry)
    }
    expect(blocks.runs.coordinates.includes(secret)).toBe(false)
    expect(blocks.points).toBe(0)
    expect(blocks.byteLength).toBeLessThan(100_000)
  })

  it('hold what they should after any number of points came, moved and went', () => {
    const uniform = seededUniform(17)
    const blocks = new PointBlocks()
    const points: Point[] = []
    for (let turn = 0; turn < 4000; turn++) {
      const entry = Math.floor(uniform() * 600)
      blocks.remove(entry)
      delete points[entry]
      if (uniform() < 0.3) continue
      const point: Point = [uniform() * 20, uniform() * 20, uniform() * 20]
      points[entry] = point
      blocks.add({ entry, partition: partitionOf(entry), point })
    }
    const request = { point: [9, 9, 9] as const, k: Number.POSITIVE_INFINITY, partitions: [1, 2, 3] }
    expect(searchPoints(blocks, request)).toEqual(bruteForce({ points, blocks }, request))
    expect(searchPoints(blocks, { ...request, k: 30 })).toEqual(bruteForce({ points, blocks }, { ...request, k: 30 }))
  })

  it('shrink when the farthest points of theirs go', () => {
    const blocks = new PointBlocks()
    for (let entry = 1; entry <= 3; entry++) blocks.add({ entry, partition: 1, point: [entry, 1, 1] })
    blocks.remove(1)
    blocks.remove(3)
    expect(blocks.boxes.distance(0, 0, 1, 1)).toBe(2)
    expect(blocks.regionBoxes.distance(0, 9, 1, 1)).toBe(7)
  })
})

describe('the point index', () => {
  const filled = () => {
    const world = new PointWorld(openMemoryStore())
    for (const [at, id] of [...'abcdef'].entries()) {
      world.apply([{ do: 'put', id, audience: at % 2 ? 'ann' : 'public', point: [at, 0.1 * at, 0] }])
    }
    const index = openPointIndex(OPTIONS)
    index.refresh(world.store)
    return { world, index, bytes: Buffer.concat(index.serialise()) }
  }

  it('begins a new generation when the list of arrivals grows long', { timeout: 30_000 }, () => {
    const { world, index } = filled()
    const { generation } = index
    const touch = world.store.scanEntries(0, 10)
    for (let round = 0; index.generation === generation; round++) {
      world.store.write(round, writer => touch.forEach(entry => void writer.announce(entry)))
      index.refresh(world.store)
      expect(index.arrivals.length).toBeLessThanOrEqual(20_000)
      expect(round).toBeLessThan(4000)
    }
    expect(index.generation).toBe(generation + 1)
  })

  it('refuses every snapshot that was cut short or lengthened, and stays as it was', () => {
    const { index, bytes } = filled()
    for (let length = 0; length < bytes.byteLength; length++) {
      expect(() => index.restore(bytes.subarray(0, length), 9)).toThrow()
    }
    expect(() => index.restore(Buffer.concat([bytes, bytes.subarray(0, 28)]), 9)).toThrow()
    expect(index.count({ partitions: [1, 2, 3, 4, 5] })).toBe(6)
    expect(index.position).not.toBe(9)
  })

  it('refuses snapshots of other tables, with an entry twice, below 0, or with a coordinate that is no number', () => {
    const { bytes } = filled()
    const restore = (edit: (bytes: Buffer) => void, options = OPTIONS) => {
      const copy = Buffer.from(bytes)
      edit(copy)
      return () => openPointIndex(options).restore(copy, 1)
    }
    const end = bytes.byteLength
    expect(restore(() => {})).not.toThrow()
    expect(restore(() => {}, { ...OPTIONS, columns: ['y', 'x', 'z'] as never })).toThrow('snapshot.columns')
    expect(restore(() => {}, { ...OPTIONS, table: { ...POINTS, name: 'others' } })).toThrow('snapshot.table')
    expect(restore(copy => copy.writeInt32LE(copy.readInt32LE(end - 8), end - 4))).toThrow('each entry once')
    expect(restore(copy => copy.writeInt32LE(-1, end - 4))).toThrow('entry key')
    expect(restore(copy => copy.writeDoubleLE(Number.NaN, end - 6 * 28))).toThrow('finite')
  })

  it('takes only tables of entries, and columns of reals', () => {
    const open = (change: object) => () => openPointIndex({ ...OPTIONS, ...change })
    expect(open({ table: { ...POINTS, ofEntry: false } })).toThrow('table of entries')
    expect(open({ table: { ...POINTS, key: ['note'] } })).toThrow('table of entries')
    expect(open({ columns: ['x', 'y', 'note'] })).toThrow('column of reals')
    expect(open({ columns: ['x', 'y', 'w'] })).toThrow('column of reals')
  })
})

function sampleOf(make: (seed: number) => readonly Point[]): Sample {
  const points = make(11)
  const columns = new PointColumns(0)
  for (const [entry, point] of points.entries()) columns.push(entry, partitionOf(entry), ...point)
  const blocks = new PointBlocks()
  blocks.load(columns)
  return { points, blocks }
}

/** Most are in the first of three. */
function partitionOf(entry: number): number {
  return [1, 1, 1, 2, 1, 1, 3][entry % 7] as number
}

function allowed({ points }: Sample, [l]: Point, which: 'few' | 'half' | 'far'): Bitset {
  const is = {
    few: (entry: number) => entry % 97 === 0,
    half: (entry: number) => entry % 2 === 0,
    far: (entry: number) => Math.abs((points[entry] as Point)[0] - l) > 12,
  }[which]
  return Bitset.of([...points.keys()].filter(is))
}

function scorerOf(blocks: PointBlocks, worth: string, curve: string, seed: number, hasLimit: boolean): PointScorer {
  const uniform = seededUniform(seed + 1)
  const own = Float64Array.from({ length: ENTRIES }, () => {
    const number = uniform()
    if (worth === 'equal') return 0.25
    if (worth === 'three') return Math.floor(number * 3) / 4
    return worth === 'rare' ? Number(number < 0.01) * 0.4 : number * 0.5
  })
  const falling = (distance: number) => {
    if (curve === 'flat') return 0.5
    return curve === 'steps' ? -Math.floor(distance / 10) / 8 : 0.5 * Math.exp(-distance / 20)
  }
  const most = Array.from({ length: blocks.count }, (_, block) =>
    blocks.entriesIn(block).reduce((max, entry) => Math.max(max, own[entry] as number), 0),
  )
  const mostOfAll = Math.max(...most)
  const scorer: PointScorer = {
    score: (entry, distance) => falling(distance) + (own[entry] as number),
    bound: (block, distance) => falling(distance) + (most[block] as number),
  }
  return hasLimit ? { ...scorer, limit: distance => falling(distance) + mostOfAll } : scorer
}

function bruteForce({ points }: Sample, request: PointSearch): PointHit[] {
  const { point, k, maxDistance = Number.POSITIVE_INFINITY, partitions, allow, scorer } = request
  const hits: PointHit[] = []
  for (const [entry, place] of points.entries()) {
    if (place === undefined) continue
    const [l, a, b] = place
    if (!partitions.includes(partitionOf(entry)) || allow?.has(entry) === false) continue
    const distance = Math.sqrt((l - point[0]) ** 2 + (a - point[1]) ** 2 + (b - point[2]) ** 2)
    if (distance > maxDistance) continue
    hits.push({ entry, distance, score: scorer ? scorer.score(entry, distance) : 0 - distance })
  }
  hits.sort((p, q) => q.score - p.score || p.distance - q.distance || p.entry - q.entry)
  const last = hits[Math.min(k, hits.length) - 1]
  return hits.filter((hit, at) => at < k || (hit.score === last?.score && hit.distance === last.distance))
}
