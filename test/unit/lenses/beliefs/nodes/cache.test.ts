/** What other nodes answered is kept for a while, and never outlives what allowed it (BQ-137 to BQ-141). */
import { describe, expect, it } from 'vitest'
import { nodeCacheOf } from '../../../../../src/lenses/beliefs/nodes/asking/ask-nodes.ts'
import { stateOf } from '../../../../../src/lenses/beliefs/state.ts'
import { type Birds, comparable, idsOf, openBirds, PUBLIC, SHARED, say } from '../../../../support/nodes-world.ts'

const MINUTE = 60_000

async function voices(settings = {}) {
  const birds = await openBirds({}, settings)
  await say(birds.home, 'ana', 'own', 'swifts sleep in the air')
  await say(birds.north, 'bo', 'shared', 'swifts nest under roofs', SHARED)
  await say(birds.south, 'dee', 'public', 'swifts fly south', PUBLIC)
  return birds
}

/** How many questions other nodes were asked by this. */
async function askedBy(birds: Birds, act: () => Promise<unknown>): Promise<number> {
  const isQuestion = () => birds.world.transport.sent.filter(({ message }) => message.path === '/v1/nodes/query').length
  const before = isQuestion()
  await act()
  return isQuestion() - before
}

describe('an answer that is kept', () => {
  it('BQ-137, BQ-139: is given again for a minute, byte for byte', async () => {
    await using birds = await voices()
    const first = await birds.ask('swifts', { include_explanation: true })
    const again = async () =>
      expect(comparable(await birds.ask('swifts', { include_explanation: true }))).toEqual(comparable(first))
    expect(await askedBy(birds, again)).toBe(0)
    birds.world.clock.set(birds.world.clock.now() + MINUTE - 1)
    expect(await askedBy(birds, () => birds.ask('swifts', { include_explanation: true }))).toBe(0)
    birds.world.clock.set(birds.world.clock.now() + 1)
    expect(await askedBy(birds, () => birds.ask('swifts', { include_explanation: true }))).toBe(2)
    const counters = await birds.home.call('beliefs.diagnostics', 'owner', {})
    expect(JSON.stringify(counters)).toContain('"cache_hits":2')
  })

  it('BQ-137: is of one question, whatever page of it is read', async () => {
    await using birds = await voices()
    const page = await birds.ask('swifts', { limit: 1, max_results_per_node: 10 })
    expect(
      await askedBy(birds, () =>
        birds.ask('swifts', { limit: 1, max_results_per_node: 10, cursor: page['next_cursor'] }),
      ),
    ).toBe(0)
    expect(await askedBy(birds, () => birds.ask('swallows'))).toBe(2)
    expect(await askedBy(birds, () => birds.ask('swifts', {}, { filters: { domains_exclude: ['bats'] } }))).toBe(2)
  })

  it("BQ-138: is never another requester's", async () => {
    await using birds = await voices()
    await birds.ask('swifts')
    await birds.home.call('agents.create', 'owner', { id: 'zoe' })
    const asZoe = () =>
      birds.home.call('beliefs.query', 'zoe', {
        semantic: 'swifts',
        options: { scope: { local: true, federated: true, network: true } },
      })
    expect(await askedBy(birds, asZoe)).toBe(1)
    const answer = (await asZoe()) as { beliefs: { belief: { id: string } }[] }
    expect(answer.beliefs.map(({ belief }) => belief.id)).toEqual(['public'])
  })

  it.each<[string, (birds: Birds) => Promise<unknown>]>([
    [
      'trust that the requester states',
      ({ home }) => home.call('trust.set', 'ana', { target: 'federation:birds', trust_level: 0.7 }),
    ],
    ['a membership of the requester', ({ home }) => home.call('federations.create', 'ana', { id: 'lake' })],
    ['a belief that the requester may see', ({ home }) => say(home, 'ana', 'news', 'swifts are here')],
    ['a belief that is taken back', ({ home }) => home.call('beliefs.delete', 'ana', { belief_id: 'own' })],
  ])('BQ-140: goes with %s', async (_, change) => {
    await using birds = await voices()
    await birds.ask('swifts')
    await change(birds)
    expect(await askedBy(birds, () => birds.ask('swifts'))).toBe(2)
  })

  it.each<[string, (birds: Birds) => Promise<unknown>]>([
    ['what others state of trust', ({ home }) => home.call('trust.set', 'zoe', { target: 'ana', trust_level: 0.1 })],
    ['what others hold for themselves', ({ home }) => say(home, 'zoe', 'hidden', 'swifts of zoe')],
    ['who else is a member elsewhere', ({ home }) => home.call('federations.create', 'zoe', { id: 'hills' })],
  ])('BQ-111, BQ-137: stays with %s, which the requester may not know of', async (_, change) => {
    await using birds = await voices()
    await birds.home.call('agents.create', 'owner', { id: 'zoe' })
    await birds.ask('swifts')
    await change(birds)
    expect(await askedBy(birds, () => birds.ask('swifts'))).toBe(0)
  })

  it('BQ-139, BQ-140: is shown as memberships, trust and time stand now', async () => {
    await using birds = await voices()
    const first = await birds.ask('swifts')
    birds.world.clock.set(birds.world.clock.now() + 50_000)
    const later = await birds.ask('swifts')
    const recency = (answer: typeof first) =>
      answer.beliefs.map(({ score }) => score.components['recency_score'] as number)
    expect(recency(later).every((value, at) => value < (recency(first)[at] as number))).toBe(true)
    await birds.home.call('federations.leave', 'ana', { federation: 'birds' })
    expect(idsOf(await birds.ask('swifts')).toSorted()).toEqual(['own', 'public'])
  })

  it('keeps nothing of an answer in which somebody failed', async () => {
    await using birds = await voices()
    birds.world.transport.fault(birds.south.address, { isDead: true })
    await birds.ask('swifts')
    birds.world.transport.fault(birds.south.address, {})
    expect(idsOf(await birds.ask('swifts')).toSorted()).toEqual(['own', 'public', 'shared'])
  })

  it('BQ-137: with a duration of 0 every question is asked', async () => {
    await using birds = await voices({ cache_duration_ms: 0 })
    await birds.ask('swifts')
    expect(await askedBy(birds, () => birds.ask('swifts'))).toBe(2)
  })
})

describe('one that is older than it should be', () => {
  const settings = { stale_while_revalidate: true }
  const refreshed = async (birds: Birds) => {
    const { refreshing } = nodeCacheOf(stateOf(birds.home.engine.host('beliefs')))
    while (refreshing.size > 0) await new Promise(resolve => setTimeout(resolve, 5))
  }

  it('BQ-141: is shown, marked so, while it is asked for again once', async () => {
    await using birds = await voices(settings)
    await birds.ask('swifts')
    await say(birds.south, 'dee', 'new', 'swifts come back', PUBLIC)
    birds.world.clock.set(birds.world.clock.now() + 2 * MINUTE)
    const both = async () => {
      const answers = await Promise.all([birds.ask('swifts'), birds.ask('swifts')])
      expect(answers.map(answer => answer['stale'])).toEqual([true, true])
      expect(answers.flatMap(idsOf)).not.toContain('new')
      await refreshed(birds)
    }
    expect(await askedBy(birds, both)).toBe(2)
    const fresh = await birds.ask('swifts')
    expect([fresh['stale'], idsOf(fresh).includes('new')]).toEqual([undefined, true])
  })

  it('BQ-141: is not shown when it is more than ten durations older still', async () => {
    await using birds = await voices(settings)
    await birds.ask('swifts')
    birds.world.clock.set(birds.world.clock.now() + 11 * MINUTE)
    expect((await birds.ask('swifts'))['stale']).toBeUndefined()
  })

  it.each<[string, (birds: Birds) => Promise<unknown>]>([
    ['a membership', ({ home }) => home.call('federations.leave', 'ana', { federation: 'birds' })],
    ['own trust', ({ home }) => home.call('trust.set', 'ana', { target: 'federation:birds', trust_level: 0.7 })],
    ['a tombstone', ({ home }) => home.call('beliefs.delete', 'ana', { belief_id: 'own' })],
    ['a visibility', ({ home }) => home.call('beliefs.supersede', 'ana', { belief_id: 'own', visibility: 'public' })],
  ])('BQ-141: is never shown after a change of %s', async (_, change) => {
    await using birds = await voices(settings)
    await birds.ask('swifts')
    await change(birds)
    birds.world.clock.set(birds.world.clock.now() + 2 * MINUTE)
    expect((await birds.ask('swifts'))['stale']).toBeUndefined()
  })

  it('BQ-141: stays until its bound where asking again fails', async () => {
    await using birds = await voices(settings)
    await birds.ask('swifts')
    birds.world.transport.fault(birds.south.address, { isDead: true })
    for (const minutes of [2, 5]) {
      birds.world.clock.set(birds.world.clock.now() + minutes * MINUTE)
      const answer = await birds.ask('swifts')
      await refreshed(birds)
      expect([answer['stale'], idsOf(answer).includes('public')]).toEqual([true, true])
    }
  })
})

it('BQ-137: holds at most 10,000 answers, the least recently used go first', async () => {
  await using birds = await openBirds()
  const { kept } = nodeCacheOf(stateOf(birds.home.engine.host('beliefs')))
  const empty = { answer: { asked: [], answers: [], failures: [] }, states: new Map<string, string>(), at: 0, bytes: 0 }
  for (let at = 0; at < 10_000; at++) kept.set(String(at), empty)
  kept.find('0')
  kept.set('more', empty)
  expect([kept.size, kept.find('0') !== undefined, kept.find('1') !== undefined]).toEqual([10_000, true, false])
})
