/** What a live query of beliefs need not be evaluated for again (BQ-158): a thousand of them cost as much as what they are evaluated for. */
import { expect, it } from 'vitest'
import { LiveBeliefQuery } from '../../../../../src/lenses/beliefs/live/live-belief-query.ts'
import { stateOf } from '../../../../../src/lenses/beliefs/state.ts'
import type { LiveState } from '../../../../../src/model/live.ts'
import { checkQuery } from '../schema/checks.ts'
import { ALL, beginWithPeople, PUBLIC, type World } from './world.ts'

/** Evaluated once; says of each later write whether it may have changed the answer. */
async function evaluated(world: World, options: object = {}) {
  const query = { semantic: 'fox', options: { scope: ALL, limit: 1, min_similarity: 0.3, ...options } }
  const state = stateOf(world.engine.host('beliefs'))
  const question = new LiveBeliefQuery(state, { id: 'ann' }, checkQuery(query, { id: 'ann', trustGraph: null }), query)
  let last: LiveState = await question.ask(new AbortController().signal)
  return async () => {
    const may = question.concerned(last)
    if (may) last = await question.ask(new AbortController().signal)
    return may
  }
}

const WEAK = {
  source_reliability: 0,
  method_quality: 0,
  internal_consistency: 0,
  corroboration: 0,
  temporal_freshness: 0,
}
const STRONG = {
  source_reliability: 1,
  method_quality: 1,
  internal_consistency: 1,
  corroboration: 1,
  temporal_freshness: 1,
}

it('a new candidate that scores less than everything shown changes nothing, one that scores more does', async () => {
  const world = await beginWithPeople()
  await world.as('ann').put({ id: 'first', content: 'A fox of ann.', confidence: STRONG })
  await world.as('bob').put({ id: 'second', content: 'A fox of bob.', confidence: WEAK, ...PUBLIC })
  const affects = await evaluated(world)
  await world.as('cyd').put({ content: 'A fox of cyd.', confidence: WEAK, ...PUBLIC })
  expect(await affects()).toBe(false)
  await world.as('ann').put({ content: 'A fox, the fox.', confidence: STRONG })
  expect(await affects()).toBe(true)
})

it('where the page has room, every new candidate changes it', async () => {
  const world = await beginWithPeople()
  await world.as('ann').put({ id: 'first', content: 'A fox of ann.', confidence: STRONG })
  const affects = await evaluated(world, { limit: 5 })
  await world.as('cyd').put({ content: 'A fox of cyd.', confidence: WEAK, ...PUBLIC })
  expect(await affects()).toBe(true)
})

it('a copy of a candidate may stand for it, whatever it scores', async () => {
  const world = await beginWithPeople()
  await world.as('bob').put({ id: 'first', content: 'A fox.', confidence: STRONG, ...PUBLIC })
  await world.as('cyd').put({ id: 'second', content: 'A fox of cyd.', confidence: WEAK, ...PUBLIC })
  const affects = await evaluated(world)
  await world.as('ann').put({ content: 'A fox.', confidence: WEAK })
  expect(await affects()).toBe(true)
})

it('trust counts in those who hold a candidate, and in nobody else', async () => {
  const world = await beginWithPeople()
  await world.as('bob').put({ id: 'first', content: 'A fox.', ...PUBLIC })
  await world.as('cyd').put({ id: 'second', content: 'The moon.', ...PUBLIC })
  const affects = await evaluated(world)
  await world.as('ann').trust.set({ target: 'cyd', trust_level: 0.9 })
  expect(await affects()).toBe(false)
  await world.as('ann').trust.set({ target: 'bob', trust_level: 0.9 })
  expect(await affects()).toBe(true)
})

it('trust in the holder of a candidate that ranks behind the page counts once it lifts the candidate onto it', async () => {
  const world = await beginWithPeople()
  await world.as('bob').put({ id: 'first', content: 'A fox.', ...PUBLIC })
  await world.as('cyd').put({ id: 'second', content: 'A fox of cyd.', confidence: WEAK, ...PUBLIC })
  const affects = await evaluated(world)
  await world.as('ann').trust.set({ target: 'cyd', trust_level: 0.11 })
  expect(await affects()).toBe(false)
  await world.as('ann').trust.set({ target: 'cyd', trust_level: 1 })
  expect(await affects()).toBe(true)
})

it('trust counts in the holder of a candidate that came after the answer and ranked behind the page', async () => {
  const world = await beginWithPeople()
  await world.as('bob').put({ id: 'first', content: 'A fox.', ...PUBLIC })
  await world.as('bob').put({ id: 'second', content: 'A fox of bob.', confidence: WEAK, ...PUBLIC })
  const affects = await evaluated(world)
  await world.as('cyd').put({ id: 'third', content: 'A fox here.', ...PUBLIC })
  expect(await affects()).toBe(false)
  await world.as('ann').trust.set({ target: 'cyd', trust_level: 1 })
  expect(await affects()).toBe(true)
})
