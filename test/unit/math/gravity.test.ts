import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Attractor, centreOfGravity } from '../../../src/math/gravity.ts'

const attractor = fc.record({
  L: fc.integer({ min: 0, max: 100 }),
  a: fc.integer({ min: -128, max: 127 }),
  b: fc.integer({ min: -128, max: 127 }),
  mass: fc.integer({ min: 20, max: 250 }).map(hundredths => hundredths / 100),
})
const attractors = fc
  .array(attractor, { minLength: 1, maxLength: 40 })
  .map(points => points.map((point, at) => ({ ...point, anchor_id: at + 1 })))

describe('the centre of gravity (CQ-041, CQ-042, CQ-043)', () => {
  it('weights three times, no less and no more, with mass / (0.1 + d²)', () => {
    const light = { anchor_id: 1, L: 0, a: 0, b: 0, mass: 1 }
    const heavy = { anchor_id: 2, L: 100, a: 0, b: 0, mass: 3 }
    // The mean is 50; the first pass gives 75, as both are equally far.
    let at = 75
    for (let pass = 2; pass <= 3; pass++) {
      const pull = 3 / (0.1 + (100 - at) ** 2)
      at = (100 * pull) / (pull + 1 / (0.1 + at ** 2))
    }
    expect(at).toBeCloseTo(99.953925504612, 10)
    expect(centreOfGravity([light, heavy])[0]).toBeCloseTo(at, 10)
  })

  it('is the same, to the last bit, for every order of the same set', () => {
    fc.assert(
      fc.property(
        attractors.chain(points =>
          fc.tuple(fc.constant(points), fc.shuffledSubarray(points, { minLength: points.length })),
        ),
        ([points, shuffled]) => {
          expect(centreOfGravity(shuffled)).toEqual(centreOfGravity(points))
        },
      ),
    )
  })

  it('is finite and inside the box of its points, also where it lands on one', () => {
    const cross: Attractor[] = [
      [0, 0],
      [9, 0],
      [-9, 0],
      [0, 9],
      [0, -9],
    ].map(([a = 0, b = 0], at) => {
      return { anchor_id: at, L: 50, a, b, mass: 1 }
    })
    expect(centreOfGravity(cross)[0]).toBeCloseTo(50, 10)
    expect(centreOfGravity(cross).slice(1)).toEqual([0, 0])
    expect(centreOfGravity(cross.slice(1, 2))).toEqual([50, 9, 0])
    fc.assert(
      fc.property(attractors, points => {
        const centre = centreOfGravity(points)
        for (const [at, name] of (['L', 'a', 'b'] as const).entries()) {
          const values = points.map(point => point[name])
          expect(centre[at]).toBeGreaterThanOrEqual(Math.min(...values) - 1e-9)
          expect(centre[at]).toBeLessThanOrEqual(Math.max(...values) + 1e-9)
        }
      }),
    )
  })

  it('is not rounded', () => {
    const points = [1, 2, 4].map(at => ({ anchor_id: at, L: at, a: 0, b: 0, mass: 0.2 }))
    const [L] = centreOfGravity(points)
    expect(L).not.toBe(Math.round(L * 1e6) / 1e6)
  })
})
