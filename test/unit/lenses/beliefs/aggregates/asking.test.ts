/** What members of a federation whose results are aggregates receive, and what they pay for it (BQ-105). */
import { describe, expect, it } from 'vitest'
import { type BeliefsState, stateOf } from '../../../../../src/lenses/beliefs/state.ts'
import { AGGREGATE_ANSWERS, AGGREGATE_CHARGES } from '../../../../../src/lenses/beliefs/tables.ts'
import { beliefsOf } from '../../../../../src/openings/beliefs.ts'
import { type Census, DAY, openCensus, PLAIN, refusal, START } from '../../../../support/aggregates.ts'
import type { Json } from '../../../../support/beliefs-engine.ts'
import { openToyEmbedder } from '../../../../support/toy-embedder.ts'

/** Of so many members, each with one belief on foxes. */
async function openFoxes(members: number, options: Parameters<typeof openCensus>[1] = {}): Promise<Census> {
  const census = await openCensus(members, options)
  for (let at = 0; at < members; at++) await census.hold(`m${at}`, `foxes number ${at}`)
  return census
}

const FOXES = { topic: 'foxes' }

describe('an answer', () => {
  it('BQ-105: tells a topic by noised figures, the same bytes for all who ask that day', async () => {
    // Of 20 members noise leaves fewer than 11 in one draw of 600: the first seed happens to be such a one.
    await using census = await openFoxes(20, { seed: 2 })
    const { aggregate, budget } = await census.ask('m0', FOXES)
    expect(aggregate).toEqual({
      ...{ federation_id: 'census', topic: 'foxes', domain: null, epoch: '2026-06-01' },
      summary: { member_count: expect.any(Number), belief_count: expect.any(Number) },
      rules: { epsilon: 1, least_members: 5, least_told: 11, member_noise: 5, belief_noise: 22 },
    })
    expect(budget).toEqual({
      ...{ epsilon_charged: 1, epsilon_left: 9, epsilon_per_day: 10, renews_at: '2026-06-02T00:00:00.000Z' },
    })
    for (const asked of [FOXES, { topic: '  FOXES ' }, { topic: 'ＦＯＸＥＳ' }]) {
      const again = await census.ask('m7', asked)
      expect(JSON.stringify(again.aggregate)).toBe(JSON.stringify(aggregate))
    }
    // What comes meanwhile is not told before the day is over.
    for (let at = 0; at < 5; at++) await census.hold('m0', `foxes of late ${at}`)
    expect((await census.ask('m0', FOXES)).aggregate).toEqual(aggregate)
  })

  it('BQ-105: is another on another day, and another for another topic', async () => {
    await using census = await openFoxes(20)
    const figures: (object | null)[] = []
    for (let day = 0; day < 8; day++) {
      census.clock.set(START + day * DAY)
      const { aggregate } = await census.ask('m0', FOXES)
      expect(aggregate.epoch).toBe(`2026-06-0${day + 1}`)
      figures.push(aggregate.summary)
    }
    expect(new Set(figures.map(one => JSON.stringify(one))).size).toBeGreaterThan(4)
    const [some, others] = [await census.ask('m0', { topic: 'fox 1' }), await census.ask('m0', { topic: 'fox 2' })]
    expect([some.aggregate.topic, others.aggregate.topic]).toEqual(['fox 1', 'fox 2'])
  })

  it('is forgotten with what was paid for it when the day after it is over', async () => {
    await using census = await openFoxes(12)
    const { store } = census.engine.host('beliefs')
    const epochs = () =>
      [AGGREGATE_ANSWERS, AGGREGATE_CHARGES].map(table =>
        store
          .table(table)
          .scan()
          .map(row => row['epoch']),
      )
    const today = START / DAY - 0.5
    for (const day of [0, 1, 2, 6]) {
      census.clock.set(START + day * DAY)
      await census.ask('m0', FOXES)
      await census.ask('m1', { topic: 'crows' })
      const kept = day === 1 || day === 2 ? [day - 1, day - 1, day, day] : [day, day]
      expect(epochs()).toEqual([kept.map(at => today + at), kept.map(at => today + at)])
    }
    // Topics are kept as hashes, and so is nothing of what was asked.
    const rows = JSON.stringify([AGGREGATE_ANSWERS, AGGREGATE_CHARGES].map(table => store.table(table).scan()))
    expect(rows).not.toMatch(/foxes|crows/)
  })

  it('is close to the truth where much may be spent', async () => {
    await using census = await openFoxes(20, { rules: PLAIN })
    const { summary, rules } = (await census.ask('m0', FOXES)).aggregate
    expect(Math.abs((summary?.member_count ?? 0) - 20)).toBeLessThanOrEqual(2 * rules.member_noise + 1)
    expect(Math.abs((summary?.belief_count ?? 0) - 20)).toBeLessThanOrEqual(2 * rules.belief_noise + 1)
  })

  it('BQ-105: has no figures where fewer than five hold something of the topic, ten where it is sensitive', async () => {
    await using four = await openFoxes(4, { rules: PLAIN })
    await using nine = await openFoxes(9, { rules: { ...PLAIN, sensitive: true } })
    await using twelve = await openFoxes(12, { rules: { ...PLAIN, sensitive: true } })
    expect((await four.ask('m0', FOXES)).aggregate).toMatchObject({ summary: null, rules: { least_members: 5 } })
    expect((await nine.ask('m0', FOXES)).aggregate).toMatchObject({ summary: null, rules: { least_members: 10 } })
    expect((await twelve.ask('m0', FOXES)).aggregate.summary).not.toBeNull()
  })

  it('of a domain is of what lies in it', async () => {
    await using census = await openCensus(12, { rules: PLAIN })
    for (let at = 0; at < 12; at++) await census.hold(`m${at}`, 'a fox', { domains: ['science/biology'] })
    const { aggregate } = await census.ask('m0', { domain: 'Science' })
    expect([aggregate.topic, aggregate.domain]).toEqual([null, 'science'])
    expect(aggregate.summary).not.toBeNull()
    expect((await census.ask('m0', { domain: 'arts' })).aggregate.summary).toBeNull()
  })
})

describe('the budget', () => {
  it('BQ-105: is 1 a question and 10 a day, of each member; then nothing more is answered until the day is over', async () => {
    await using census = await openFoxes(12)
    for (let at = 0; at < 10; at++) {
      const { budget } = await census.ask('m0', { topic: `foxes ${at}` })
      expect([budget.epsilon_charged, budget.epsilon_left]).toEqual([1, 9 - at])
    }
    expect(await refusal(census.ask('m0', { topic: 'foxes 10' }))).toMatchObject({
      ...{ code: 'RATE_LIMITED', retryable: true },
      message: 'the privacy budget of the day is spent: it renews at 2026-06-02T00:00:00.000Z',
      details: {
        ...{ reason: 'privacy_budget', renews_at: '2026-06-02T00:00:00.000Z' },
        ...{ retry_after_ms: DAY / 2, limit: 10, window_ms: DAY },
      },
    })
    expect((await census.ask('m1', { topic: 'foxes 10' })).budget.epsilon_left).toBe(9)
    // Told by now, and yet not to who has nothing left.
    expect(await refusal(census.ask('m0', { topic: 'foxes 10' }))).toMatchObject({ code: 'RATE_LIMITED' })
    census.clock.set(START + DAY / 2)
    expect((await census.ask('m0', { topic: 'foxes 10' })).budget).toMatchObject({ epsilon_left: 9 })
  })

  it('BQ-105: is charged the same for an answer, for none, and for what another has asked before', async () => {
    await using census = await openFoxes(20, { rules: PLAIN })
    const some = await census.ask('m0', FOXES)
    const none = await census.ask('m0', { topic: 'crows' })
    const asked = await census.ask('m1', FOXES)
    expect([some.aggregate.summary === null, none.aggregate.summary]).toEqual([false, null])
    expect([some, none, asked].map(({ budget }) => [budget.epsilon_charged, budget.epsilon_left])).toEqual([
      [5, 45],
      [5, 40],
      [5, 45],
    ])
  })

  it('is not charged again for the same topic, not even when it is spent', async () => {
    await using census = await openFoxes(12, { rules: { query_epsilon: 0.5, daily_epsilon: 1.2 } })
    const first = await census.ask('m0', FOXES)
    expect((await census.ask('m0', FOXES)).budget).toMatchObject({ epsilon_charged: 0, epsilon_left: 0.7 })
    await census.ask('m0', { topic: 'crows' })
    expect(await refusal(census.ask('m0', { topic: 'owls' }))).toMatchObject({ details: { limit: 1.2 } })
    const again = await census.ask('m0', FOXES)
    expect([again.aggregate, again.budget.epsilon_charged]).toEqual([first.aggregate, 0])
    expect(again.budget.epsilon_left).toBe(0.2)
  })

  it('BQ-105: is refused in the same words whatever there is of the topic', async () => {
    await using census = await openFoxes(20, { rules: { daily_epsilon: 1 } })
    await census.ask('m0', { topic: 'owls' })
    const reported = await refusal(census.ask('m0', FOXES))
    expect(await refusal(census.ask('m0', { topic: 'crows' }))).toEqual(reported)
    expect(JSON.stringify(reported)).not.toMatch(/foxes|crows/)
  })

  it('BQ-105: is charged where counting was ended, by a caller who has gone', async () => {
    await using census = await openFoxes(12)
    const gone = new AbortController()
    const state = stateOf(census.engine.host('beliefs')) as { lookInSteps: BeliefsState['lookInSteps'] }
    const { lookInSteps } = state
    state.lookInSteps = (...given) => {
      gone.abort()
      return lookInSteps(...given)
    }
    const beliefs = beliefsOf(census.engine, { id: 'm0' })
    expect(
      await refusal(beliefs.federations.aggregate({ federation: 'census', topic: 'foxes' }, { signal: gone.signal })),
    ).toMatchObject({
      code: 'TIMEOUT',
    })
    state.lookInSteps = lookInSteps
    expect((await census.ask('m0', FOXES)).budget).toMatchObject({ epsilon_charged: 0, epsilon_left: 9 })
  })

  it('is not charged where the topic could not be embedded', async () => {
    let isDown = true
    const toy = openToyEmbedder()
    const embedder = {
      ...toy,
      embed: (...given: Parameters<typeof toy.embed>) =>
        isDown ? Promise.reject(new Error('down')) : toy.embed(...given),
    }
    await using census = await openCensus(2, { embedder })
    expect(await refusal(census.ask('m0', FOXES))).toMatchObject({ code: 'NODE_UNAVAILABLE' })
    isDown = false
    expect((await census.ask('m0', FOXES)).budget).toMatchObject({ epsilon_charged: 1, epsilon_left: 9 })
  })
})

describe('the requester', () => {
  it('must be an active member with leave; others receive the same as for a federation that does not exist', async () => {
    await using census = await openFoxes(2)
    await census.call('agents.create', 'owner', { id: 'eve' })
    const none = await refusal(census.call('federations.aggregate', 'eve', { federation: 'none', ...FOXES }))
    expect(none).toMatchObject({ code: 'UNAUTHORIZED', details: {} })
    expect(await refusal(census.ask('eve', FOXES))).toEqual(none)
    const set = (more: Json) =>
      census.call('federations.set_member', 'owner', { federation: 'census', agent: 'm0', ...more })
    await set({ status: 'suspended' })
    expect(await refusal(census.ask('m0', FOXES))).toEqual(none)
    await set({ status: 'active', permissions: ['query_beliefs'] })
    expect(await refusal(census.ask('m0', FOXES))).toEqual(none)
    await set({ permissions: ['view_aggregates'] })
    expect((await census.ask('m0', FOXES)).budget.epsilon_left).toBe(9)
  })

  it('of a federation that shows its beliefs learns that it has no aggregates', async () => {
    await using census = await openCensus(1)
    await census.call('federations.create', 'owner', { id: 'lab' })
    const asked = { federation: 'lab', topic: 'foxes' }
    expect(await refusal(census.call('federations.aggregate', 'owner', asked))).toMatchObject({
      code: 'INVALID_QUERY',
      details: { path: 'federation', reason: 'individual' },
    })
    expect(await refusal(census.call('federations.aggregate', 'm0', asked))).toMatchObject({ code: 'UNAUTHORIZED' })
  })

  it.each([
    ['topic', 'required', {}],
    ['domain', 'not_alone', { topic: 'foxes', domain: 'science' }],
    ['topic', 'malformed', { topic: '?!' }],
    ['topic', 'range', { topic: '' }],
    ['topic', 'range', { topic: 'x'.repeat(501) }],
    ['topic', 'type', { topic: 7 }],
    ['domain', 'malformed', { domain: 'a b' }],
    ['epsilon', 'unknown_field', { topic: 'foxes', epsilon: 9 }],
  ])('learns what is wrong: %s (%s)', async (path, reason, asked) => {
    await using census = await openCensus(1)
    expect(await refusal(census.ask('m0', asked))).toMatchObject({ code: 'INVALID_QUERY', details: { path, reason } })
  })
})

describe('a federation whose results are aggregates', () => {
  it('BQ-100, BQ-105: shows nobody a belief of another, in questions, counts and reads; its own everybody keeps', async () => {
    await using census = await openFoxes(3)
    await census.hold('m0', 'foxes of my own', { id: 'own' })
    await census.hold('m1', 'foxes of another', { id: 'other' })
    const query = { semantic: 'foxes', options: { scope: { local: true, federated: true, network: true } } }
    const { beliefs } = (await census.call('beliefs.query', 'm0', query)) as {
      beliefs: { belief: { holder_id: string } }[]
    }
    expect(new Set(beliefs.map(({ belief }) => belief.holder_id))).toEqual(new Set(['m0']))
    expect(await census.call('beliefs.count', 'm0', query)).toMatchObject({ by_scope: { federated: 0 } })
    await expect(census.call('beliefs.get', 'm0', { belief_id: 'other' })).rejects.toMatchObject({
      details: { reason: 'not_found' },
    })
    expect(await census.call('beliefs.get', 'm0', { belief_id: 'own' })).toMatchObject({ belief: { id: 'own' } })
  })

  it('does not hide what is shared with another federation too', async () => {
    await using census = await openCensus(2)
    await census.call('federations.create', 'owner', { id: 'lab' })
    for (const agent of ['m0', 'm1']) await census.call('federations.set_member', 'owner', { federation: 'lab', agent })
    await census.hold('m1', 'foxes for both', { id: 'both', federation_ids: ['census', 'lab'] })
    const { belief, source } = await census.call('beliefs.get', 'm0', { belief_id: 'both' })
    expect([(belief as Json)['federation_ids'], source]).toEqual([['lab'], { kind: 'federated', id: 'lab' }])
  })

  it('is founded with its own rules, which members are shown', async () => {
    await using census = await openCensus(1, { rules: { sensitive: true, query_epsilon: 0.25, daily_epsilon: 2 } })
    const { federations } = (await census.call('federations.list', 'm0', {})) as { federations: Json[] }
    expect(federations).toMatchObject([
      { results: 'aggregate', aggregates: { least_members: 10, query_epsilon: 0.25, daily_epsilon: 2 } },
    ])
    const { federation } = await census.call('federations.create', 'owner', { id: 'usual', results: 'aggregate' })
    expect(federation).toMatchObject({ aggregates: { least_members: 5, query_epsilon: 1, daily_epsilon: 10 } })
    const lab = await census.call('federations.create', 'owner', { id: 'lab' })
    expect(lab['federation']).not.toHaveProperty('aggregates')
  })

  it.each([
    ['query_epsilon', 'range', { results: 'aggregate', query_epsilon: 6 }],
    ['query_epsilon', 'range', { results: 'aggregate', query_epsilon: 0 }],
    ['query_epsilon', 'malformed', { results: 'aggregate', query_epsilon: 0.1234 }],
    ['daily_epsilon', 'range', { results: 'aggregate', daily_epsilon: 51 }],
    ['daily_epsilon', 'range', { results: 'aggregate', query_epsilon: 2, daily_epsilon: 1 }],
    ['sensitive', 'type', { results: 'aggregate', sensitive: 1 }],
    ['sensitive', 'not_aggregate', { sensitive: true }],
    ['query_epsilon', 'not_aggregate', { results: 'individual', query_epsilon: 1 }],
  ])('is not founded with others: %s (%s)', async (path, reason, rules) => {
    await using census = await openCensus(0)
    const founded = census.call('federations.create', 'owner', { id: 'odd', ...rules })
    expect(await refusal(founded)).toMatchObject({ code: 'INVALID_QUERY', details: { path, reason } })
  })
})
