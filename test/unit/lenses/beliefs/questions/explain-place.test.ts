/** BQ-110: the place of a belief, what would lift it, why it is missing, why it beats another. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../../../src/base/canonical.ts'
import { DIMENSIONS } from '../../../../../src/lenses/beliefs/dimensions.ts'
import { smallestChange } from '../../../../../src/lenses/beliefs/questions/explain-place.ts'
import { assertUntil } from '../../../../support/until-met.ts'
import { type Answer, type AskingWorld, EVERYTHING, NOW, openAskingWorld } from './world.ts'

const DAY_MS = 86_400_000
const WORDS = ['car', 'fox', 'quick', 'rain', 'stone']

interface Draft {
  readonly holder: string
  readonly content: string
  readonly domains: readonly string[]
  readonly confidence: Readonly<Record<string, number | null>>
  readonly days: number
}

const share = fc.option(
  fc.integer({ min: 0, max: 20 }).map(value => value / 20),
  { nil: null },
)
const draft = fc
  .record({
    holder: fc.constantFrom('ann', 'bob', 'cat'),
    words: fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 4 }),
    domains: fc.constantFrom([], ['news'], ['science/biology'], ['art', 'prices']),
    confidence: fc.record(Object.fromEntries(DIMENSIONS.map(name => [name, share]))),
    days: fc.integer({ min: 0, max: 20 }),
  })
  .map(({ words, ...rest }): Draft => ({ ...rest, content: words.join(' ') }))

/** Beliefs are called b0, b1 …; each is some days younger than the one before. */
async function worldOf(drafts: readonly Draft[]): Promise<AskingWorld> {
  const world = await openAskingWorld()
  world.trust('ann', 'bob', 0.7)
  for (const [at, { holder, content, days, ...rest }] of drafts.entries()) {
    world.clock.set(world.clock.now() + days * DAY_MS)
    await world.put(holder, { id: `b${at}`, content: `${content} ${at}.`, visibility: 'public', ...rest })
  }
  world.clock.set(NOW + 1000 * DAY_MS)
  return world
}

// A dry run, so that asking is no use of trust and changes none.
const QUERY = { semantic: 'fast automobile', options: { scope: EVERYTHING, limit: 1000, dry_run: true } }

async function ranks(world: AskingWorld, query: JsonObject): Promise<readonly string[]> {
  const { beliefs } = await world.call('beliefs.query', query)
  return beliefs.map(({ belief }: Answer) => belief.id)
}

describe('BQ-110: explain', () => {
  it('gives the components, rank and percentile of the query, within its page or behind it', async () => {
    const world = await openAskingWorld()
    for (const [id, content] of [
      ['a', 'A car.'],
      ['b', 'A stone.'],
      ['c', 'Rain.'],
    ] as const) {
      await world.put('ann', { id, content })
    }
    const query = { semantic: 'automobile', options: { include_explanation: true } }
    const answer = await world.call('beliefs.query', query)
    for (const [at, { belief, score, explanation }] of answer.beliefs.entries()) {
      const place = await world.call('beliefs.explain', { belief_id: belief.id, query })
      expect(place).toMatchObject({ matched: true, shown: true, dropped_by: null, rank: at + 1, of: 3, score })
      expect(place.percentile).toBe([100, 50, 0][at])
      expect(place.summary).toBe(explanation.summary)
      expect({ ...place.explanation, percentile: place.percentile, summary: place.summary }).toEqual(explanation)
    }
    const short = { ...query, options: { limit: 1 } }
    expect(await world.call('beliefs.explain', { belief_id: 'c', query: short })).toMatchObject({
      ...{ matched: true, shown: false },
      dropped_by: { stage: 'page', reason: expect.stringContaining('1 to 1') },
    })
    const spread = { ...query, options: { limit: 2, diversity: { enabled: true, max_per_holder: 1 } } }
    const last = answer.beliefs[2].belief.id
    expect(await world.call('beliefs.explain', { belief_id: last, query: spread })).toMatchObject({
      dropped_by: { stage: 'diversity' },
    })
  })

  it('gives hints that are true once the belief is changed as they say', async () => {
    let checked = 0
    await assertUntil(
      fc.asyncProperty(fc.array(draft, { minLength: 2, maxLength: 6 }), fc.nat(), async (drafts, nth) => {
        const world = await worldOf(drafts)
        const at = nth % drafts.length
        const { hints, rank } = await world.call('beliefs.explain', { belief_id: `b${at}`, query: QUERY })
        for (const { dimension, current, target, rank: promised } of hints.slice(0, 2)) {
          expect(current).toBe(drafts[at]?.confidence[dimension])
          expect(promised).toBeLessThan(rank)
          const rankAt = async (value: number) => {
            const changed = drafts.map((each, other) =>
              other === at ? { ...each, confidence: { ...each.confidence, [dimension]: value } } : each,
            )
            return (await ranks(await worldOf(changed), QUERY)).indexOf(`b${at}`) + 1
          }
          expect(await rankAt(target)).toBe(promised)
          const less = Math.round(target * 10 - 1) / 10
          if (less > (current ?? 0)) expect(await rankAt(less)).toBeGreaterThanOrEqual(rank)
          checked++
        }
      }),
      { numRuns: 25 },
      () => expect(checked).toBeGreaterThan(5),
    )
  })
})

describe('why one is before the other', () => {
  it('is explained by an exact gap, and by weights that do turn them round', async () => {
    let turned = 0
    await assertUntil(
      fc.asyncProperty(fc.array(draft, { minLength: 2, maxLength: 4 }), async drafts => {
        const world = await worldOf(drafts)
        const asking = { belief_id: 'b0', other_id: 'b1', query: QUERY }
        const { versus } = await world.call('beliefs.explain', asking)
        const { beliefs } = await world.call('beliefs.query', QUERY)
        const finals = new Map<string, number>(beliefs.map(({ belief, score }: Answer) => [belief.id, score.final]))
        const order = beliefs.map(({ belief }: Answer) => belief.id)
        expect(order.indexOf(versus.ahead)).toBeLessThan(order.indexOf(versus.behind))
        const gap = (finals.get(versus.ahead) as number) - (finals.get(versus.behind) as number)
        expect(versus.gap).toBe(gap)
        const sum = Object.values<Answer>(versus.parts).reduce((total, part) => total + part.contribution, 0)
        expect(sum).toBeCloseTo(gap, 12)
        if (versus.smallest_change === null) return
        const changed = { ...QUERY, context: { ranking_weights: versus.smallest_change.weights } }
        const again = await ranks(world, changed)
        expect(again.indexOf(versus.behind)).toBeLessThan(again.indexOf(versus.ahead))
        turned++
      }),
      { numRuns: 25 },
      () => expect(turned).toBeGreaterThan(5),
    )
  })

  it('moves no more weight than it must', () => {
    const weight = fc.double({ min: 0, max: 1, noNaN: true })
    const difference = fc.double({ min: -1, max: 1, noNaN: true })
    const four = <T>(each: fc.Arbitrary<T>) =>
      fc.record({ semantic: each, confidence: each, trust: each, recency: each })
    fc.assert(
      fc.property(four(weight), four(difference), four(weight), (given, differences, tried) => {
        const names = Object.keys(given) as (keyof typeof given)[]
        const scale = (weights: typeof given) => {
          const sum = names.reduce((total, name) => total + weights[name], 0)
          fc.pre(sum > 0.01)
          return Object.fromEntries(names.map(name => [name, weights[name] / sum])) as typeof given
        }
        const gapWith = (weights: typeof given) =>
          names.reduce((sum, name) => sum + weights[name] * differences[name], 0)
        const weights = scale(given)
        fc.pre(gapWith(weights) > 0)
        const change = smallestChange(weights, differences)
        const other = scale(tried)
        if (change === null) {
          expect(gapWith(other)).toBeGreaterThanOrEqual(0)
          return
        }
        expect(names.reduce((sum, name) => sum + change.weights[name], 0)).toBeCloseTo(1, 9)
        expect(Math.min(...names.map(name => change.weights[name]))).toBeGreaterThanOrEqual(-1e-12)
        expect(gapWith(change.weights)).toBeLessThanOrEqual(1e-12)
        // Any other weights that turn them round lie at least as far away.
        if (gapWith(other) >= 0) return
        const distance = names.reduce((sum, name) => sum + Math.abs(other[name] - weights[name]), 0) / 2
        const margin = 1e-9 / Math.min(...names.flatMap(name => (differences[name] < 0 ? [-differences[name]] : [])))
        expect(change.moved).toBeLessThanOrEqual(distance + margin + 1e-9)
      }),
    )
  })

  it('says what decides between equal scores, and that a better one has nothing to fear', async () => {
    const world = await openAskingWorld()
    await world.put('ann', { id: 'old', content: 'Rain one.', visibility: 'public' })
    await world.put('ann', { id: 'new', content: 'Rain two.', visibility: 'public' })
    const query = { semantic: '', filters: { visibility_levels: ['public'] } }
    const { versus } = await world.call('beliefs.explain', { belief_id: 'old', other_id: 'new', query })
    expect(versus).toMatchObject({ gap: 0, decided_by: 'id', smallest_change: null })
    expect(versus.parts).not.toHaveProperty('semantic')
  })
})

describe('why a belief is missing', () => {
  it('is the first step that dropped it', async () => {
    const world = await openAskingWorld()
    await world.put('ann', { id: 'first', content: 'The car is quick.', domains: ['traffic'] })
    await world.call('beliefs.supersede', { belief_id: 'first', id: 'mine', content: 'The car is fast.' })
    await world.put('bob', { id: 'theirs', content: 'The car is fast.', visibility: 'public' })
    const why = async (query: JsonObject, belief_id = 'mine') => {
      const asking = { belief_id, query: { semantic: 'car', options: { scope: EVERYTHING }, ...query } }
      const place = await world.call('beliefs.explain', asking)
      return place.matched ? 'matched' : `${place.dropped_by.stage}: ${place.dropped_by.reason}`
    }
    expect(await why({})).toBe('matched')
    expect(await why({}, 'first')).toMatch(/^current: /)
    expect(await why({ options: { scope: { network: true } } })).toMatch(/^scope: .* from local/)
    const early = new Date(NOW - DAY_MS).toISOString()
    expect(await why({ filters: { valid_at: early } })).toMatch(/^time: It is valid only from /)
    expect(await why({ filters: { domains_include: ['art'] } })).toMatch(/^filters: .* domains_include/)
    expect(await why({ filters: ['from_trusted', { min_confidence: 0.99 }] })).toMatch(/^filters: .* min_confidence/)
    expect(await why({ filters: 'from_trusted' }, 'theirs')).toMatch(/^filters: .* from_trusted/)
    expect(await why({ semantic: 'car "is slow"' })).toBe('phrases: It does not contain the phrase "is slow".')
    expect(await why({ semantic: 'car -fast' })).toMatch(/^exclusions: .* -fast/)
    expect(await why({ semantic: 'car +green' })).toMatch(/^inclusions: .* \+green/)
    expect(await why({}, 'theirs')).toBe('copies: A copy of it is shown in its place, mine.')
  })

  it('discloses nothing that may not be seen: that is as if it were not there', async () => {
    const world = await openAskingWorld()
    await world.put('bob', { id: 'secret', content: 'The car is fast.', visibility: 'private' })
    await world.put('ann', { id: 'mine', content: 'The car is slow.' })
    const answers = []
    for (const belief_id of ['secret', 'nothing']) {
      const asking = world.call('beliefs.explain', { belief_id, query: { semantic: 'car' } })
      answers.push(
        await asking.then(
          () => null,
          error => ({ ...error.toJSON(), request_id: '' }),
        ),
      )
      const other = world.call('beliefs.explain', {
        belief_id: 'mine',
        other_id: belief_id,
        query: { semantic: 'car' },
      })
      await expect(other).rejects.toMatchObject({ details: { path: 'other_id', reason: 'not_found' } })
    }
    expect(answers[0]).toMatchObject({ code: 'INVALID_QUERY', details: { reason: 'not_found' } })
    expect(answers[1]).toEqual(answers[0])
  })
})
