import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { PointScorer } from '../../../../../src/index/contract.ts'
import { openReferencePoints } from '../../../../../src/index/reference-points.ts'
import { recencyOf, relevanceOf, scoreOf, strengthNorm } from '../../../../../src/lenses/chroma/memory/formulas.ts'
import { MODES, weightsOf } from '../../../../../src/lenses/chroma/memory/modes.ts'
import type { ModeName } from '../../../../../src/lenses/chroma/mode-names.ts'
import type { ScoreWeights } from '../../../../../src/lenses/chroma/model.ts'
import { NODES } from '../../../../../src/lenses/chroma/tables.ts'
import type { EntryKey } from '../../../../../src/model/entry.ts'
import { OWNER } from '../../../../../src/model/partition.ts'
import { DAY, MODES_BY_TURN, START, World } from './world.ts'

function scorer(world: World, weights: ScoreWeights | null = null, now = world.now, memoryEnabled = true): PointScorer {
  world.points.refresh(world.store)
  return world.columns().scorer({ weights, now, points: world.points, memoryEnabled })
}

interface Drawn {
  readonly mode: ModeName
  readonly age: number
  readonly strength: number
  readonly point: readonly [number, number, number]
}

const drawn: fc.Arbitrary<Drawn> = fc.record({
  mode: fc.constantFrom(...MODES_BY_TURN),
  age: fc.oneof(fc.integer({ min: -DAY, max: 30 * DAY }), fc.constantFrom(0, 400 * DAY, 20_000 * DAY)),
  strength: fc.oneof(fc.double({ min: 0, max: 50, noNaN: true }), fc.constantFrom(0, 1e-300, 1e300)),
  point: fc.tuple(fc.integer({ min: 40, max: 60 }), fc.integer({ min: -9, max: 9 }), fc.integer({ min: -9, max: 9 })),
})

const weighting: fc.Arbitrary<ScoreWeights | null> = fc.option(
  fc
    .tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.double({ min: 0, max: 1, noNaN: true }))
    .map(([first, rest]) => ({ relevance: first, recency: (1 - first) * rest, strength: (1 - first) * (1 - rest) })),
)

function filled(nodes: readonly Drawn[]): { world: World; keys: readonly EntryKey[] } {
  const world = new World()
  const keys = nodes.map(({ mode, age, strength, point }, at) =>
    world.node(String(at), { mode, last_accessed: START - age, created_at: 0, strength_raw: strength, point }),
  )
  return { world, keys }
}

/** No member of any block scores above the block's limit at its own distance or nearer. */
function expectBounded(
  world: World,
  keys: readonly EntryKey[],
  ranks: PointScorer,
  distances: readonly number[],
): void {
  for (const key of keys) {
    const block = world.points.blockOf(key)
    for (const distance of distances) {
      const score = ranks.score(key, distance)
      for (const nearer of [distance, distance / 2, 0]) {
        const bound = ranks.bound(block, nearer)
        expect(bound).toBeGreaterThanOrEqual(score)
        expect(ranks.limit?.(nearer)).toBeGreaterThanOrEqual(bound)
      }
    }
  }
}

describe('the scorer', () => {
  it('gives each node the score of its own mode, of the weights given, or relevance alone (CQ-053, CQ-054)', () => {
    const world = new World()
    const a = world.node('a', { mode: 'Sparse', strength_raw: 2, last_accessed: START - DAY, created_at: 0 })
    const b = world.node('b', { mode: 'Eidetic', strength_raw: 5, last_accessed: START - DAY, created_at: 0 })
    const expected = (mode: ModeName, strength: number, weights = weightsOf(MODES[mode])) =>
      scoreOf(weights, {
        relevance: relevanceOf(7),
        recency: recencyOf(MODES[mode], START - DAY, START),
        strength_norm: strengthNorm(strength),
      })
    const own = scorer(world)
    expect([own.score(a, 7), own.score(b, 7)]).toEqual([expected('Sparse', 2), expected('Eidetic', 5)])
    const weights = { relevance: 0.2, recency: 0.5, strength: 0.3 }
    expect(scorer(world, weights).score(b, 7)).toBe(expected('Eidetic', 5, weights))
    expect(scorer(world, { relevance: 1, recency: 0, strength: 0 }).score(b, 7)).toBe(relevanceOf(7))
    expect(scorer(world, weights, START, false).score(b, 7)).toBe(relevanceOf(7))
  })

  it('bounds every block, through uses, moves, new nodes and decay', () => {
    const use = fc.record({ at: fc.nat(), after: fc.nat(3 * DAY) })
    fc.assert(
      fc.property(
        fc.array(drawn, { minLength: 1, maxLength: 25 }),
        fc.array(drawn, { maxLength: 5 }),
        fc.array(use, { maxLength: 6 }),
        weighting,
        fc.double({ min: 0, max: 300, noNaN: true }),
        (nodes, more, uses, weights, distance) => {
          const { world, keys } = filled(nodes)
          const distances = [0, distance, distance * 100]
          expectBounded(world, keys, scorer(world, weights), distances)
          for (const { at, after } of uses) world.record([keys[at % keys.length] as number], world.later(after))
          expectBounded(world, keys, scorer(world, weights), distances)
          // One is moved, some are new, one changes its mode.
          world.node('0', { ...nodes[0], point: [90, 90, 90], strength_raw: 40 })
          const fresh = more.map((node, at) =>
            world.node(`new ${at}`, { mode: node.mode, point: node.point, strength_raw: node.strength }),
          )
          expectBounded(world, [...keys, ...fresh], scorer(world, weights), distances)
          world.points.rebuild(world.store)
          expectBounded(world, [...keys, ...fresh], scorer(world, weights), distances)
          expectBounded(world, keys, scorer(world, weights, START, false), distances)
        },
      ),
      { numRuns: 60 },
    )
  })

  it('finds through the index what scoring all of them finds', () => {
    fc.assert(
      fc.property(
        fc.array(drawn, { minLength: 1, maxLength: 60 }),
        weighting,
        fc.integer({ min: 1, max: 9 }),
        (nodes, weights, k) => {
          const { world } = filled(nodes)
          const ranks = scorer(world, weights)
          const reference = openReferencePoints({ name: 'plain', table: NODES, columns: ['l', 'a', 'b'] })
          reference.rebuild(world.store)
          const { partitions } = world.context.host.sight({ id: OWNER })
          const search = { partitions, point: [50, 0, 0], k, scorer: ranks } as const
          expect(world.points.search(search)).toEqual(reference.search(search))
        },
      ),
      { numRuns: 60 },
    )
  })
})
