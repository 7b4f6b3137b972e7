import { describe, expect, it } from 'vitest'
import { sha256 } from '../../../../../src/base/canonical.ts'
import { STACK, stackText } from '../../../../../src/lenses/chroma/colour/stack.ts'

const places = new Map(STACK.anchors.map(anchor => [`${anchor.L},${anchor.a},${anchor.b}`, anchor]))

describe('the semantic stack', () => {
  it('has the published hash (CQ-019, CQ-022)', () => {
    const text = stackText(STACK.anchors)
    expect(text.split('\n')).toHaveLength(10_000)
    expect(text.startsWith('1,Core,54,-4,1,0.20\n2,')).toBe(true)
    expect(sha256(text)).toBe('565caa409393756a60451f4469777078e6f45f8894706946ed889ca44b2dc9e3')
  })

  it('has the points of the Halton sequence (CQ-019)', () => {
    // i = 1 is (1/2, 1/3, 1/5), i = 6 is (3/8, 2/9, 6/25).
    expect(places.has('50,-43,-77')).toBe(true)
    expect(places.has('38,-71,-67')).toBe(true)
  })

  it('has three zones by rank, and mass that grows outward in each (CQ-020)', () => {
    expect(STACK.anchors.map(({ id }) => id)).toEqual(Array.from({ length: 10_000 }, (_, at) => at + 1))
    for (const { zone, ends, mass } of [
      { zone: 'Core', ends: [1, 1000], mass: [0.2, 0.5] },
      { zone: 'Mid', ends: [1001, 7500], mass: [1.5, 2.5] },
      { zone: 'Outer', ends: [7501, 10_000], mass: [0.6, 1] },
    ]) {
      const anchors = STACK.anchors.filter(anchor => anchor.zone === zone)
      expect([anchors[0]?.id, anchors.at(-1)?.id]).toEqual(ends)
      expect([anchors[0]?.mass, anchors.at(-1)?.mass]).toEqual(mass)
      expect(anchors.every((anchor, at) => at === 0 || anchor.mass >= (anchors[at - 1]?.mass ?? 0))).toBe(true)
    }
  })

  it.each([
    [1, 'Core', 54, -4, 1, 0.2],
    [1000, 'Core', 71, -34, -36, 0.5],
    [1001, 'Mid', 25, -48, -1, 1.5],
    [4001, 'Mid', 40, -65, -69, 2.06],
    [7500, 'Mid', 26, 23, 123, 2.5],
    [7501, 'Outer', 63, 65, -109, 0.6],
    [10_000, 'Outer', 98, 126, -125, 1],
  ] as const)('has anchor %i where it was published (CQ-021)', (id, zone, L, a, b, mass) => {
    expect(STACK.anchor(id)).toEqual({ id, zone, L, a, b, mass })
  })

  it('rounds halves to even (CQ-021)', () => {
    // The four with L ending in exactly .5: 12.5, 62.5 (half up would give 13 and 63), 37.5 and 87.5.
    expect(['12,-15,76', '62,70,-118', '38,-71,-67', '88,14,-16'].map(place => places.has(place))).toEqual([
      true,
      true,
      true,
      true,
    ])
    expect(['13,-15,76', '63,70,-118'].map(place => places.has(place))).toEqual([false, false])
  })

  it('cannot be changed, and has no other anchors (CQ-025)', () => {
    expect(() => Object.assign(STACK.anchor(1) ?? {}, { mass: 9 })).toThrow(TypeError)
    expect([0, -1, 1.5, 10_001, Number.NaN].map(id => STACK.anchor(id))).toEqual(Array(5).fill(undefined))
  })
})
