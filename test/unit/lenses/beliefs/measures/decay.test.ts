/** How fast knowledge ages. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  DEFAULT_DECAY,
  decayRate,
  decayRule,
  freshnessNow,
  halfLifeFactor,
  rateOfHalfLife,
  recency,
} from '../../../../../src/lenses/beliefs/measures/confidence.ts'

const DAY = 86_400_000
const share = fc.double({ min: 0, max: 1, noNaN: true })

describe('the rate of a belief', () => {
  it.each([
    ['news', 0.1],
    ['news/world', 0.1],
    ['prices/oil', 0.5],
    ['stocks', 0.5],
    ['weather/lisbon', 1],
    ['science/biology', 0.002],
    ['history', 0.0001],
    ['math/algebra', 0],
    ['newspapers', 0.01],
    ['medical', 0.01],
  ])('in %s is %d a day (BQ-019)', (domain, rate) => {
    expect(decayRate([domain], [])).toBe(rate)
  })

  it('without domains is the rate of all else (BQ-019)', () => {
    expect(decayRule([], ['news'])).toEqual({ rate: 0.01, pattern: null })
  })

  it('among equally specific patterns is that of a query domain, else the smallest (BQ-020)', () => {
    expect(decayRule(['news', 'science'], [])).toEqual({ rate: 0.002, pattern: 'science' })
    expect(decayRule(['news', 'science'], ['news'])).toEqual({ rate: 0.1, pattern: 'news' })
    expect(decayRate(['news', 'science'], ['news/world'])).toBe(0.1)
    expect(decayRate(['news', 'science'], ['news', 'science'])).toBe(0.002)
    expect(decayRate(['news', 'science'], ['medical'])).toBe(0.002)
  })

  it('is decided by the most specific pattern, whatever is asked (BQ-020)', () => {
    const table = { rates: new Map([...DEFAULT_DECAY.rates, ['news/archive', 0.3]]), otherwise: 0.01 }
    expect(decayRule(['news/archive/old', 'science'], ['science'], table)).toEqual({
      rate: 0.3,
      pattern: 'news/archive',
    })
  })

  it('is not moved by a domain without a pattern beside one with (BQ-020)', () => {
    expect(decayRate(['news', 'medical'], [])).toBe(0.1)
    expect(decayRate(['math', 'medical'], ['medical'])).toBe(0)
  })

  it('does not depend on the order of domains or of the table (BQ-020, BQ-029)', () => {
    const names = [...DEFAULT_DECAY.rates.keys(), 'medical', 'news/world']
    const some = fc.shuffledSubarray(names)
    fc.assert(
      fc.property(
        some,
        some,
        fc.shuffledSubarray([...DEFAULT_DECAY.rates], { minLength: 7 }),
        (domains, asked, rates) => {
          const shuffled = { rates: new Map(rates), otherwise: 0.01 }
          expect(decayRule(domains.toSorted(), asked.toSorted(), shuffled)).toEqual(decayRule(domains, asked))
        },
      ),
    )
  })
})

describe('recency', () => {
  it('is the asserted freshness times the decay (BQ-018)', () => {
    expect(recency(0.9, 0, 10 * DAY, decayRate([], []))).toBeCloseTo(0.814353676232, 12)
    expect(recency(1, 0, 3 * DAY, decayRate(['news/world'], []))).toBeCloseTo(0.740818220682, 12)
    expect(recency(null, 0, 10 * DAY, 0.01)).toBeCloseTo(0.904837418036, 12)
    expect(recency(Number.NaN, 0, 0, 0.01)).toBe(1)
  })

  it('is what the published tables cannot give otherwise (BQ-018, BQ-019)', () => {
    expect(recency(1, 0, 730 * DAY, 0.01)).toBeLessThan(0.0007)
    expect(recency(1, 0, 1095 * DAY, 0.01)).toBeLessThan(0.00002)
  })

  it('is within 0 and the freshness, never rises with age, and knows no negative age (BQ-018)', () => {
    const age = fc.integer({ min: -1000 * DAY, max: 100_000 * DAY })
    fc.assert(
      fc.property(share, age, age, fc.double({ min: 0, max: 2, noNaN: true }), (freshness, a, b, rate) => {
        const [young, old] = [Math.min(a, b), Math.max(a, b)]
        const values = [recency(freshness, 0, old, rate), recency(freshness, 0, young, rate)]
        expect(values[0]).toBeLessThanOrEqual(values[1] as number)
        expect(values[0]).toBeGreaterThanOrEqual(0)
        expect(values[1]).toBeLessThanOrEqual(freshness)
        if (young <= 0) expect(values[1]).toBe(freshness)
      }),
    )
  })
})

describe('freshness as of now', () => {
  it('falls with age, so that a bound on it means fresh now (BQ-045)', () => {
    const now = freshnessNow(1, 0, 10 * DAY, decayRate(['news'], [])) as number
    expect(now).toBe(0.367879441171)
    expect(now >= 0.7).toBe(false)
  })

  it('is unknown where nothing was asserted (BQ-044, BQ-045)', () => {
    expect(freshnessNow(null, 0, 0, 0.01)).toBeNull()
    expect(freshnessNow(Number.NaN, 0, 0, 0.01)).toBeNull()
  })
})

describe('half-lives', () => {
  it('give a factor and a rate (BQ-022)', () => {
    expect(halfLifeFactor(30)).toBeCloseTo(0.793700525984, 12)
    expect(halfLifeFactor(30, 90)).toBe(halfLifeFactor(30))
    expect(halfLifeFactor(7, 7)).toBe(0.5)
    expect(rateOfHalfLife(7)).toBeCloseTo(0.099021, 6)
    expect(rateOfHalfLife(Number.POSITIVE_INFINITY)).toBe(0)
  })

  it('and the rate gives the same factor (BQ-022)', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0.1, max: 5000, noNaN: true }),
        fc.integer({ min: 0, max: 5000 }),
        (halfLife, days) => {
          const byRate = recency(1, 0, days * DAY, rateOfHalfLife(halfLife))
          expect(byRate).toBeCloseTo(halfLifeFactor(days, halfLife), 10)
        },
      ),
    )
  })
})
