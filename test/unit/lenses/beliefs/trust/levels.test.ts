import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Bitset } from '../../../../../src/base/bitset.ts'
import { type LevelRules, Levels } from '../../../../../src/lenses/beliefs/trust/levels.ts'
import type { Routes } from '../../../../../src/lenses/beliefs/trust/routes.ts'

const AGENTS = 12

const share = fc.integer({ min: 0, max: 20 }).map(twentieths => twentieths / 20)
const hop = fc.record({
  start: share,
  worths: fc.dictionary(
    fc.nat({ max: AGENTS - 1 }).map(String),
    share.filter(worth => worth > 0),
  ),
})
const rules: fc.Arbitrary<LevelRules> = fc.record({
  sybilThreshold: fc.integer({ min: 1, max: 4 }),
  sybilCap: share,
  disjoint: fc.constantFrom(null, (agent: number, wanted: number) => Math.min(wanted, agent % 4)),
  cap: fc.constantFrom(
    () => 1,
    (agent: number) => (agent % 2 === 0 ? 0.3 : 1),
  ),
})

describe('BQ-073, BQ-076: levels', () => {
  it('are the same looked up for one agent and worked out for all', () => {
    fc.assert(
      fc.property(fc.array(hop, { maxLength: 6 }), rules, (hops, rule) => {
        const levels = () => new Levels(routesOf(hops), first => hops[first]?.start ?? 0, rule, AGENTS)
        const { all } = levels()
        const one = levels()
        for (let agent = 0; agent < AGENTS; agent++) {
          const found = one.of(agent)
          expect(found).toEqual({
            level: all.levels[agent],
            sources: all.sources[agent],
            capped: all.capped[agent] === 1,
          })
        }
      }),
    )
  })

  it('are the best of all first hops, each counted as a source from a hundredth on', () => {
    const hops = [
      { start: 1, worths: { 3: 0.2, 4: 0.005 } },
      { start: 0.5, worths: { 3: 0.6, 4: 0.4 } },
    ]
    const rule = { sybilThreshold: 2, sybilCap: 0.1, disjoint: null, cap: () => 1 }
    const levels = new Levels(routesOf(hops), first => hops[first]?.start ?? 0, rule, AGENTS)
    expect(levels.of(3)).toEqual({ level: 0.3, sources: 2, capped: false })
    expect(levels.of(4)).toEqual({ level: 0.1, sources: 1, capped: true })
    expect(levels.of(5)).toEqual({ level: 0, sources: 0, capped: false })
    expect(levels.of(-1)).toEqual({ level: 0, sources: 0, capped: false })
  })
})

/** The first hop of each is its place. */
function routesOf(hops: readonly { readonly worths: Readonly<Record<string, number>> }[]): Routes {
  return {
    hops: hops.map(({ worths }, first) => ({
      first,
      targets: Int32Array.from(Object.keys(worths), Number),
      worths: Float64Array.from(Object.values(worths)),
    })),
    expanded: new Bitset(),
    distrusted: new Set(),
    until: Number.POSITIVE_INFINITY,
    byteLength: 0,
  }
}
