import { describe, expect, it } from 'vitest'
import { idf, lengthPart, saturation, termScore } from '../../../src/math/bm25.ts'

describe('BM25, worked', () => {
  it('weighs 3 of 10 chunks as in the comment', () => {
    expect(idf(10, 3)).toBeCloseTo(1.145132, 6) // ln(1 + 7.5 / 3.5)
    expect(termScore(idf(10, 3), 2, 8, 10)).toBeCloseTo(1.668405, 6) // · 4.4 / (2 + 1.2 · .85)
  })

  it.each([
    [1, 0, 1.386294], // ln(1 + 1.5 / 0.5)
    [1, 1, 0.287682], // ln(1 + 0.5 / 1.5)
    [1400, 40, 3.54364], // ln(1 + 1360.5 / 40.5)
    [100_000, 1, 11.10747], // ln(1 + 99999.5 / 1.5)
    [100_000, 100_000, 0.000005],
  ])('idf of %i chunks, %i with the term', (count, df, expected) => {
    expect(idf(count, df)).toBeCloseTo(expected, 6)
  })

  it('takes length into account by three quarters', () => {
    expect(lengthPart(100, 100)).toBeCloseTo(1.2, 12)
    expect(lengthPart(0, 100)).toBeCloseTo(0.3, 12)
    expect(lengthPart(200, 100)).toBeCloseTo(2.1, 12)
  })

  it('grows with tf and stays below 2.2', () => {
    expect(saturation(1, 1.2)).toBeCloseTo(1, 12)
    expect(saturation(3, 1.2)).toBeCloseTo(1.571429, 6)
    expect(saturation(1e9, 0.3)).toBeLessThan(2.2)
    expect(termScore(5, 0, 3, Number.NaN)).toBe(0)
  })
})
