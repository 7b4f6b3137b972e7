import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { RTree } from '../../../bench/lib/r-tree.ts'
import type { PointScorer } from '../../../src/index/contract.ts'
import type { Point } from '../../../src/index/points/grid.ts'
import { searchPoints } from '../../../src/index/points/search.ts'
import { seededUniform } from '../../support/seeded.ts'
import { allowed, bruteForce, dense, ENTRIES, even, scorerOf } from './point-samples.ts'

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
