/** What wakes a watch of beliefs, one cause after the other (BQ-158), and which events follow, in which order (BQ-160). */
import { expect, it } from 'vitest'
import { begin, beginWithPeople, DAY, PUBLIC, pass, START, watch } from './world.ts'

it('a belief that is widened comes in, one whose confidence changes is another (BQ-158)', async () => {
  const world = await beginWithPeople()
  const bob = world.as('bob')
  await bob.put({ id: 'own', content: 'A fox of bob alone.', visibility: 'private' })
  const { heard, events } = await watch(world, 'ann')
  expect(heard()).toEqual([])
  world.clock.set(START + 1)
  await bob.supersede({ belief_id: 'own', id: 'all', visibility: 'public' })
  await pass(world)
  // Of the version that nobody else saw nothing shows: to ann it is new.
  expect(heard()).toEqual(['added all new_match'])
  await bob.supersede({ belief_id: 'all', id: 'sure', confidence: { corroboration: 0.9 } })
  await pass(world)
  expect(heard()).toEqual(['updated sure content_changed'])
  expect(events.at(-1)?.details['changed_fields']).toContain('confidence')
})

it('a federation that the requester leaves, or may ask through no longer, takes what came through it at once (BQ-158, BQ-161)', async () => {
  const world = await beginWithPeople()
  const owner = world.as('owner')
  const put = { content: 'A fox of the lab.', visibility: 'federated', federation_ids: ['lab'] } as const
  await world.as('bob').put({ id: 'ours', ...put })
  world.clock.set(START + 1)
  const { heard, events } = await watch(world, 'ann', { debounce_ms: 60_000 })
  expect(heard()).toEqual(['added ours initial'])
  const member = { federation: 'lab', agent: 'ann' }
  await owner.federations.setMember({ ...member, status: 'active', permissions: ['view_aggregates'] })
  await pass(world, 50)
  expect(heard()).toEqual(['removed ours unavailable'])
  expect(events.at(-1)).not.toHaveProperty('belief')
  expect(events.at(-1)?.details).toEqual({})
  await owner.federations.setMember({ ...member, status: 'active', permissions: ['query_beliefs'] })
  await pass(world, 60_000)
  expect(heard()).toEqual(['added ours now_matches'])
  await world.as('ann').federations.leave({ federation: 'lab' })
  await pass(world, 50)
  expect(heard()).toEqual(['removed ours unavailable'])
})

it('an own edge that is set, changed and taken back, and one that is reached through it (BQ-158)', async () => {
  const world = await beginWithPeople()
  await world.as('bob').put({ id: 'bobs', content: 'A fox.', ...PUBLIC })
  await world.as('cyd').put({ id: 'cyds', content: 'A fox too.', ...PUBLIC })
  const { heard, events } = await watch(world, 'ann', { notify_on_connect: false })
  const ofBob = () => heard().filter(line => line.includes('bobs'))
  await world.as('ann').trust.set({ target: 'bob', trust_level: 0.9 })
  await pass(world)
  expect(ofBob()).toEqual(['updated bobs score_changed'])
  await world.as('ann').trust.set({ target: 'bob', trust_level: 0.95 })
  await pass(world)
  expect(ofBob()).toEqual(['updated bobs score_changed'])
  // Of others' edges those count that are reached.
  await world.as('bob').trust.set({ target: 'cyd', trust_level: 0.9 })
  await pass(world)
  expect(heard()).toEqual(['updated cyds score_changed'])
  const { details } = events.at(-1) as (typeof events)[number]
  expect(details['score']).not.toBe(details['previous_score'])
  await world.as('bob').trust.remove({ target: 'cyd' })
  await pass(world)
  expect(heard()).toEqual(['updated cyds score_changed'])
  await world.as('ann').trust.remove({ target: 'bob' })
  await pass(world)
  expect(ofBob()).toEqual(['updated bobs score_changed'])
  // What nobody reaches any more counts for nothing.
  await world.as('bob').trust.set({ target: 'cyd', trust_level: 0.9 })
  await pass(world, 5000)
  expect(heard()).toEqual([])
})

it('an edge of another that had faded when it was last asked, and is used (BQ-158)', async () => {
  const world = await beginWithPeople()
  await world.as('owner').agents.create({ id: 'dan' })
  await world.as('ann').trust.set({ target: 'bob', trust_level: 0.45 })
  await world.as('ann').trust.set({ target: 'dan', trust_level: 0.17 })
  await world.as('bob').trust.set({ target: 'cyd', trust_level: 0.86 })
  for (const id of ['cyd', 'dan']) await world.as(id).put({ id: `of ${id}`, content: 'A fox.', ...PUBLIC })
  const { heard } = await watch(world, 'ann', {}, { limit: 1 })
  expect(heard()).toEqual(['added of cyd initial'])
  world.clock.set(START + 200 * DAY)
  await world
    .as('dan')
    .put({ content: 'The moon.', confidence: { corroboration: 0, temporal_freshness: 0 }, ...PUBLIC })
  await pass(world)
  expect(heard()).toEqual(['removed of cyd outranked', 'added of dan new_match'])
  await world.as('bob').query({ semantic: 'fox', options: { scope: { network: true } } })
  await pass(world, 1000)
  expect(heard()).toEqual(['removed of dan outranked', 'added of cyd now_matches'])
})

it('an own edge that is used in the moment in which somebody looks (BQ-158)', async () => {
  const world = await beginWithPeople()
  await world.as('owner').agents.create({ id: 'dan' })
  await world.as('ann').trust.set({ target: 'cyd', trust_level: 0.5 })
  await world.as('ann').trust.set({ target: 'dan', trust_level: 0.45, persistent: true })
  for (const id of ['cyd', 'dan']) await world.as(id).put({ id: `of ${id}`, content: 'A fox.', ...PUBLIC })
  world.clock.set(START + 200 * DAY)
  const { heard } = await watch(world, 'ann', { debounce_ms: 1000 }, { limit: 1 })
  expect(heard()).toEqual(['added of dan initial'])
  await world.as('ann').query({ semantic: 'fox', options: { scope: { network: true } } })
  await pass(world, 500)
  world.clock.set(world.clock.now() + 500)
  await pass(world, 2000)
  expect(heard()).toEqual(['removed of dan outranked', 'added of cyd now_matches'])
})

it.each([
  [0.6, 0.7, []],
  [0.6, 0.71, ['updated cyds score_changed']],
  [0.6, 0.49, ['updated cyds score_changed']],
  [0.6, 0.5, []],
] as const)('a reputation that goes from %d to %d: %j (BQ-158)', async (from, to, expected) => {
  const world = await beginWithPeople()
  const owner = world.as('owner')
  await owner.agents.update({ id: 'cyd', reputation: from })
  await world.as('cyd').put({ id: 'cyds', content: 'A fox.', ...PUBLIC })
  const { heard } = await watch(world, 'ann', { notify_on_connect: false })
  await owner.agents.update({ id: 'cyd', reputation: to })
  await pass(world)
  expect(heard()).toEqual(expected)
})

it('a reputation of the watcher itself counts where the question asks for reputations (BQ-158)', async () => {
  const world = await beginWithPeople()
  await world.as('ann').put({ id: 'own', content: 'A fox.', ...PUBLIC })
  world.clock.set(world.clock.now() + 5000)
  const filters = { min_holder_reputation: 0.5 }
  const { heard } = await watch(world, 'ann', { notify_on_connect: false }, { filters })
  await world.as('owner').agents.update({ id: 'ann', reputation: 0.9 })
  await pass(world)
  expect(heard()).toEqual(['added own now_matches'])
})

it('small steps of a reputation add up until they are reported (BQ-158)', async () => {
  const world = await beginWithPeople()
  const owner = world.as('owner')
  await owner.agents.update({ id: 'cyd', reputation: 0.5 })
  await world.as('cyd').put({ id: 'cyds', content: 'A fox.', ...PUBLIC })
  const { heard } = await watch(world, 'ann', { notify_on_connect: false })
  for (const reputation of [0.56, 0.6]) {
    await owner.agents.update({ id: 'cyd', reputation })
    await pass(world)
  }
  expect(heard()).toEqual([])
  await owner.agents.update({ id: 'cyd', reputation: 0.64 })
  await pass(world)
  expect(heard()).toEqual(['updated cyds score_changed'])
})

it('another process is heard of within a look, whatever it writes (BQ-158)', async () => {
  const world = await beginWithPeople()
  const other = await begin(world.store, world.clock, 7)
  await world.as('bob').put({ id: 'a', content: 'A fox.', ...PUBLIC })
  const { heard } = await watch(world, 'ann', { notify_on_connect: false })
  await other.as('bob').put({ id: 'b', content: 'A fox b.', ...PUBLIC })
  await pass(world, 50)
  expect(heard()).toEqual(['added b new_match'])
  await other.as('ann').trust.set({ target: 'bob', trust_level: 0.9 })
  await pass(world, 50)
  expect(heard().sort()).toEqual(['updated a score_changed', 'updated b score_changed'])
  await other.as('bob').delete({ belief_id: 'a' })
  await pass(world, 50)
  expect(heard()).toEqual(['removed a unavailable'])
})

it('a, b, c and then d, b changed: removed a, removed c, added d, updated b, in this order (BQ-160)', async () => {
  const world = await beginWithPeople()
  const bob = world.as('bob')
  // The fewer other words, the nearer.
  const fox = (others: number, name: string) => `fox ${'moon '.repeat(others)}${name}`
  for (const [at, id] of ['a', 'b', 'c'].entries()) await bob.put({ id, content: fox(2 * at + 1, id), ...PUBLIC })
  const { heard, events } = await watch(world, 'ann', { debounce_ms: 1000 })
  expect(heard()).toEqual(['added a initial', 'added b initial', 'added c initial'])
  const soon = new Date(START + 1).toISOString()
  await bob.supersede({ belief_id: 'c', id: 'c2', valid_until: soon })
  await bob.supersede({ belief_id: 'b', id: 'b2', content: fox(3, 'b changed') })
  await bob.put({ id: 'd', content: 'fox', ...PUBLIC })
  await bob.supersede({ belief_id: 'a', id: 'a2', valid_until: soon })
  world.clock.set(START + 1)
  await pass(world, 1000)
  expect(heard()).toEqual([
    'removed a no_match',
    'removed c no_match',
    'added d new_match',
    'updated b2 content_changed',
  ])
  expect(events.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7])
})

it('what changes its place alone is reranked where that is wanted, with both places (BQ-159, BQ-160)', async () => {
  const world = await beginWithPeople()
  const bob = world.as('bob')
  await bob.put({ id: 'a', content: 'fox moon', ...PUBLIC })
  await bob.put({ id: 'b', content: 'fox moon moon moon', ...PUBLIC })
  const wanted = await watch(world, 'ann', { include_reranks: true, notify_on_connect: false })
  const not = await watch(world, 'ann', { notify_on_connect: false })
  await bob.put({ id: 'c', content: 'fox', ...PUBLIC })
  await pass(world)
  expect(wanted.heard()).toEqual(['added c new_match', 'reranked a rank_changed', 'reranked b rank_changed'])
  expect(wanted.events.slice(1).map(({ details }) => [details['previous_rank'], details['new_rank']])).toEqual([
    [1, 2],
    [2, 3],
  ])
  expect(not.heard()).toEqual(['added c new_match'])
  // Time alone reranks nothing.
  world.clock.set(START + 300 * DAY)
  await pass(world, 5000)
  expect(wanted.heard()).toEqual([])
})
