import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { boostedVector, clampCosine, cosine, cosines, dot, isUnit, norm, toUnit } from '../../../src/math/vector.ts'

const vector = (...components: number[]) => Float32Array.from(components)

describe('dot', () => {
  it('multiplies and adds in double precision', () => {
    expect(dot(vector(1, 2, 3), vector(4, 5, 6))).toBe(32)
    expect(dot(vector(1e8, 1), vector(1e8, 1))).toBe(1e16 + 1 - 1)
  })

  it('reads the second vector from an offset', () => {
    expect(dot(vector(1, 2), vector(9, 9, 3, 4), 2)).toBe(11)
  })
})

describe('cosine', () => {
  it('stays within [-1, 1] for vectors a little longer than 1', () => {
    const long = vector(1.0004, 0)
    expect(cosine(long, long)).toBe(1)
    expect(cosine(long, vector(-1.0004, 0))).toBe(-1)
    expect(clampCosine(0.25)).toBe(0.25)
  })
})

describe('cosines', () => {
  it('are, for any number of vectors, exactly those of one pair at a time', () => {
    const vector = fc
      .array(fc.float({ noNaN: true, min: -1, max: 1 }), { minLength: 7, maxLength: 7 })
      .map(components => Float32Array.from(components))
    const property = fc.property(vector, fc.array(vector, { maxLength: 11 }), (own, others) => {
      expect([...cosines(own, others)]).toEqual(others.map(other => cosine(own, other)))
    })
    fc.assert(property)
  })
})

describe('toUnit', () => {
  it('keeps the direction', () => {
    expect([...(toUnit([3, 4]) as Float32Array)]).toEqual([...vector(0.6, 0.8)])
    expect(norm(toUnit([1, 2, 3]) as Float32Array)).toBeCloseTo(1, 6)
  })

  it.each([
    ['zero', [0, 0]],
    ['not a number', [1, Number.NaN]],
    ['infinite', [1, Number.POSITIVE_INFINITY]],
  ])('has no unit vector for what is %s', (_, components) => {
    expect(toUnit(components)).toBeUndefined()
  })
})

describe('isUnit', () => {
  it('allows for rounding and nothing more', () => {
    expect(isUnit(vector(1.0009, 0))).toBe(true)
    expect(isUnit(vector(1.002, 0))).toBe(false)
    expect(isUnit(vector(Number.NaN, 1))).toBe(false)
  })
})

// BQ-036
describe('the vector of a question', () => {
  it('leans towards its boosted terms', () => {
    const boosted = boostedVector(Float32Array.of(1, 0), [{ vector: Float32Array.of(0, 1), factor: 2 }])
    expect([...boosted]).toEqual([Math.fround(Math.SQRT1_2), Math.fround(Math.SQRT1_2)])
    const base = Float32Array.of(1, 0)
    expect(boostedVector(base, [{ vector: Float32Array.of(-1, 0), factor: 2 }])).toBe(base)
    expect(boostedVector(base, [])).toBe(base)
  })

  it('has unit length', () => {
    const angle = fc.double({ min: 0, max: 6.28, noNaN: true })
    const at = (turn: number) => Float32Array.of(Math.cos(turn), Math.sin(turn))
    fc.assert(
      fc.property(angle, angle, fc.double({ min: 0.01, max: 10, noNaN: true }), (a, b, factor) => {
        expect(isUnit(boostedVector(at(a), [{ vector: at(b), factor }]))).toBe(true)
      }),
    )
  })
})
