import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { Bindings, bindingOf } from '../../../../../src/lenses/chroma/colour/bindings.ts'
import {
  assertValid,
  Coordinates,
  countZones,
  missingTags,
  nodeIdOf,
  violationsOf,
} from '../../../../../src/lenses/chroma/colour/coordinates.ts'
import { UnknownHashtagError, ValidationError } from '../../../../../src/lenses/chroma/errors.ts'
import type { Binding, Zone } from '../../../../../src/lenses/chroma/model.ts'
import { centreOfGravity } from '../../../../../src/math/gravity.ts'
import { assignIds, hostOf, thrownBy } from './colour-world.ts'

const V1 = [1, 1001, 2001, 3001, 4001, 5001, 6001, 7501]
const REFERENCE = [
  { name: 'V1', ids: V1, color: [31.433651056, -26.36427832, -58.67324828] },
  {
    name: 'V2',
    ids: [1, 1001, 2001, 3001, 4001, 5001, 6001, 8001],
    color: [31.025127996, -26.2581658, -57.368282689],
  },
  {
    name: 'V3',
    ids: [500, 1500, 2500, 3500, 4500, 5500, 6500, 9000],
    color: [69.637699905, -5.329134279, -32.266506262],
  },
  {
    name: 'V4',
    ids: [1000, 1100, 1200, 1300, 1400, 1500, 1600, 1700, 1800, 1900, 7600, 7700],
    color: [69.445085649, -13.517749329, -18.015667037],
  },
]

let bindings: Bindings
let coordinates: Coordinates
beforeEach(() => {
  bindings = new Bindings(hostOf())
  coordinates = new Coordinates(bindings)
})

describe('coordinates', () => {
  it.each(REFERENCE)('of $name are the reference (CQ-044, CQ-041)', ({ ids, color }) => {
    const found = coordinates.computeNodeColor(assignIds(bindings, ids))
    for (const [at, value] of color.entries()) expect(Math.abs((found[at] ?? 0) - value)).toBeLessThan(1e-9)
  })

  it('name the node (CQ-125)', () => {
    expect(nodeIdOf(coordinates.computeNodeColor(assignIds(bindings, V1)))).toBe('node_289797b9e741142c')
    expect(nodeIdOf([1, -0, -1e-9])).toBe(nodeIdOf([1, 0, 0]))
    expect(nodeIdOf([1, 0, 0.000001])).not.toBe(nodeIdOf([1, 0, 0]))
  })

  it('are the same bits for every order, spelling and repetition (CQ-012, CQ-042, CQ-045)', () => {
    const tags = assignIds(bindings, V1)
    const color = coordinates.computeNodeColor(tags)
    const spelling = fc.constantFrom<(tag: string) => string>(
      tag => tag,
      tag => tag.toUpperCase(),
      tag => ` #${tag}`,
      tag => tag.slice(1),
    )
    const spelt = fc
      .tuple(fc.shuffledSubarray([...tags], { minLength: tags.length }), fc.array(fc.constantFrom(...tags)))
      .chain(([all, more]) => fc.tuple(...[...all, ...more].map(tag => spelling.map(spell => spell(tag)))))
    fc.assert(
      fc.property(spelt, given => {
        const fresh = new Coordinates(bindings)
        expect(fresh.computeNodeColor(given)).toEqual(color)
        expect(coordinates.computeNodeColor(given)).toEqual(color)
        expect(fresh.check(given).hashtags).toEqual(tags)
      }),
    )
    expect(coordinates.size).toBe(1)
  })

  it('are stored by ascending anchor, whatever the names', () => {
    bindings.assignMany([
      { hashtag: 'z', anchorId: 1 },
      { hashtag: 'a', anchorId: 7501 },
    ])
    const tags = [...assignIds(bindings, V1.slice(1, 7)), 'a', 'z']
    expect(coordinates.check(tags).hashtags).toEqual(['#z', ...V1.slice(1, 7).map(id => `#t${id}`), '#a'])
  })

  it('count equal spellings once (CQ-012, CQ-036)', () => {
    const [core, ...rest] = assignIds(bindings, [2, 1010, 1011, 1012, 1013, 1014, 7510])
    const eight = thrownBy(() => coordinates.check([core, ...rest, ` #${core?.toUpperCase()} `]))
    expect(eight).toMatchObject({ code: 'invalid_hashtags', details: { violations: ['total'] } })
  })

  it('are refused before anything is kept: unknown before the rules (CQ-037, CQ-040)', () => {
    assignIds(bindings, V1)
    const error = thrownBy(() => coordinates.computeNodeColor(['#t1', 'Nope', '#t1001', ' ##NADA', 'nope']))
    expect(error).toBeInstanceOf(UnknownHashtagError)
    expect(error).toBeInstanceOf(ValidationError)
    expect(error).toMatchObject({ code: 'unknown_hashtag', details: { hashtags: ['#nope', '#nada'] } })
    expect(thrownBy(() => coordinates.computeNodeColor(['nope', 7]))).toMatchObject({ code: 'invalid_parameter' })
    for (const given of ['#t1', null, { 0: '#t1' }, 7]) {
      expect(thrownBy(() => coordinates.check(given as never))).toMatchObject({
        code: 'invalid_parameter',
        details: { parameter: 'hashtags' },
      })
    }
    expect(thrownBy(() => coordinates.check([]))).toMatchObject({ code: 'invalid_hashtags' })
    expect(thrownBy(() => coordinates.check(Array(3)))).toMatchObject({ code: 'invalid_parameter' })
    expect([coordinates.size, bindings.list().length]).toEqual([0, 8])
  })

  it('are kept for 1,000 sets, the longest unused going first (CQ-046)', () => {
    const mids = assignIds(
      bindings,
      Array.from({ length: 60 }, (_, at) => 1001 + at),
    )
    const ends = assignIds(bindings, [1, 7501])
    const sets = Array.from({ length: 1005 }, (_, at) => {
      const first = at % 30
      return [
        ...ends,
        ...mids.slice(first, first + 6),
        mids[36 + (Math.floor(at / 30) % 24)] ?? '',
        mids[59 - (at % 7)] ?? '',
      ]
    })
    for (const tags of sets) coordinates.computeNodeColor(tags)
    expect(coordinates.size).toBe(1000)
    for (const tags of sets.slice(0, 40)) {
      expect(coordinates.computeNodeColor(tags)).toEqual(centreOfGravity(coordinates.check(tags).bindings))
    }
  })

  it('are forgotten when one of their hashtags moves, and only then (CQ-046)', () => {
    const tags = assignIds(bindings, V1)
    const other = [...assignIds(bindings, [2]), ...tags.slice(1)]
    const [before, kept] = [coordinates.computeNodeColor(tags), coordinates.computeNodeColor(other)]
    assignIds(bindings, [30])
    expect(coordinates.size).toBe(2)
    bindings.unassign('t1')
    expect(coordinates.size).toBe(1)
    bindings.assign('t1', { anchorId: 77 })
    const after = coordinates.computeNodeColor(tags)
    expect(after).not.toEqual(before)
    expect(after).toEqual(new Coordinates(bindings).computeNodeColor(tags))
    expect(coordinates.computeNodeColor(other)).toBe(kept)
  })
})

const FIRST: Readonly<Record<Zone, number>> = { Core: 1, Mid: 1001, Outer: 7501 }

function setOf(core: number, mid: number, outer: number): readonly Binding[] {
  return Object.entries({ Core: core, Mid: mid, Outer: outer }).flatMap(([zone, count]) =>
    Array.from({ length: count }, (_, at) => bindingOf(`#${zone}${at}`, FIRST[zone as Zone] + at) as Binding),
  )
}

const broken = (core: number, mid: number, outer: number) => violationsOf(countZones(setOf(core, mid, outer)))

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

  it('are reported with all that is broken, counts and what is missing (CQ-034, CQ-036)', () => {
    const error = thrownBy(() => assertValid(setOf(1, 0, 0), { batch: 1 }))
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
    expect(String(thrownBy(() => assertValid(setOf(9, 1, 1))))).toMatch(/missing: \d+ Mid$/)
  })

  it('go by the zone kept with the anchor, not by distance (CQ-038)', () => {
    // Anchor 1001 is 54 from the middle: Core by fixed radii, Mid by the stack.
    expect(countZones(setOf(0, 1, 0))).toEqual({ core: 0, mid: 1, outer: 0, total: 1 })
  })

  it('name the fewest tags that repair a set', () => {
    const count = fc.integer({ min: 0, max: 30 })
    fc.assert(
      fc.property(count, count, count, (core, mid, outer) => {
        const missing = missingTags(countZones(setOf(core, mid, outer)))
        const repaired = (fewer: number) =>
          broken(core + missing.core, mid + missing.mid - fewer, outer + missing.outer).length === 0
        expect(repaired(0)).toBe(true)
        if (missing.mid > 0) expect(repaired(1)).toBe(false)
        expect([missing.core, missing.outer]).toEqual([core === 0 ? 1 : 0, outer === 0 ? 1 : 0])
      }),
    )
  })
})
