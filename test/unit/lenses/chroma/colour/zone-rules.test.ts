import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bindingOf } from '../../../../../src/lenses/chroma/colour/binding-set.ts'
import {
  countZones,
  missingTags,
  mustBeValid,
  violationsOf,
} from '../../../../../src/lenses/chroma/colour/zone-rules.ts'
import type { Binding, Zone } from '../../../../../src/lenses/chroma/model.ts'
import { thrownBy } from './colour-world.ts'

const FIRST: Readonly<Record<Zone, number>> = { Core: 1, Mid: 1001, Outer: 7501 }

function bindings(core: number, mid: number, outer: number): readonly Binding[] {
  return Object.entries({ Core: core, Mid: mid, Outer: outer }).flatMap(([zone, count]) =>
    Array.from({ length: count }, (_, at) => bindingOf(`#${zone}${at}`, FIRST[zone as Zone] + at) as Binding),
  )
}

const broken = (core: number, mid: number, outer: number) => violationsOf(countZones(bindings(core, mid, outer)))

describe('the zone rules', () => {
  it.each([
    [[1, 6, 1], []],
    [[1, 6, 2], []], // CQ-039
    [[0, 7, 1], ['core']],
    [[1, 7, 0], ['outer']],
    [[1, 5, 1], ['total']],
    [[2, 5, 1], ['mid']],
    [
      [1, 0, 0],
      ['outer', 'total', 'mid'],
    ], // CQ-036
    [
      [0, 0, 0],
      ['core', 'outer', 'total'],
    ],
    [[6, 13, 1], []], // CQ-035: exactly 65 percent
    [[6, 12, 2], ['mid']],
    [[300, 1300, 400], []], // CQ-039: no upper bound
  ] as const)('core, mid, outer %j break %j (CQ-034, CQ-036)', ([core, mid, outer], expected) => {
    expect(broken(core, mid, outer)).toEqual(expected)
  })

  it('are told with all that is broken, counts and what is missing (CQ-034, CQ-036)', () => {
    const error = thrownBy(() => mustBeValid(bindings(1, 0, 0), { batch: 1 }))
    expect(error).toMatchObject({
      name: 'ValidationError',
      code: 'invalid_hashtags',
      details: {
        violations: ['outer', 'total', 'mid'],
        counts: { core: 1, mid: 0, outer: 0, total: 1 },
        missing: { core: 0, mid: 6, outer: 1 },
        hashtags: ['#Core0'],
        batch: 1,
      },
    })
    expect(String(error)).toMatch(/missing: 6 Mid, 1 Outer; suggestHashtags/)
    expect(String(thrownBy(() => mustBeValid(bindings(9, 1, 1))))).toMatch(/missing: \d+ Mid$/)
  })

  it('go by the zone kept with the anchor, not by distance (CQ-038)', () => {
    // Anchor 1001 is 54 from the middle: Core by fixed radii, Mid by the stack.
    expect(countZones(bindings(0, 1, 0))).toEqual({ core: 0, mid: 1, outer: 0, total: 1 })
  })

  it('name the fewest tags that mend a set', () => {
    const count = fc.integer({ min: 0, max: 30 })
    fc.assert(
      fc.property(count, count, count, (core, mid, outer) => {
        const missing = missingTags(countZones(bindings(core, mid, outer)))
        const mended = (fewer: number) =>
          broken(core + missing.core, mid + missing.mid - fewer, outer + missing.outer).length === 0
        expect(mended(0)).toBe(true)
        if (missing.mid > 0) expect(mended(1)).toBe(false)
        expect([missing.core, missing.outer]).toEqual([core === 0 ? 1 : 0, outer === 0 ? 1 : 0])
      }),
    )
  })
})
