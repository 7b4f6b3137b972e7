/** Subscriptions to beliefs as programs have them: how they begin, pause, go on and end. Time is moved by hand. */
import { expect, it } from 'vitest'
import type { BeliefEvent, SubscribeOptions } from '../../../../../src/lenses/beliefs/live/subscriptions.ts'
import { countersOf } from '../../../../../src/lenses/beliefs/state.ts'
import { LIVE_TEXTS } from '../../../../../src/model/live.ts'
import { ALL, begin, beginWithPeople, PUBLIC, pass, START, watch } from './world.ts'

it('gives what a program holds, with defaults and bounds (BQ-156)', async () => {
  const world = await beginWithPeople()
  const { subscription, events } = await watch(world, 'ann')
  expect(subscription).toMatchObject({
    id: expect.any(String),
    query: { semantic: 'fox' },
    created_at: new Date(START).toISOString(),
    status: 'active',
    events_delivered: 0,
    last_event_at: null,
  })
  world.clock.set(START + 5000)
  await world.as('bob').put({ id: 'b1', content: 'A fox.', ...PUBLIC })
  await pass(world)
  expect(events).toHaveLength(1)
  expect(subscription.events_delivered).toBe(1)
  expect(subscription.last_event_at).toBe(new Date(START + 5000).toISOString())
  const wrong = [
    { debounce_ms: -1 },
    { debounce_ms: 60_001 },
    { debounce_ms: 0.5 },
    { max_events_per_minute: 0 },
    { max_events_per_minute: 601 },
    { include_removals: 1 },
    { nothing: true },
  ]
  for (const options of wrong) {
    const refused = world.as('ann').subscribe({ semantic: 'fox' }, () => undefined, options as SubscribeOptions)
    await expect(refused, JSON.stringify(options)).rejects.toMatchObject({ code: 'INVALID_QUERY' })
  }
  // A second of debounce unless it is said otherwise.
  const calm: BeliefEvent[] = []
  await world.as('ann').subscribe({ semantic: 'fox', options: { scope: ALL } }, event => void calm.push(event), {
    notify_on_connect: false,
  })
  await pass(world, 0)
  await world.as('bob').put({ id: 'b2', content: 'Another fox.', ...PUBLIC })
  await pass(world, 900)
  expect(calm).toHaveLength(0)
  await pass(world, 200)
  expect(calm.map(event => event.id)).toEqual(['b2'])
})

it('watches the first results; refuses places further down; numbers its events (BQ-157)', async () => {
  const world = await beginWithPeople()
  for (const options of [{ offset: 3 }, { cursor: 'abc' }]) {
    const refused = world.as('ann').subscribe({ semantic: 'fox', options }, () => undefined)
    await expect(refused).rejects.toMatchObject({ code: 'INVALID_QUERY', details: { reason: 'not_watched' } })
  }
  await world.as('bob').put({ id: 'far', content: 'A garden.', ...PUBLIC })
  await world.as('bob').put({ id: 'near', content: 'A fox fox.', ...PUBLIC })
  const { events, heard } = await watch(world, 'ann', {}, { limit: 1 })
  expect(heard()).toEqual(['added near initial'])
  await world.as('bob').put({ id: 'nearest', content: 'fox', ...PUBLIC })
  await pass(world)
  expect(heard()).toEqual(['removed near outranked', 'added nearest new_match'])
  expect(events.map(({ seq }) => seq)).toEqual([1, 2, 3])
  expect(events[1]).toMatchObject({ details: { previous_rank: 1, previous_score: expect.any(Number) } })
  expect(events[1]).not.toHaveProperty('belief')
  expect(events[2]).toMatchObject({
    subscription_id: events[0]?.subscription_id,
    timestamp: new Date(START).toISOString(),
    belief: { id: 'nearest', content: 'fox', holder_id: 'bob' },
    details: { new_rank: 1, score: expect.any(Number) },
    text: LIVE_TEXTS.new_match,
  })
  await world.as('bob').supersede({ belief_id: 'nearest', id: 'nearest2', confidence: { corroboration: 1 } })
  await pass(world)
  expect(events.at(-1)).toMatchObject({
    type: 'updated',
    reason: 'content_changed',
    belief: { id: 'nearest2' },
    details: { changed_fields: expect.arrayContaining(['confidence']), previous_id: 'nearest' },
  })
})

it('goes on after a token, in another engine too; refuses those of others (BQ-165)', async () => {
  const world = await beginWithPeople()
  const bob = world.as('bob')
  await bob.put({ id: 'a', content: 'A fox.', ...PUBLIC })
  const first = await watch(world, 'ann')
  const token = first.events.at(-1)?.resume_token as string
  expect(token).not.toContain('ann')
  await bob.put({ id: 'b', content: 'A fox b.', ...PUBLIC })
  const after = await begin(world.store, world.clock, 2)
  const second = await watch(after, 'ann', { resume_token: token })
  expect(second.heard()).toEqual(['added b new_match'])
  expect(second.events[0]).toMatchObject({ seq: 2, subscription_id: first.events[0]?.subscription_id })
  const invalid = { code: 'INVALID_QUERY', details: { path: 'resume_token', reason: 'resume_invalid' } }
  const asBob = after.as('bob').subscribe({ semantic: 'fox', options: { scope: ALL, limit: 10 } }, () => undefined, {
    resume_token: token,
  })
  await expect(asBob).rejects.toMatchObject(invalid)
  await expect(watch(after, 'ann', { resume_token: token }, { semantic: 'moon' })).rejects.toMatchObject(invalid)
  await expect(watch(after, 'ann', { resume_token: `${token.slice(0, -2)}AA` })).rejects.toMatchObject(invalid)
  await expect(watch(after, 'ann', { resume_token: '' })).rejects.toMatchObject(invalid)
  // It heard of b here since: reckoned from the token, to the minute.
  world.clock.set(START + 11 * 60_000 + 1)
  const late = await watch(after, 'ann', { resume_token: token })
  expect(late.heard().sort()).toEqual(['added a resync', 'added b resync'])
})

it('allows fifty at a time; lost authorisation ends all with one status (BQ-167)', async () => {
  const world = await beginWithPeople()
  await world.as('owner').agents.update({ id: 'ann', trust_graph: 'mine' } as never)
  const ends: string[] = []
  const errors: unknown[] = []
  const events: BeliefEvent[] = []
  const query = {
    semantic: 'fox',
    context: { trust_graph: 'ref:mine' },
    options: { scope: ALL, limit: 3 },
  }
  const options = {
    debounce_ms: 0,
    on_end: (why: string) => void ends.push(why),
    on_error: (e: unknown) => errors.push(e),
  }
  for (let at = 0; at < 50; at++) await world.as('ann').subscribe(query, event => void events.push(event), options)
  expect(countersOf(world.engine.host('beliefs')).values.subscriptions_active).toBe(50)
  const refused = world.as('ann').subscribe(query, () => undefined)
  await expect(refused).rejects.toMatchObject({
    code: 'RATE_LIMITED',
    message: 'at most 50 subscriptions at a time: end one before the next',
    details: { limit: 50 },
  })
  await expect(world.as('bob').subscribe({ semantic: 'fox' }, () => undefined)).resolves.toMatchObject({
    status: 'active',
  })
  await pass(world)
  await world.as('owner').agents.update({ id: 'ann', trust_graph: 'other' } as never)
  await pass(world)
  expect(ends).toEqual(Array.from({ length: 50 }, () => 'unauthorized'))
  await world.as('bob').put({ id: 'b', content: 'A fox.', ...PUBLIC })
  await pass(world, 5000)
  expect([events, errors]).toEqual([[], []])
})

it('groups several: all of them, or none (BQ-168)', async () => {
  const world = await beginWithPeople()
  const heard: string[] = []
  const queries = ['fox', 'garden'].map(semantic => ({ semantic, options: { scope: ALL, limit: 5 } }))
  const callback = (event: BeliefEvent) => void heard.push(event.id)
  const group = await world.as('ann').subscribe_multiple(queries, callback, { debounce_ms: 0 })
  await pass(world)
  group.pause_all()
  expect(group.subscriptions.map(({ status }) => status)).toEqual(['paused', 'paused'])
  await world.as('bob').put({ id: 'b', content: 'A fox in a garden.', ...PUBLIC })
  await pass(world, 5000)
  expect(heard).toEqual([])
  group.resume_all()
  await pass(world)
  expect(heard).toEqual(['b', 'b'])
  group.cancel_all()
  expect(group.subscriptions.map(({ status }) => status)).toEqual(['cancelled', 'cancelled'])
  await expect(
    world.as('ann').subscribe_multiple([{ semantic: 'fox' }, { semantic: 'fox', options: { offset: 1 } }], callback),
  ).rejects.toMatchObject({ code: 'INVALID_QUERY' })
  expect(world.engine.live.count()).toBe(0)
})
