/** BQ-172 to BQ-174: what is like a belief, what contradicts it, and conflicts on a page. */
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../../../src/base/canonical.ts'
import { installDetector } from '../../../../../src/lenses/beliefs/contradiction/heuristic.ts'
import { type Answer, type AskingWorld, EVERYTHING, openAskingWorld } from './world.ts'

const ids = (beliefs: readonly Answer[]) => beliefs.map(({ belief }) => belief.id)

async function similar(world: AskingWorld, belief_id: string, options: JsonObject = {}): Promise<Answer> {
  return world.call('beliefs.similar', { belief_id, options: { scope: EVERYTHING, ...options } })
}

describe('BQ-172: similar', () => {
  it('ranks what is near enough as queries do, without itself, its copies and its holder', async () => {
    const world = await openAskingWorld()
    world.trust('ann', 'cat', 0.9)
    const of = (holder: string, id: string, content: string) =>
      world.put(holder, { id, content, visibility: holder === 'ann' ? 'private' : 'public' })
    await of('bob', 'it', 'A quick car passes.')
    await of('ann', 'copy', 'A quick car passes.')
    await of('bob', 'same-holder', 'A quick car passes me.')
    await of('cat', 'trusted', 'A fast vehicle passes by slowly.')
    await of('dan', 'near', 'A swift automobile passes.')
    await of('dan', 'far', 'Bread is baked at night.')
    expect(ids((await similar(world, 'it')).beliefs)).toEqual(['trusted', 'near'])
    expect((await similar(world, 'it')).total_count).toBe(2)
    expect(ids((await similar(world, 'it', { include_same_holder: true })).beliefs)).toContain('same-holder')
    expect(ids((await similar(world, 'it', { min_similarity: -1 })).beliefs)).toContain('far')
    expect(ids((await similar(world, 'it', { limit: 1 })).beliefs)).toEqual(['trusted'])
    expect(ids((await similar(world, 'it', { scope: { local: true } })).beliefs)).toEqual([])
    for (const { similarity, score } of (await similar(world, 'it')).beliefs) {
      expect(similarity).toBeGreaterThanOrEqual(0.7)
      expect(score.components.semantic_similarity).toBeCloseTo((similarity + 1) / 2, 12)
    }
  })

  it('takes holders as they are shown, and hides what may not be seen', async () => {
    const world = await openAskingWorld()
    world.join('f', 'ann', 'bob')
    const shared = { visibility: 'federated', federation_ids: ['f'] }
    await world.put('bob', { id: 'it', content: 'A quick car passes.', ...shared })
    await world.put('bob', { id: 'shared', content: 'A fast car passes now.', ...shared })
    await world.put('bob', { id: 'open', content: 'A swift car passes.', visibility: 'public' })
    await world.put('bob', { id: 'secret', content: 'A swift car passes me.', visibility: 'private' })
    // One is shown under a pseudonym, the other by name.
    expect(ids((await similar(world, 'it')).beliefs)).toEqual(['open'])
    const [both] = (await similar(world, 'it', { include_same_holder: true, scope: { federated: true } })).beliefs
    expect(both).toMatchObject({ federation_id: 'f', member_count: 1, source: { kind: 'federated', id: 'f' } })
    expect(both.belief.holder_id).toMatch(/^holder:/)
    await expect(similar(world, 'secret')).rejects.toMatchObject({ details: { reason: 'not_found' } })
    await expect(similar(world, 'nothing')).rejects.toMatchObject({ details: { reason: 'not_found' } })
  })

  it('finds nothing without vectors, and says so', async () => {
    const world = await openAskingWorld({ embedder: 'none' })
    await world.put('ann', { id: 'it', content: 'A car.' })
    await world.put('ann', { id: 'other', content: 'A car!' })
    const answer = await similar(world, 'it', { include_same_holder: true })
    expect(answer).toMatchObject({ beliefs: [], warnings: [{ code: 'vectors_pending' }] })
  })
})

describe('BQ-173: contradictions', () => {
  it('lists those of the topic that the detector marks, surest first, with what is opposed', async () => {
    const world = await openAskingWorld()
    const of = (holder: string, id: string, content: string, more: JsonObject = {}) =>
      world.put(holder, { id, content, visibility: 'public', ...more })
    await of('ann', 'it', 'The quick fox jumps over the lazy dog.')
    await of('bob', 'no', 'The quick fox does not jump over the lazy dog.', { confidence: { source_reliability: 0.9 } })
    await of('bob', 'never', 'The quick red fox never jumps over the lazy dog.', {
      confidence: { source_reliability: 0.1 },
    })
    await of('bob', 'yes', 'The fast fox jumps over the lazy dog.')
    await of('bob', 'off-topic', 'It does not rain.')
    await world.put('bob', {
      id: 'secret',
      content: 'The quick fox cannot jump over the lazy dog.',
      visibility: 'private',
    })
    const ask = (options: JsonObject) =>
      world.call('beliefs.contradictions', { belief_id: 'it', options: { scope: EVERYTHING, ...options } })
    const answer = await ask({})
    expect(ids(answer.contradictions)).toEqual(['no', 'never'])
    expect(answer.contradictions[0]).toMatchObject({
      rank: 1,
      contradiction: {
        type: 'direct',
        text: expect.stringContaining('"The quick fox does not jump over the lazy dog."'),
      },
    })
    expect(answer.contradictions[0].contradiction.score).toBeGreaterThan(0.7)
    expect(answer.detector.note).toMatch(/heuristic/i)
    expect(ids((await ask({ limit: 1 })).contradictions)).toEqual(['no'])
    expect(ids((await ask({ min_confidence: { source_reliability: 0.5 } })).contradictions)).toEqual(['no'])
    expect(ids((await ask({ scope: { local: true } })).contradictions)).toEqual([])
  })

  it('asks another detector where a plug-in brought one', async () => {
    const world = await openAskingWorld()
    await world.put('ann', { id: 'it', content: 'The car is quick.' })
    await world.put('ann', { id: 'other', content: 'The car is fast.' })
    const { host } = world
    expect(installDetector(host, {})).toBe(false)
    expect(() => installDetector(host, { contradictionDetector: { name: 'x' } })).toThrow(/contradictionDetector/)
    const detect = () => ({ type: 'tension', score: 0.9, text: 'So it seems.' })
    installDetector(host, { contradictionDetector: { name: 'other', note: 'A toy.', detect } })
    const { contradictions, detector } = await world.call('beliefs.contradictions', { belief_id: 'it' })
    expect(ids(contradictions)).toEqual(['other'])
    expect(detector).toEqual({ name: 'other', note: 'A toy.' })
  })
})

describe('BQ-174: conflicts on a page', () => {
  const fill = async (world: AskingWorld) => {
    await world.put('ann', {
      id: 'yes',
      content: 'The quick fox jumps over the lazy dog.',
      confidence: { source_reliability: 1 },
    })
    await world.put('ann', { id: 'no', content: 'The quick fox does not jump over the lazy dog.' })
    await world.put('ann', { id: 'else', content: 'Bread is baked at night.' })
  }

  it('are listed, and both are shown as if there were none', async () => {
    const world = await openAskingWorld()
    await fill(world)
    const answer = await world.call('beliefs.query', { semantic: 'the fox' })
    expect(ids(answer.beliefs)).toEqual(['yes', 'no', 'else'])
    expect(answer.conflicts).toEqual([
      {
        belief_ids: ['yes', 'no'],
        contradiction_type: 'direct',
        resolution: 'both_shown',
        resolution_reason: expect.stringContaining('One denies what the other says'),
      },
    ])
    expect((await world.call('beliefs.query', { semantic: 'the fox', options: { limit: 1 } })).conflicts).toEqual([])
  })

  it.each([
    ['one_penalized', ['yes', 'else', 'no']],
    ['one_excluded', ['yes', 'else']],
  ])('leave the later one behind, or out, where the settings say so: %s', async (conflicts, expected) => {
    const world = await openAskingWorld({ settings: { conflicts } })
    await fill(world)
    const answer = await world.call('beliefs.query', { semantic: 'the fox' })
    expect(ids(answer.beliefs)).toEqual(expected)
    expect(answer.beliefs.map(({ rank }: Answer) => rank)).toEqual(expected.map((_, at) => at + 1))
    expect(answer.conflicts).toMatchObject([{ belief_ids: ['yes', 'no'], resolution: conflicts }])
    expect(answer.total_count).toBe(3)
  })
})
