/** BQ-176: beliefs under a limit of tokens. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fill, PURPOSE_WEIGHTS, utility } from '../../../../../src/lenses/beliefs/questions/context-query.ts'
import { PURPOSES } from '../../../../../src/lenses/beliefs/schema/questions.ts'
import { countTokens } from '../../../../../src/text/blocks.ts'
import { type Answer, EVERYTHING, openAskingWorld } from './world.ts'

describe('BQ-176: weights', () => {
  it('are those of the row, and come to 1', () => {
    expect(Object.values(PURPOSE_WEIGHTS.answer)).toEqual([0.3, 0.3, 0.2, 0.1, 0.05, 0.05])
    expect(Object.values(PURPOSE_WEIGHTS.verify)).toEqual([0.2, 0.4, 0.2, 0.1, 0.05, 0.05])
    expect(Object.values(PURPOSE_WEIGHTS.explore)).toEqual([0.2, 0.1, 0.1, 0.1, 0.1, 0.4])
    expect(Object.values(PURPOSE_WEIGHTS.decide)).toEqual([0.25, 0.25, 0.25, 0.15, 0.05, 0.05])
    expect(Object.values(PURPOSE_WEIGHTS.create)).toEqual([0.2, 0.1, 0.1, 0.05, 0.15, 0.4])
    for (const purpose of PURPOSES) {
      expect(
        utility({ relevance: 1, confidence: 1, trust: 1, recency: 1, density: 1, novelty: 1 }, purpose),
      ).toBeCloseTo(1, 12)
    }
  })
})

describe('BQ-176: filling', () => {
  it('takes at every step the most useful of what fits, and never too much', () => {
    const share = fc.double({ min: 0, max: 1, noNaN: true })
    const parts = fc.record({ relevance: share, confidence: share, trust: share, recency: share, density: share })
    const candidate = fc.record({ tokens: fc.integer({ min: 0, max: 30 }), parts })
    const request = fc.record({
      candidates: fc.array(candidate, { maxLength: 12 }),
      purpose: fc.constantFrom(...PURPOSES),
      maxTokens: fc.integer({ min: 1, max: 80 }),
      angles: fc.array(fc.double({ min: 0, max: 6.3, noNaN: true }), { minLength: 12, maxLength: 12 }),
      aim: share,
    })
    fc.assert(
      fc.property(request, ({ candidates, purpose, maxTokens, angles, aim }) => {
        const likeness = (a: number, b: number) => Math.cos((angles[a] as number) - (angles[b] as number))
        const targetTokens = Math.max(1, Math.round(aim * maxTokens))
        const taken = fill({ candidates, purpose, maxTokens, targetTokens, likeness })
        const before: number[] = []
        let total = 0
        for (const { place, utility: worth, novelty } of taken) {
          expect(total).toBeLessThan(targetTokens)
          const utilityOf = (at: number) => {
            const like = Math.max(0, ...before.map(other => likeness(at, other)))
            return utility({ ...(candidates[at] as Answer).parts, novelty: 1 - like }, purpose)
          }
          expect(worth).toBeCloseTo(utilityOf(place), 12)
          expect(novelty).toBeCloseTo(1 - Math.max(0, ...before.map(other => likeness(place, other))), 12)
          for (const [at, { tokens }] of candidates.entries()) {
            if (!before.includes(at) && total + tokens <= maxTokens)
              expect(worth).toBeGreaterThanOrEqual(utilityOf(at) - 1e-12)
          }
          before.push(place)
          total += (candidates[place] as Answer).tokens
        }
        expect(total).toBeLessThanOrEqual(maxTokens)
        expect(new Set(before).size).toBe(before.length)
        // What could still be taken is not left.
        const fits = candidates.some(({ tokens }, at) => !before.includes(at) && total + tokens <= maxTokens)
        expect(fits && total < targetTokens).toBe(false)
      }),
    )
  })
})

describe('BQ-176: context_query', () => {
  it('counts every belief, keeps the limit, and says what was cut and what can be expanded', async () => {
    const world = await openAskingWorld()
    const source = await world.put('bob', { content: 'Foxes are quick animals.', visibility: 'public' })
    await world.put('ann', {
      id: 'based',
      content: 'A vixen is fast.',
      derivation: { type: 'inference', sources: [{ belief_id: source }] },
    })
    await world.put('ann', { id: 'twin', content: 'The vixen is fast.', confidence: { source_reliability: 0.01 } })
    await world.put('ann', { id: 'long', content: `The fox and the ${'very '.repeat(300)}long story.` })
    const ask = (more: object) =>
      world.call('beliefs.context_query', {
        semantic: 'quick fox',
        purpose: 'explore',
        max_tokens: 40,
        options: { scope: EVERYTHING },
        ...more,
      })
    const answer = await ask({})
    const ids = answer.beliefs.map(({ belief }: Answer) => belief.id)
    expect(ids).not.toContain('long')
    expect(ids).toContain(source)
    for (const { belief, tokens } of answer.beliefs) expect(tokens).toBe(countTokens(belief.content))
    expect(answer.total_tokens).toBe(answer.beliefs.reduce((sum: number, { tokens }: Answer) => sum + tokens, 0))
    expect(answer.total_tokens).toBeLessThanOrEqual(40)
    expect(answer).toMatchObject({
      truncated: true,
      total_count: 4,
      expandable: ['based'],
      token_counter: { name: 'querent-estimate', counts: 'content' },
    })
    expect(answer.confidence_floor).toBeCloseTo(
      Math.min(...answer.beliefs.map(({ score }: Answer) => score.components.confidence_score)),
      12,
    )
    expect(await ask({ max_tokens: 10_000 })).toMatchObject({ truncated: false })
    expect(await ask({ max_tokens: 1 })).toMatchObject({
      beliefs: [],
      total_tokens: 0,
      truncated: true,
      confidence_floor: null,
    })
    expect((await ask({ target_tokens: 1 })).beliefs).toHaveLength(1)
    await expect(ask({ purpose: 'dream' })).rejects.toMatchObject({ code: 'INVALID_QUERY' })
  })
})
