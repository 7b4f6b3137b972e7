import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toUnit } from '../../../src/embed/embedder.ts'
import { pool } from '../../../src/embed/sentence-model.ts'

describe('pool', () => {
  const tokens = Float32Array.of(1, 2, 3, 4, 5, 12)

  it('takes the mean over tokens', () => {
    expect([...pool(tokens, 3, 2, 'mean')]).toEqual([3, 6])
  })

  it('takes the first token for cls', () => {
    expect([...pool(tokens, 3, 2, 'cls')]).toEqual([1, 2])
  })

  it('counts only the tokens named, not what may lie behind them', () => {
    expect([...pool(tokens, 2, 2, 'mean')]).toEqual([2, 3])
  })
})

describe('toUnit', () => {
  it('keeps the direction: (3, 4) becomes (0.6, 0.8)', () => {
    expect(toUnit([3, 4])).toEqual(Float32Array.of(0.6, 0.8))
  })

  it('has no answer without direction', () => {
    for (const values of [[], [0, 0], [Number.NaN, 1], [Number.POSITIVE_INFINITY, 1]]) {
      expect(toUnit(values)).toBeNull()
    }
  })

  it('gives length 1 for any vector of usual size, and the same whatever its length was', () => {
    const values = fc.array(fc.double({ min: -1e6, max: 1e6, noNaN: true }), { minLength: 1, maxLength: 50 })
    fc.assert(
      fc.property(values, fc.integer({ min: 1, max: 1000 }), (values, factor) => {
        fc.pre(values.some(value => Math.abs(value) > 1e-3))
        const unit = toUnit(values) as Float32Array
        expect(unit.reduce((sum, value) => sum + value * value, 0)).toBeCloseTo(1, 5)
        const scaled = toUnit(values.map(value => value * factor)) as Float32Array
        unit.forEach((value, i) => {
          expect(scaled[i]).toBeCloseTo(value, 6)
        })
      }),
    )
  })
})
