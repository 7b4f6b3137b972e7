/** Six dimensions as one number: the golden ones of the rows, and what holds for all vectors. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DIMENSIONS, type Dimension } from '../../../../../src/lenses/beliefs/dimensions.ts'
import {
  confidenceInRanking,
  DEFAULT_CONFIDENCE,
  DEFAULT_WEIGHTS,
  dimensionWeights,
  overall,
  overallOf,
  twelveDecimals,
  vectorColumn,
  weakestDimension,
  weightColumn,
} from '../../../../../src/lenses/beliefs/measures/confidence.ts'
import type { Confidence, DimensionWeights } from '../../../../../src/lenses/beliefs/model.ts'

type Six<T> = readonly [T, T, T, T, T, T]

function vector(values: Six<number | null>): Confidence {
  return Object.fromEntries(DIMENSIONS.map((dimension, i) => [dimension, values[i]])) as unknown as Confidence
}

describe('the order and the defaults', () => {
  it('are those of the specification (BQ-012, BQ-013)', () => {
    expect(DIMENSIONS).toEqual([
      'source_reliability',
      'method_quality',
      'internal_consistency',
      'temporal_freshness',
      'corroboration',
      'domain_applicability',
    ])
    expect(Array.from(vectorColumn(DEFAULT_CONFIDENCE))).toEqual([0.5, 0.5, 1, 1, 0.1, 0.8])
    expect(Array.from(weightColumn(DEFAULT_WEIGHTS))).toEqual([0.25, 0.2, 0.15, 0.15, 0.15, 0.1])
    expect(overall(DEFAULT_CONFIDENCE)).toEqual({ overall: 0.506810379473, missing: [] })
  })
})

describe('the overall confidence', () => {
  it.each<[Six<number>, number]>([
    [[0.9, 0.1, 0.9, 0.9, 0.9, 0.9], 0.57995461348],
    [[0.7, 0.7, 0.7, 0.7, 0.7, 0.7], 0.7],
    [[1, 1, 1, 1, 1, 1], 1],
    [[0, 0, 0, 0, 0, 0], 0.001],
  ])('of %j is %d (BQ-014)', (values, expected) => {
    expect(overall(vector(values))).toEqual({ overall: expected, missing: [] })
  })

  it.each<[string, Six<number>, number]>([
    ['one low source_reliability', [0.1, 0.9, 0.9, 0.9, 0.9, 0.9], 0.5196],
    ['one low internal_consistency', [0.9, 0.9, 0.1, 0.9, 0.9, 0.9], 0.6473],
    ['one low temporal_freshness', [0.9, 0.9, 0.9, 0.1, 0.9, 0.9], 0.6473],
    ['one low corroboration', [0.9, 0.9, 0.9, 0.9, 0.1, 0.9], 0.6473],
    ['one low domain_applicability', [0.9, 0.9, 0.9, 0.9, 0.9, 0.1], 0.7225],
    ['the other published defaults', [0.5, 0.3, 0.7, 1, 0.2, 0.6], 0.4676],
    ['a published sample', [0.8, 0.9, 0.95, 1, 0.7, 0.8], 0.8518],
  ])('of %s is the published number (BQ-014)', (_, values, expected) => {
    expect(overall(vector(values)).overall).toBeCloseTo(expected, 4)
  })

  it('leaves out what is unknown and tells it (BQ-015)', () => {
    expect(overall(vector([0.8, 0.8, 0.8, 0.8, null, 0.8]))).toEqual({ overall: 0.8, missing: ['corroboration'] })
    const first = overall(vector([null, 0.8, 0.2, null, 0.8, 0.8]))
    expect(first.missing).toEqual(['source_reliability', 'temporal_freshness'])
    expect(first.overall).toBe(twelveDecimals(Math.exp((0.45 * Math.log(0.8) + 0.15 * Math.log(0.2)) / 0.6)))
  })

  it('is null where nothing that counts is known; ranking takes the default vector then (BQ-016)', () => {
    const unknown = vector([null, null, null, null, null, null])
    expect(overall(unknown)).toEqual({ overall: null, missing: DIMENSIONS })
    expect(confidenceInRanking(unknown)).toBe(0.506810379473)
    const onlySource = weightsOf([1, 0, 0, 0, 0, 0])
    expect(overall(vector([null, 1, 1, 1, 1, 1]), onlySource)).toEqual({
      overall: null,
      missing: ['source_reliability'],
    })
    expect(confidenceInRanking(vector([null, 1, 1, 1, 1, 1]), onlySource)).toBe(0.5)
    expect(confidenceInRanking(vector([0.3, 1, 1, 1, 1, 1]), onlySource)).toBe(0.3)
  })
})

describe('weights that are given', () => {
  it('replace the defaults one by one and are divided by their sum (BQ-017)', () => {
    const weights = dimensionWeights({ source_reliability: 0.75 }) as DimensionWeights
    expect(weights.source_reliability).toBeCloseTo(0.5, 12)
    expect(weights.method_quality).toBeCloseTo(0.2 / 1.5, 12)
    // √0.5 to twelve decimals.
    expect(overall(vector([0.5, 1, 1, 1, 1, 1]), weights).overall?.toFixed(13)).toBe('0.7071067811870')
  })

  it('that come to nothing are none (BQ-017)', () => {
    expect(dimensionWeights(Object.fromEntries(DIMENSIONS.map(name => [name, 0])))).toBeNull()
  })

  it('may be as large and as small as numbers are (BQ-017)', () => {
    const huge = dimensionWeights({ source_reliability: 1.7e308, corroboration: 1.7e308 }) as DimensionWeights
    expect(huge.source_reliability).toBeCloseTo(0.5, 12)
    const tiny = dimensionWeights(Object.fromEntries(DIMENSIONS.map(name => [name, 5e-324]))) as DimensionWeights
    expect(tiny.corroboration).toBeCloseTo(1 / 6, 12)
  })
})

describe('the weakest dimension', () => {
  it('is the known one that costs most, the earlier of equals (BQ-110)', () => {
    expect(weakestDimension(vector([0.5, 0.4, 1, 1, 0.5, 0.5]))).toBe('method_quality')
    expect(weakestDimension(vector([0.5, 0.9, 1, 1, 0.45, 0.9]))).toBe('source_reliability')
    expect(weakestDimension(vector([1, 1, 0.5, 0.5, 0.5, 1]))).toBe('internal_consistency')
    expect(weakestDimension(vector([null, 1, 1, 1, null, 1]))).toBe('method_quality')
    expect(weakestDimension(vector([null, null, null, null, null, null]))).toBeNull()
  })
})

describe('for all vectors and weights', () => {
  const share = fc.double({ min: 0, max: 1, noNaN: true })
  const six = fc.tuple(share, share, share, share, share, share)
  const known = fc.option(share)
  const sixKnownOrNot = fc.tuple(known, known, known, known, known, known)
  // Subnormal ones have few digits, and so has what is weighed by nothing else.
  const weight = fc.double({ min: 0, max: 1000, noNaN: true }).map(value => (value < 1e-200 ? 0 : value))
  const weights = fc
    .tuple(...DIMENSIONS.map(() => weight))
    .filter(values => values.some(value => value > 1e-3))
    .map(values => weightsOf(values as unknown as Six<number>))

  it('the weights come to 1 together (BQ-017)', () => {
    fc.assert(
      fc.property(weights, given => {
        const sum = DIMENSIONS.reduce((total, name) => total + given[name], 0)
        expect(Math.abs(sum - 1)).toBeLessThan(1e-12)
      }),
    )
  })

  it('the overall lies between the least and the greatest that is known (BQ-014, BQ-015)', () => {
    fc.assert(
      fc.property(sixKnownOrNot, weights, (values, given) => {
        const { overall: value } = overall(vector(values), given)
        const counted = DIMENSIONS.map((name, i) => (given[name] > 0 ? values[i] : null))
        const known = counted
          .filter(counts => counts !== null && counts !== undefined)
          .map(counts => Math.max(counts, 0.001))
        if (known.length === 0) {
          expect(value).toBeNull()
          return
        }
        expect(value).toBeGreaterThanOrEqual(Math.min(...known) - 1e-9)
        expect(value).toBeLessThanOrEqual(Math.max(...known) + 1e-9)
      }),
    )
  })

  it('raising a dimension never lowers the overall (BQ-014, BQ-082)', () => {
    fc.assert(
      fc.property(six, weights, fc.nat(5), share, (values, given, at, raised) => {
        const more = values.map((value, i) => (i === at ? Math.max(value, raised) : value)) as unknown as Six<number>
        const [before, after] = [overall(vector(values), given), overall(vector(more), given)]
        expect(after.overall).toBeGreaterThanOrEqual(before.overall as number)
      }),
    )
  })

  it('a common factor of the weights changes nothing but noise (BQ-017)', () => {
    fc.assert(
      fc.property(six, weights, fc.double({ min: 0.01, max: 100, noNaN: true }), (values, given, factor) => {
        const times = Object.fromEntries(DIMENSIONS.map(name => [name, given[name] * factor]))
        const again = dimensionWeights(times) as DimensionWeights
        expect(overall(vector(values), again).overall).toBeCloseTo(overall(vector(values), given).overall as number, 10)
      }),
    )
  })

  it('columns give exactly what a vector alone does (BQ-014, BQ-016)', () => {
    fc.assert(
      fc.property(fc.array(sixKnownOrNot, { minLength: 1, maxLength: 5 }), weights, (vectors, given) => {
        const columns = Float64Array.from(vectors.flatMap(values => Array.from(vectorColumn(vector(values)))))
        const fromColumns = vectors.map((_, row) => overallOf(columns, row * 6, weightColumn(given)))
        const alone = vectors.map(values => overall(vector(values), given).overall ?? Number.NaN)
        expect(fromColumns).toEqual(alone)
      }),
    )
  })
})

/** Divided by their sum. */
function weightsOf(values: Six<number>): DimensionWeights {
  const given = Object.fromEntries(DIMENSIONS.map((name, i) => [name, values[i]])) as Record<Dimension, number>
  return dimensionWeights(given) as DimensionWeights
}
