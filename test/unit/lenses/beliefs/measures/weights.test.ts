/** The shares of a score. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  byTrustWeight,
  rankingWeights,
  temporalFactor,
  withTemporalFactor,
} from '../../../../../src/lenses/beliefs/measures/confidence.ts'
import type { RankingWeights } from '../../../../../src/lenses/beliefs/model.ts'

const share = fc.double({ min: 0, max: 1, noNaN: true })

describe('a trust weight', () => {
  it.each([
    [0.5, { semantic: 0.35, confidence: 0.25, trust: 0.3, recency: 0.1 }],
    [0.9, { semantic: 0.23, confidence: 0.164285714286, trust: 0.54, recency: 0.065714285714 }],
    [0, { semantic: 0.5, confidence: 0.357142857143, trust: 0, recency: 0.142857142857 }],
    [1, { semantic: 0.2, confidence: 0.142857142857, trust: 0.6, recency: 0.057142857143 }],
  ])('of %d gives %j (BQ-060, BQ-082)', (trustWeight, expected) => {
    expectClose(byTrustWeight(trustWeight), expected)
    expectClose(weights(trustWeight, null, false), expected)
  })

  it('keeps the proportion of the others, and trust below two thirds (BQ-060)', () => {
    fc.assert(
      fc.property(share, trustWeight => {
        const { semantic, confidence, trust, recency } = weights(trustWeight, null, false)
        expect(semantic + confidence + trust + recency).toBeCloseTo(1, 12)
        expect(confidence / semantic).toBeCloseTo(0.25 / 0.35, 9)
        expect(recency / semantic).toBeCloseTo(0.1 / 0.35, 9)
        expect(trust).toBeLessThan(2 / 3)
      }),
    )
  })
})

describe('ranking weights', () => {
  it('beat the trust weight; what is left out keeps its default; all is divided by the sum (BQ-061)', () => {
    expectClose(weights(0.9, { trust: 0.3 }, false), { semantic: 0.35, confidence: 0.25, trust: 0.3, recency: 0.1 })
    expectClose(weights(0.9, { trust: 1.3 }, false), { semantic: 0.175, confidence: 0.125, trust: 0.65, recency: 0.05 })
  })

  it('may come to nothing, with or without meaning (BQ-061)', () => {
    const none = { confidence: 0, trust: 0, recency: 0 }
    expect(rankingWeights({ trustWeight: 0.5, given: { ...none, semantic: 0 }, listMode: false })).toBeNull()
    expect(rankingWeights({ trustWeight: 0.5, given: { ...none, semantic: 1 }, listMode: true })).toBeNull()
    expect(rankingWeights({ trustWeight: 0.5, given: { ...none, semantic: 1 }, listMode: false })).not.toBeNull()
  })
})

describe('list mode', () => {
  it('leaves meaning out and gives its share to the others (BQ-041)', () => {
    expectClose(weights(0.5, null, true), {
      semantic: 0,
      confidence: 0.25 / 0.65,
      trust: 0.3 / 0.65,
      recency: 0.1 / 0.65,
    })
  })
})

describe('words of time', () => {
  it.each([
    ['latest research', 2],
    ['what is NEW, in Lisbon?', 2],
    ['the origin of species', 0.5],
    ['first history', 0.5],
    ['recent history', 1],
    ['newton and renewal', 1],
    ['', 1],
  ])('%j: times %d (BQ-023)', (text, factor) => {
    expect(temporalFactor(text)).toBe(factor)
  })

  it('change the share of recency, and all is 1 again (BQ-023)', () => {
    const usual: RankingWeights = { semantic: 0.35, confidence: 0.25, trust: 0.3, recency: 0.1 }
    expect(withTemporalFactor(usual, 1)).toBe(usual)
    expectClose(withTemporalFactor(usual, 2), {
      semantic: 0.35 / 1.1,
      confidence: 0.25 / 1.1,
      trust: 0.3 / 1.1,
      recency: 0.2 / 1.1,
    })
    expect(withTemporalFactor(usual, 0.5).recency).toBeCloseTo(0.05 / 0.95, 12)
  })
})

function weights(trustWeight: number, given: Partial<RankingWeights> | null, listMode: boolean): RankingWeights {
  return rankingWeights({ trustWeight, given, listMode }) as RankingWeights
}

function expectClose(found: RankingWeights, expected: RankingWeights): void {
  for (const name of ['semantic', 'confidence', 'trust', 'recency'] as const) {
    expect(found[name], name).toBeCloseTo(expected[name], 11)
  }
}
