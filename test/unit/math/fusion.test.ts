import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { crossing, fuse, type Line, wordShare } from '../../../src/math/fusion.ts'

describe('fusion', () => {
  // Cranfield question 1, from the measurements this formula was chosen by.
  it.each([
    { document: 486, bm: 20.98, cosine: 0.70217, score: 0.77896 },
    { document: 51, bm: 21.897, cosine: 0.64847, score: 0.75393 },
    { document: 12, bm: 18.554, cosine: 0.63514, score: 0.69879 },
  ])('gives document $document of the worked question $score', ({ bm, cosine, score }) => {
    expect(fuse(wordShare(bm, 21.897), cosine, 0.3, 0.7)).toBeCloseTo(score, 4)
  })

  it('gives every entry the share 0 where no term matches', () => {
    expect(wordShare(0, 0)).toBe(0)
  })
})

describe('crossing', () => {
  // In hundredths: numbers of 1e-300 differ by rounding alone.
  const hundredths = (min: number, max: number) =>
    fc.integer({ min: min * 100, max: Math.round(max * 100) }).map(n => n / 100)
  const line = (): fc.Arbitrary<Line> =>
    fc.record({ share: hundredths(0, 1), cosine: hundredths(-1, 1), boost: hundredths(1, 1.1) })
  const at = (of: Line, x: number) => of.boost * ((1 - x) * of.share + x * of.cosine)

  it('is the weight at which two entries score the same', () => {
    expect(crossing({ share: 1, cosine: 0, boost: 1 }, { share: 0, cosine: 1, boost: 1 })).toBe(0.5)
    fc.assert(
      fc.property(line(), line(), (a, b) => {
        const x = crossing(a, b)
        if (x !== null) expect(at(a, x)).toBeCloseTo(at(b, x), 6)
      }),
    )
  })

  it('is null exactly when one is ahead at every weight, or both are the same', () => {
    fc.assert(
      fc.property(line(), line(), (a, b) => {
        const signs = [Math.sign(at(a, 0) - at(b, 0)), Math.sign(at(a, 1) - at(b, 1))]
        if (signs[0] === -(signs[1] as number) && signs[0] !== 0) expect(crossing(a, b)).not.toBeNull()
        if (signs[0] === signs[1] && signs[0] !== 0) expect(crossing(a, b)).toBeNull()
      }),
    )
  })
})
