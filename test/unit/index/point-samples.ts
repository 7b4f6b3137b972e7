/** Thousands of points in blocks, and what brute force finds among them. */

import { Bitset } from '../../../src/base/bitset.ts'
import { atOnce } from '../../../src/base/turns.ts'
import type { PointHit, PointScorer, PointSearch } from '../../../src/index/contract.ts'
import { PointBlocks } from '../../../src/index/points/blocks.ts'
import { type Point, PointList } from '../../../src/index/points/grid.ts'
import { seededNormal, seededUniform } from '../../support/seeded.ts'

export const ENTRIES = 6000

export interface Sample {
  /** By entry key; there may be gaps. */
  readonly points: readonly (Point | undefined)[]
  readonly blocks: PointBlocks
}

/** As colours of gravity lie: dense in the middle, many at the very same place; and some outside of the colour space. */
export const dense = sampleOf(seed => {
  const [normal, uniform] = [seededNormal(seed), seededUniform(seed)]
  const places: Point[] = []
  return Array.from({ length: ENTRIES }, () => {
    if (places.length > 0 && uniform() < 0.3) return places[Math.floor(uniform() * places.length)] as Point
    const place: Point = [uniform() < 0.1 ? -99 * uniform() : 50 + 5 * normal(), 9 * normal(), 9 * normal()]
    places.push(place)
    return place
  })
})
export const even = sampleOf(seed => {
  const uniform = seededUniform(seed)
  return Array.from({ length: ENTRIES }, (): Point => [uniform() * 100, uniform() * 255 - 128, uniform() * 255 - 128])
})

function sampleOf(make: (seed: number) => readonly Point[]): Sample {
  const points = make(11)
  const columns = new PointList(0)
  for (const [entry, point] of points.entries()) columns.push(entry, partitionOf(entry), point)
  const blocks = new PointBlocks()
  atOnce(blocks.load(columns.arrays))
  return { points, blocks }
}

/** Most are in the first of three. */
export function partitionOf(entry: number): number {
  return [1, 1, 1, 2, 1, 1, 3][entry % 7] as number
}

export function allowed({ points }: Sample, [l]: Point, which: 'few' | 'half' | 'far'): Bitset {
  const is = {
    few: (entry: number) => entry % 97 === 0,
    half: (entry: number) => entry % 2 === 0,
    far: (entry: number) => Math.abs((points[entry] as Point)[0] - l) > 12,
  }[which]
  return Bitset.of([...points.keys()].filter(is))
}

export function scorerOf(
  blocks: PointBlocks,
  worth: string,
  curve: string,
  seed: number,
  hasLimit: boolean,
): PointScorer {
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
  const maxOfAll = Math.max(...most)
  const scorer: PointScorer = {
    score: (entry, distance) => falling(distance) + (own[entry] as number),
    bound: (block, distance) => falling(distance) + (most[block] as number),
  }
  return hasLimit ? { ...scorer, limit: distance => falling(distance) + maxOfAll } : scorer
}

export function bruteForce({ points }: Sample, request: PointSearch): PointHit[] {
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
