/** Subscriptions to beliefs as programs have them: a test for each row from BQ-156 to BQ-169. Time is moved by hand. */
import { expect, it, vi } from 'vitest'
import { countersOf } from '../../../../../src/lenses/beliefs/counters.ts'
import type { BeliefEvent, SubscribeOptions } from '../../../../../src/lenses/beliefs/live/subscriptions.ts'
import { LIVE_TEXTS } from '../../../../../src/model/live.ts'
import { ALL, begin, beginWithPeople, DAY, PUBLIC, pass, START, watch } from './world.ts'

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
  await world.as('bob').supersede('nearest', { id: 'nearest2', confidence: { corroboration: 1 } })
  await pass(world)
  expect(events.at(-1)).toMatchObject({
    type: 'updated',
    reason: 'content_changed',
    belief: { id: 'nearest2' },
    details: { changed_fields: expect.arrayContaining(['confidence']), previous_id: 'nearest' },
  })
})

it('tells of beliefs added, replaced, deleted, expired, begun, narrowed and shared (BQ-158, BQ-159)', async () => {
  const world = await beginWithPeople()
  const bob = world.as('bob')
  const { heard } = await watch(world, 'ann')
  const at = (ms: number) => new Date(START + ms).toISOString()
  await bob.put({ id: 'later', content: 'A fox to come.', valid_from: at(2 * DAY), ...PUBLIC })
  await bob.put({ id: 'short', content: 'A fox for a day.', valid_until: at(DAY), ...PUBLIC })
  await pass(world)
  expect(heard()).toEqual(['added short new_match'])
  world.clock.set(START + DAY)
  await pass(world)
  expect(heard()).toEqual(['removed short no_match'])
  world.clock.set(START + 2 * DAY)
  await pass(world)
  expect(heard()).toEqual(['added later now_matches'])
  await bob.supersede('later', { id: 'later2', content: 'A fox that came.' })
  await pass(world)
  expect(heard()).toEqual(['updated later2 content_changed'])
  await bob.supersede('later2', { id: 'later3', visibility: 'federated', federation_ids: ['lab'] })
  await pass(world)
  expect(heard()).toEqual(['updated later3 content_changed'])
  await bob.delete('later3')
  await pass(world)
  expect(heard()).toEqual(['removed later3 unavailable'])
})

it('tells of what memberships bring and take (BQ-158)', async () => {
  const world = await beginWithPeople()
  const owner = world.as('owner')
  await owner.federations.setMember({ federation: 'lab', agent: 'ann', status: 'suspended' })
  await world
    .as('bob')
    .put({ id: 'ours', content: 'A fox of the lab.', visibility: 'federated', federation_ids: ['lab'] })
  world.clock.set(START + 1)
  const { heard, events } = await watch(world, 'ann')
  expect(heard()).toEqual([])
  await owner.federations.setMember({ federation: 'lab', agent: 'ann', status: 'active' })
  await pass(world)
  expect(heard()).toEqual(['added ours now_matches'])
  expect(events[0]?.belief?.holder_id).toMatch(/^holder:/)
  await owner.federations.setMember({ federation: 'lab', agent: 'bob', status: 'suspended' })
  await pass(world)
  expect(heard()).toEqual(['removed ours unavailable'])
})

it('tells of trust and reputation, of these by more than 0.1, and never of time alone (BQ-158, BQ-159)', async () => {
  const world = await beginWithPeople()
  const owner = world.as('owner')
  await owner.agents.update({ id: 'cyd', reputation: 0.6 })
  await world.as('bob').put({ id: 'bobs', content: 'A fox.', ...PUBLIC })
  await world.as('cyd').put({ id: 'cyds', content: 'A fox, old.', ...PUBLIC })
  const { heard, events } = await watch(world, 'ann', { include_reranks: true, notify_on_connect: false })
  await world.as('ann').trust.set({ target: 'bob', trust_level: 0.9 })
  await pass(world)
  expect(heard().filter(line => line.includes('bobs'))).toEqual(['updated bobs score_changed'])
  expect(events.at(-1)?.details).toMatchObject({ previous_score: expect.any(Number), score: expect.any(Number) })
  heard()
  await owner.agents.update({ id: 'cyd', reputation: 0.65 })
  await pass(world)
  expect(heard()).toEqual([])
  await owner.agents.update({ id: 'cyd', reputation: 0.9 })
  await pass(world)
  expect(heard()).toContain('updated cyds score_changed')
  world.clock.set(START + 100 * DAY)
  await pass(world, 5000)
  expect(heard()).toEqual([])
  // What is recent grows old: that is a bound.
  const recent = await watch(world, 'ann', { notify_on_connect: false }, { filters: { preset: 'recent' } })
  await world.as('bob').put({ id: 'new', content: 'A fox today.', ...PUBLIC })
  await pass(world)
  expect(recent.heard()).toEqual(['added new new_match'])
  world.clock.set(START + 130 * DAY)
  await pass(world)
  expect(recent.heard()).toEqual([])
  world.clock.set(START + 130 * DAY + 1)
  await pass(world)
  expect(recent.heard()).toEqual(['removed new no_match'])
})

it('sends the net difference of a window, removals first (BQ-160)', async () => {
  const world = await beginWithPeople()
  const bob = world.as('bob')
  for (const id of ['a', 'b', 'c']) await bob.put({ id, content: `A fox ${id}.`, ...PUBLIC })
  const { heard } = await watch(world, 'ann', { debounce_ms: 1000, notify_on_connect: false })
  const quiet = await watch(world, 'ann', { debounce_ms: 1000, notify_on_connect: false, include_removals: false })
  await bob.put({ id: 'brief', content: 'A brief fox.', ...PUBLIC })
  await bob.delete('brief')
  await bob.put({ id: 'd', content: 'A fox d.', ...PUBLIC })
  await bob.supersede('b', { id: 'b2', content: 'A fox b changed.' })
  await bob.supersede('b2', { id: 'b3', content: 'A fox b changed again.' })
  // Not out of sight, but out of what matches.
  await bob.supersede('a', { id: 'a2', valid_until: new Date(START + 1).toISOString() })
  world.clock.set(START + 1)
  await pass(world, 1500)
  const told = heard()
  expect(told.slice().sort()).toEqual(['added d new_match', 'removed a no_match', 'updated b3 content_changed'])
  expect(told[0]).toBe('removed a no_match')
  expect(quiet.heard().sort()).toEqual(['added d new_match', 'updated b3 content_changed'])
})

it('tells of lost sight at once, by the id alone, and of nothing after (BQ-161)', async () => {
  const world = await beginWithPeople()
  const bob = world.as('bob')
  await bob.put({ id: 'narrowed', content: 'A fox.', ...PUBLIC })
  await bob.put({ id: 'deleted', content: 'A fox too.', ...PUBLIC })
  const { heard, events } = await watch(world, 'ann', { debounce_ms: 60_000, notify_on_connect: false })
  await bob.supersede('narrowed', { id: 'narrowed2', visibility: 'private' })
  await bob.delete('deleted')
  await pass(world, 50)
  expect(heard().sort()).toEqual(['removed deleted unavailable', 'removed narrowed unavailable'])
  const shapes = events.map(({ id, seq, resume_token, details, ...rest }) => [rest, details])
  expect(shapes[0]).toEqual(shapes[1])
  expect(events[0]?.details).toEqual({})
  await bob.supersede('narrowed2', { id: 'narrowed3', content: 'A fox nobody sees.' })
  await pass(world, 120_000)
  expect(heard()).toEqual([])
})

it('begins with what there is, in order and beside the cap (BQ-162)', async () => {
  const world = await beginWithPeople()
  for (let at = 0; at < 5; at++)
    await world.as('bob').put({ id: `b${at}`, content: `fox ${'moon '.repeat(at)}`, ...PUBLIC })
  const { events, heard } = await watch(world, 'ann', { max_events_per_minute: 1 })
  expect(events.map(({ details }) => details['new_rank'])).toEqual([1, 2, 3, 4, 5])
  expect(heard().every(line => line.endsWith('initial'))).toBe(true)
  await world.as('bob').put({ id: 'next', content: 'fox fox', ...PUBLIC })
  await pass(world)
  expect(heard()).toEqual(['added next new_match'])
  const quiet = await watch(world, 'ann', { notify_on_connect: false })
  expect(quiet.events).toEqual([])
})

it('is quiet while paused, then tells the net difference; cancelling is final (BQ-163)', async () => {
  const world = await beginWithPeople()
  const bob = world.as('bob')
  await bob.put({ id: 'a', content: 'A fox.', ...PUBLIC })
  const { heard, subscription } = await watch(world, 'ann')
  heard()
  subscription.pause()
  expect(subscription.status).toBe('paused')
  await bob.put({ id: 'b', content: 'A fox b.', ...PUBLIC })
  await bob.put({ id: 'gone', content: 'A fox gone.', ...PUBLIC })
  await bob.delete('gone')
  await pass(world, 10_000)
  expect(heard()).toEqual([])
  subscription.resume()
  await pass(world)
  expect(heard()).toEqual(['added b new_match'])
  subscription.cancel()
  subscription.cancel()
  expect(subscription.status).toBe('cancelled')
  await bob.put({ id: 'c', content: 'A fox c.', ...PUBLIC })
  await pass(world, 10_000)
  expect(heard()).toEqual([])
  expect(world.timers.waiting).toBe(0)
})

it('holds what is above the cap, loses nothing of the end, and skips no number (BQ-164)', async () => {
  const world = await beginWithPeople()
  const { events } = await watch(world, 'ann', { max_events_per_minute: 2 })
  for (let at = 0; at < 6; at++) {
    await world.as('bob').put({ id: `b${at}`, content: `A fox ${at}.`, ...PUBLIC })
    await pass(world)
  }
  expect(events).toHaveLength(2)
  for (let minute = 0; minute < 4; minute++) await pass(world, 60_000)
  expect(events.map(({ id }) => id).sort()).toEqual(['b0', 'b1', 'b2', 'b3', 'b4', 'b5'])
  expect(events.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6])
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
  const invalid = { code: 'INVALID_QUERY', details: { reason: 'resume_invalid' } }
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

it.each([
  ['the same', 10, false],
  ['another', 10, true],
])('a quiet one goes on in %s engine %i minutes after it was left (BQ-165)', async (_, minutes, isOther) => {
  const world = await beginWithPeople()
  await world.as('bob').put({ id: 'a', content: 'A fox.', ...PUBLIC })
  const { subscription, events } = await watch(world, 'ann')
  world.clock.set(START + 60 * 60_000)
  // The token of the last event does where it was left; elsewhere the one that the subscription gives in the end.
  const token = isOther ? subscription.resume_token() : (events.at(-1)?.resume_token as string)
  subscription.cancel()
  world.clock.set(START + (60 + minutes) * 60_000)
  await world.as('bob').put({ id: 'b', content: 'A fox b.', ...PUBLIC })
  const next = await watch(isOther ? await begin(world.store, world.clock, 2) : world, 'ann', { resume_token: token })
  expect(next.heard()).toEqual(['added b new_match'])
  expect(next.events[0]?.seq).toBe(2)
})

it('survives what a callback throws; its callbacks do not overlap (BQ-166)', async () => {
  const world = await beginWithPeople()
  const errors: unknown[] = []
  const seen: string[] = []
  let running = 0
  const callback = async (event: BeliefEvent) => {
    expect(++running).toBe(1)
    await new Promise(resolve => setImmediate(resolve))
    running--
    seen.push(event.id)
    if (event.id === 'b0') throw new Error('of the callback')
  }
  const other = await watch(world, 'ann')
  const query = { semantic: 'fox', options: { scope: ALL, limit: 10 } }
  const subscription = await world
    .as('ann')
    .subscribe(query, callback, { debounce_ms: 0, on_error: e => errors.push(e) })
  await pass(world)
  for (let at = 0; at < 3; at++) await world.as('bob').put({ id: `b${at}`, content: `A fox ${at}.`, ...PUBLIC })
  await pass(world)
  expect(seen.sort()).toEqual(['b0', 'b1', 'b2'])
  expect(errors).toMatchObject([{ message: 'of the callback' }])
  expect(subscription.callback_errors).toBe(1)
  expect(other.heard()).toHaveLength(3)
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

it('is not woken by what its requester may not see (BQ-169)', async () => {
  const world = await beginWithPeople()
  const owner = world.as('owner')
  await owner.agents.create({ id: 'dan' })
  await owner.federations.create({ id: 'moon' })
  await world.as('ann').trust.set({ target: 'bob', trust_level: 0.9 })
  await world.as('bob').put({ id: 'a', content: 'A fox.', ...PUBLIC })
  const host = world.engine.host('beliefs')
  const { heard } = await watch(world, 'ann')
  heard()
  const asked = vi.spyOn(host.embedder as NonNullable<typeof host.embedder>, 'embed')
  const { StandingBeliefs } = await import('../../../../../src/lenses/beliefs/live/standing-question.ts')
  const again = vi.spyOn(StandingBeliefs.prototype, 'ask')
  await world.as('bob').put({ id: 'hidden', content: 'A fox of bob alone.', visibility: 'private' })
  await world.as('bob').supersede('hidden', { id: 'hidden2', content: 'A fox still of bob alone.' })
  await world.as('bob').delete('hidden2')
  await owner.federations.setMember({ federation: 'moon', agent: 'dan', status: 'active' })
  await world
    .as('dan')
    .put({ id: 'far', content: 'A fox on the moon.', visibility: 'federated', federation_ids: ['moon'] })
  await world.as('dan').trust.set({ target: 'cyd', trust_level: 1 })
  await world.as('bob').trust.set({ target: 'ann', trust_level: 1 })
  await owner.agents.update({ id: 'dan', reputation: 0.9 })
  await pass(world, 5000)
  expect(again).not.toHaveBeenCalled()
  expect(heard()).toEqual([])
  await world.as('bob').put({ id: 'b', content: 'A fox to see.', ...PUBLIC })
  await pass(world)
  expect(again).toHaveBeenCalled()
  expect(asked.mock.calls.every(([, kind]) => kind !== 'query')).toBe(true)
  expect(heard()).toEqual(['added b new_match'])
  vi.restoreAllMocks()
})
