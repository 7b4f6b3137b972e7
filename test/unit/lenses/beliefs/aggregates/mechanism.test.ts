/** What one answer gives away of one member, worked out from the probabilities themselves (BQ-105). */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type AggregateRules,
  barOf,
  MAX_BELIEFS,
  noisedSummary,
  noisesOf,
  published,
  reachOf,
  type Tally,
} from '../../../../../src/lenses/beliefs/aggregates/mechanism.ts'
import { discreteLaplaceTail } from '../../../../../src/math/discrete-laplace.ts'
import { laplacePmf } from '../../../../support/laplace.ts'
import { seededUniform } from '../../../../support/seeded.ts'

const rules = (epsilonAnswer = 1000, leastMembers = 5): AggregateRules => ({
  ...{ leastMembers, epsilonAnswer, epsilonDay: 10_000 },
})

/** Noised figures that are gone through: the same for every tally, so that sets of them are the same sets. */
const REACH = 90

/** Probability of each answer, as JSON, over all noised figures within reach. */
function answersOf(tally: Tally, given: AggregateRules): ReadonlyMap<string, number> {
  const noises = noisesOf(given)
  const bar = barOf(given)
  const found = new Map<string, number>()
  for (let members = -REACH; members <= REACH; members++) {
    const ofMembers = laplacePmf(noises.members, members - tally.members)
    for (let beliefs = -REACH; beliefs <= REACH; beliefs++) {
      const answer = JSON.stringify(published({ members, beliefs }, bar))
      const both = ofMembers * laplacePmf(noises.beliefs, beliefs - tally.beliefs)
      found.set(answer, (found.get(answer) ?? 0) + both)
    }
  }
  return found
}

const greatestRatio = (one: ReadonlyMap<string, number>, other: ReadonlyMap<string, number>) =>
  Math.max(...[...one].map(([answer, probability]) => probability / (other.get(answer) as number)))

/** What one member may move, either way, of figures that can be. */
const neighbours = fc
  .record({
    beliefs: fc.array(fc.integer({ min: 1, max: MAX_BELIEFS }), { maxLength: 24 }),
    at: fc.nat(),
    // 0: it holds nothing of the topic.
    before: fc.integer({ min: 0, max: MAX_BELIEFS }),
    after: fc.integer({ min: 0, max: MAX_BELIEFS }),
  })
  .map(({ beliefs, before, after }) => {
    const withOne = (count: number): Tally => ({
      members: beliefs.length + (count > 0 ? 1 : 0),
      beliefs: beliefs.reduce((sum, one) => sum + one, 0) + count,
    })
    return [withOne(before), withOne(after)] as const
  })

describe('an answer', () => {
  it('BQ-105: is at most e^ε times as likely with what one member holds as without it, "no answer" too', () => {
    const given = fc.record({ epsilon: fc.integer({ min: 100, max: 5000 }), least: fc.constantFrom(5, 10) })
    const property = fc.property(neighbours, given, ([one, other], { epsilon, least }) => {
      const [some, others] = [answersOf(one, rules(epsilon, least)), answersOf(other, rules(epsilon, least))]
      const bound = Math.exp(epsilon / 1000) * (1 + 1e-9)
      expect(greatestRatio(some, others)).toBeLessThanOrEqual(bound)
      expect(greatestRatio(others, some)).toBeLessThanOrEqual(bound)
    })
    fc.assert(property, { numRuns: 60 })
  })

  it('spends all of ε where one member brings three beliefs, and is not more likely than that', () => {
    const [one, other] = [
      answersOf({ members: 12, beliefs: 20 }, rules()),
      answersOf({ members: 13, beliefs: 23 }, rules()),
    ]
    expect(greatestRatio(other, one)).toBeCloseTo(Math.E, 9)
  })

  it.each([
    [5, 11],
    [10, 16],
  ])('BQ-105: with k = %i is told from a noised %i on: of one member too few in at most one of a hundred', (k, bar) => {
    const given = rules(1000, k)
    expect(barOf(given)).toBe(bar)
    const { members } = noisesOf(given)
    expect(discreteLaplaceTail(members, bar - (k - 1))).toBeLessThanOrEqual(0.01)
    expect(discreteLaplaceTail(members, bar - 1 - (k - 1))).toBeGreaterThan(0.01)
  })

  it('needs less room above k where more may be spent', () => {
    expect([100, 500, 1000, 2000, 5000].map(epsilon => barOf(rules(epsilon)))).toEqual([70, 18, 11, 8, 6])
  })

  it('is made of the noised figures: as many beliefs as members or more, at most three times as many', () => {
    expect(published({ members: 10, beliefs: 30 }, 11)).toBeNull()
    expect(published({ members: 11, beliefs: 20 }, 11)).toEqual({ member_count: 11, belief_count: 20 })
    expect(published({ members: 11, beliefs: -4 }, 11)).toEqual({ member_count: 11, belief_count: 11 })
    expect(published({ members: 11, beliefs: 99 }, 11)).toEqual({ member_count: 11, belief_count: 33 })
  })

  it('BQ-105: comes as often as the probabilities say, of 20,000 with one seed', () => {
    const uniform = seededUniform(105)
    const random = (count: number) => Uint8Array.from({ length: count }, () => Math.floor(256 * uniform()))
    const tally = { members: 12, beliefs: 20 }
    const expected = answersOf(tally, rules())
    const seen = new Map<string, number>()
    const draws = 20_000
    for (let at = 0; at < draws; at++) {
      const answer = JSON.stringify(noisedSummary(tally, rules(), random))
      seen.set(answer, (seen.get(answer) ?? 0) + 1)
    }
    let [statistic, bins, seenInBins, expectedInBins] = [0, 0, 0, 0]
    for (const [answer, probability] of expected) {
      if (draws * probability < 10) continue
      statistic += ((seen.get(answer) ?? 0) - draws * probability) ** 2 / (draws * probability)
      seenInBins += seen.get(answer) ?? 0
      expectedInBins += draws * probability
      bins++
    }
    // All others as one.
    statistic += (seenInBins - expectedInBins) ** 2 / (draws - expectedInBins)
    expect(bins).toBeGreaterThan(100)
    // The 0.999 quantile of chi-square by its normal form.
    expect(statistic).toBeLessThan((Math.sqrt(2 * bins - 1) + 3.09) ** 2 / 2)
  })
})

it('the noise of each figure is stated as the range of 95 of 100 draws', () => {
  for (const epsilon of [100, 1000, 5000]) {
    for (const noise of Object.values(noisesOf(rules(epsilon)))) {
      const reach = reachOf(noise)
      expect(1 - 2 * discreteLaplaceTail(noise, reach + 1)).toBeGreaterThanOrEqual(0.95)
      if (reach > 0) expect(1 - 2 * discreteLaplaceTail(noise, reach)).toBeLessThan(0.95)
    }
  }
})
