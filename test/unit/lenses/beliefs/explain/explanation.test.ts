/** BQ-106, BQ-107, BQ-109, BQ-197: explanations of results. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../../../src/base/canonical.ts'
import { DIMENSIONS } from '../../../../../src/lenses/beliefs/dimensions.ts'
import { type Answer, type AskingWorld, EVERYTHING, openAskingWorld } from '../questions/world.ts'

const DAY_MS = 86_400_000
const PARTS = ['semantic', 'confidence', 'trust', 'recency']

async function explained(world: AskingWorld, query: JsonObject, options: JsonObject = {}): Promise<Answer> {
  const asking = { ...query, options: { scope: EVERYTHING, include_explanation: true, ...options } }
  return world.call('beliefs.query', asking)
}

const WORDS = ['car', 'fox', 'quick', 'rain', 'stone']
const share = fc.option(fc.constantFrom(0, 0.2, 0.5, 0.9, 1), { nil: null })
const draft = fc.record({
  holder: fc.constantFrom('ann', 'bob', 'cat'),
  words: fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 4 }),
  domains: fc.constantFrom([], ['news'], ['science/biology'], ['art', 'prices']),
  confidence: fc.record({ source_reliability: share, corroboration: share, temporal_freshness: share }),
  days: fc.integer({ min: 0, max: 60 }),
})

describe('BQ-106: an explanation', () => {
  it('adds up to the score, and its ranks and percentiles are those of the order', async () => {
    const weights = fc.dictionary(fc.constantFrom(...PARTS), fc.double({ min: 0.01, max: 5, noNaN: true }))
    const text = fc.constantFrom('fast automobile', 'rain on stone', '')
    await fc.assert(
      fc.asyncProperty(
        fc.array(draft, { minLength: 1, maxLength: 8 }),
        weights,
        text,
        fc.boolean(),
        async (drafts, given, semantic, enabled) => {
          const world = await openAskingWorld()
          world.trust('ann', 'bob', 0.7, { news: 0.2 })
          world.trust('bob', 'cat', 0.9)
          for (const [at, { holder, words, days, ...rest }] of drafts.entries()) {
            world.clock.set(world.clock.now() + days * DAY_MS)
            await world.put(holder, { content: `${words.join(' ')} ${at}.`, visibility: 'public', ...rest })
          }
          const query = {
            semantic,
            ...(semantic === '' ? { filters: { visibility_levels: ['public'] } } : {}),
            context: { query_domains: ['news'], ...(Object.keys(given).length > 0 ? { ranking_weights: given } : {}) },
          }
          const answer = await explained(world, query, { diversity: { enabled } })
          const { effective_weights: effective } = answer
          for (const { explanation, score, rank } of answer.beliefs) {
            const sum = PARTS.reduce((total, name) => total + explanation[name].contribution, 0)
            expect(sum).toBeCloseTo(score.final, 9)
            const again = PARTS.reduce((total, name) => total + (explanation[name].value ?? 0) * effective[name], 0)
            expect(again).toBeCloseTo(score.final, 9)
            expect(explanation.percentile).toBeCloseTo(
              answer.total_count === 1
                ? 100
                : (100 * (answer.total_count - explanation.rank)) / (answer.total_count - 1),
              9,
            )
            if (!enabled) expect(explanation.rank).toBe(rank)
            const { value, freshness, rate, age_days } = explanation.recency
            expect(value).toBeCloseTo((freshness ?? 1) * Math.exp(-rate * age_days), 12)
          }
          const ranks = answer.beliefs.map(({ explanation }: Answer) => explanation.rank)
          const finals = answer.beliefs.map(({ score }: Answer) => score.final)
          // Whatever diversity did, ranks follow the scores.
          const byRank = finals.map((final: number, at: number) => ({ final, rank: ranks[at] }))
          byRank.sort((a: Answer, b: Answer) => a.rank - b.rank)
          for (let at = 1; at < byRank.length; at++)
            expect(byRank[at - 1].final).toBeGreaterThanOrEqual(byRank[at].final)
        },
      ),
      { numRuns: 25 },
    )
  })

  it('names terms, distance, the weakest and missing dimensions, rate and pattern', async () => {
    const world = await openAskingWorld()
    await world.put('ann', {
      content: 'Green tea lowers blood pressure.',
      domains: ['Science:Medicine'],
      confidence: { source_reliability: 0.8, method_quality: 0.1, corroboration: null },
    })
    world.clock.set(world.clock.now() + 10 * DAY_MS)
    const { beliefs } = await explained(world, { semantic: 'does the tea raise "Blood pressure"' })
    const [{ explanation }] = beliefs
    expect(explanation.semantic.matched_terms).toEqual(['Blood pressure', 'tea', 'blood', 'pressure'])
    expect(explanation.semantic.cosine_distance).toBeCloseTo(1 - (2 * explanation.semantic.value - 1), 12)
    expect(explanation.confidence.weakest).toEqual({ dimension: 'method_quality', value: 0.1 })
    expect(explanation.confidence.missing).toEqual(['corroboration'])
    expect(explanation.confidence.dimension_weights.source_reliability).toBe(0.25)
    expect(explanation.recency).toMatchObject({ rate: 0.002, pattern: 'science', age_days: 10 })
    expect(explanation).toMatchObject({ rank: 1, of: 1, percentile: 100, diversity_penalty: 0 })
    expect(explanation.summary).toContain('Number 1 of 1')
    expect(explanation.summary).toContain('method quality')
    expect(explanation.summary).not.toContain('\n')
  })

  it('BQ-015, BQ-016: flags a confidence of which something is not known', async () => {
    const world = await openAskingWorld()
    const nothing = Object.fromEntries(DIMENSIONS.map(dimension => [dimension, null]))
    await world.put('ann', { id: 'whole', content: 'Rain in spring.' })
    await world.put('ann', { id: 'half', content: 'Rain in autumn.', confidence: { corroboration: null } })
    await world.put('ann', { id: 'none', content: 'Rain in winter.', confidence: nothing })
    const { beliefs } = await explained(world, { semantic: 'rain' })
    const reported = beliefs.map(({ belief, explanation: { confidence } }: Answer) => [
      ...[belief.id, confidence.incomplete, confidence.missing, confidence.overall === null],
    ])
    expect(reported.toSorted()).toEqual([
      ['half', true, ['corroboration'], false],
      ['none', true, [...DIMENSIONS], true],
      ['whole', false, [], false],
    ])
    // Its substitute is reported as what counts.
    const [of] = beliefs.filter(({ belief }: Answer) => belief.id === 'none')
    expect(of.explanation.confidence.value).toBe(0.506810379473)
  })

  it('is left out unless it is wanted', async () => {
    const world = await openAskingWorld()
    await world.put('ann', { content: 'Rain.' })
    const { beliefs } = await explained(world, { semantic: 'rain' }, { include_explanation: false })
    expect(beliefs[0]).not.toHaveProperty('explanation')
  })
})

describe('BQ-107: trust in explanations', () => {
  it('is exact for own edges and vague for what rests on others', async () => {
    const world = await openAskingWorld()
    for (const via of ['v1', 'v2']) world.trust('ann', via, 0.9)
    world.trust('ann', 'bob', 0.7, { 'code/rust': 0.4 })
    world.trust('v1', 'cat', 0.8)
    world.trust('v2', 'cat', 0.8)
    world.trust('v1', 'dan', 0.3)
    for (const holder of ['ann', 'bob', 'cat', 'dan', 'eve']) {
      await world.put(holder, { content: `Rain, says ${holder}.`, visibility: 'public' })
    }
    const context = { query_domains: ['code/rust'], domain_trust_weight: 0.5 }
    const answer = await explained(world, { semantic: 'rain', context })
    const of = (holder: string) => {
      const found = answer.beliefs.find(({ belief }: Answer) => belief.holder_id === holder)
      return found.explanation.trust
    }
    expect(of('ann')).toMatchObject({ kind: 'self', value: 1 })
    expect(of('bob').direct).toMatchObject({
      level: 0.7,
      entries: { 'code/rust': 0.4 },
      distrusted: false,
      days_since_use: 0,
    })
    expect(of('bob').value).toBe(of('bob').direct.value)
    expect(of('cat')).toMatchObject({ kind: 'transitive', transitive: { band: 'medium', sources: 'several' } })
    expect(of('dan')).toMatchObject({ kind: 'transitive', transitive: { band: 'low', sources: 'one' } })
    expect(Object.keys(of('cat')).sort()).toEqual(['contribution', 'kind', 'of', 'transitive', 'value', 'weight'])
    expect(of('eve')).toMatchObject({ kind: 'default', of: 'holder', value: 0.1, weight: 0.3 })
    const received = JSON.stringify(answer.beliefs.map(({ explanation }: Answer) => explanation))
    for (const name of ['v1', 'v2']) expect(received).not.toContain(name)
  })

  it('BQ-104: is in the federation as a whole where that is strict', async () => {
    const world = await openAskingWorld()
    world.join('f', 'ann', 'bob')
    world.strict('f')
    world.trust('ann', 'bob', 0.9)
    await world.put('bob', { content: 'Rain.', visibility: 'federated', federation_ids: ['f'] })
    const [{ explanation }] = (await explained(world, { semantic: 'rain' })).beliefs
    expect(explanation.trust).toMatchObject({ of: 'federation', kind: 'default', value: 0.1 })
    expect(explanation.summary).not.toContain('bob')
  })
})

describe('BQ-108: an edge of others', () => {
  it('changes no byte within its tenth, and the score beyond it', async () => {
    const ask = async (level: number) => {
      const world = await openAskingWorld()
      for (const via of ['v1', 'v2']) world.trust('ann', via, 0.9)
      world.trust('v1', 'cat', level)
      world.trust('v2', 'cat', level)
      await world.put('cat', { id: 'it', content: 'Rain.', visibility: 'public' })
      await world.put('bob', { id: 'other', content: 'Snow.', visibility: 'public' })
      const asking = { semantic: 'rain', options: { scope: EVERYTHING, include_explanation: true, dry_run: true } }
      const { query_time_ms: _, ...answer } = await world.call('beliefs.query', asking)
      const place = await world.call('beliefs.explain', { belief_id: 'it', other_id: 'other', query: asking })
      return { answer, place }
    }
    const at = await ask(0.7)
    expect(await ask(0.66)).toEqual(at)
    expect(await ask(0.74)).toEqual(at)
    expect(await ask(0.76)).not.toEqual(at)
  })
})

describe('BQ-109: what may not be seen', () => {
  it('changes no byte of an explanation', async () => {
    const ask = async (isHidden: boolean) => {
      const world = await openAskingWorld()
      await world.put('ann', { content: 'Rain is wet.' })
      await world.put('bob', { content: 'Rain is loud.', visibility: 'public' })
      const at = world.clock.now()
      if (isHidden) {
        world.join('g', 'bob', 'cat')
        await world.put('cat', { content: 'Rain is sweet.', visibility: 'private' })
        await world.put('bob', { content: 'Rain is wet.', visibility: 'federated', federation_ids: ['g'] })
      }
      world.clock.set(at)
      return (await explained(world, { semantic: 'rain' })).beliefs.map(({ explanation, score }: Answer) => ({
        explanation,
        score,
      }))
    }
    expect(await ask(true)).toEqual(await ask(false))
  })
})

describe('BQ-197: trust concentration', () => {
  it('is warned of from the page, in two degrees, never for own beliefs', async () => {
    const world = await openAskingWorld({ settings: { thresholds: { 'toy@toy': { include: 0.5, floor: -1 } } } })
    world.trust('ann', 'bob', 0.9)
    world.trust('ann', 'cat', 0.6)
    world.trust('ann', 'dan', 0.1)
    const put = async (more: string) => {
      for (const holder of ['bob', 'cat', 'dan']) {
        await world.put(holder, { content: `Rain, says ${holder}${more}.`, visibility: 'public' })
      }
    }
    await put('')
    // A page of three says nothing by a large share.
    expect((await explained(world, { semantic: 'rain' })).warnings).toEqual([])
    await put(' again')
    const { warnings } = await explained(world, { semantic: 'rain' })
    expect(warnings.map(({ code, message }: Answer) => [code, message.slice(-4)])).toEqual([
      ['trust_concentration_critical', 'bob.'],
      ['trust_concentration_warn', 'cat.'],
    ])
    const plain = await explained(world, { semantic: 'rain' }, { include_explanation: false })
    expect(plain.warnings).toEqual([])
    await world.put('eve', { content: 'Hail.' })
    const own = await world.call('beliefs.query', { semantic: 'hail', options: { include_explanation: true } }, 'eve')
    expect(own.warnings).toEqual([])
  })
})
