/** Only a whole answer is taken for one, and own use moves nothing: questions through the pipeline of a real engine. */
import { expect, it } from 'vitest'
import { SettableClock } from '../../../../src/base/clock.ts'
import type { LiveHandlers } from '../../../../src/model/live.ts'
import type { QueryInput } from '../../../../src/model/query-input.ts'
import { DEFAULT_LENS_STAGES } from '../../../../src/pipeline/default-stages.ts'
import type { Stages } from '../../../../src/pipeline/stage.ts'
import { idsOf, openTestEngine, TEST_NOW } from '../../../support/engines.ts'
import { ManualTimers } from '../../../support/manual-timers.ts'
import { openToyEmbedder } from '../../../support/toy-embedder.ts'

function ear(): { readonly heard: string[]; readonly errors: unknown[]; readonly handlers: LiveHandlers } {
  const heard: string[] = []
  const errors: unknown[] = []
  const handlers: LiveHandlers = {
    onEvent: ({ type, id, reason }) => void heard.push(`${type} ${id} ${reason}`),
    onError: error => void errors.push(error),
  }
  return { heard, errors, handlers }
}

it('a partial answer takes nothing away: it is reported as a failure and asked again (BQ-192)', async () => {
  let isLate = false
  const stages: Stages = {
    ...DEFAULT_LENS_STAGES,
    retrieve: async (...given) => {
      const found = await DEFAULT_LENS_STAGES.retrieve(...given)
      if (!isLate) return found
      return { ...found, candidates: found.candidates.slice(0, 1), complete: false, exhausted: false }
    },
  }
  const timers = new ManualTimers()
  const engine = await openTestEngine({ live: { timers }, lenses: [{ name: 'late', summary: 'Late', stages }] })
  await engine.put({ entries: ['a', 'b', 'c'].map(id => ({ id, content: `fox ${id}` })) })
  const { heard, errors, handlers } = ear()
  await engine.subscribe({ text: 'fox', lens: 'late', debounce_ms: 0, notify_on_connect: false }, handlers)
  isLate = true
  await engine.put({ entries: [{ id: 'd', content: 'fox d' }] })
  await timers.pass(4000)
  expect(heard).toEqual([])
  expect(errors).toMatchObject([
    { code: 'deadline_exceeded' },
    { code: 'deadline_exceeded' },
    { code: 'deadline_exceeded' },
  ])
  isLate = false
  await timers.pass(10_000)
  expect(heard).toEqual(['added d new_match'])
  await engine.close()
})

it('words alone do not stand in where meaning had a part before', async () => {
  let isBroken = false
  const { enrich } = DEFAULT_LENS_STAGES
  const stages: Stages = {
    ...DEFAULT_LENS_STAGES,
    // As where the embedder fails, and its vector of the text is not kept any more.
    enrich: (plan, context) => enrich(plan, isBroken ? { ...context, embed: () => Promise.resolve(null) } : context),
  }
  const timers = new ManualTimers()
  const lens = { name: 'broken', summary: 'Broken', stages }
  const engine = await openTestEngine({ live: { timers }, embedder: openToyEmbedder(), lenses: [lens] })
  await engine.put({ entries: [{ id: 'a', content: 'a vixen' }], wait: true })
  const { heard, errors, handlers } = ear()
  await engine.subscribe({ text: 'fox', lens: 'broken', debounce_ms: 0 }, handlers)
  await timers.pass(100)
  expect(heard).toEqual(['added a initial'])
  isBroken = true
  await engine.put({ entries: [{ id: 'z', content: 'hen' }], wait: true })
  await timers.pass(3000)
  expect(heard).toEqual(['added a initial'])
  expect(errors.length).toBeGreaterThan(0)
  expect(errors[0]).toMatchObject({ code: 'embedder_failed' })
  isBroken = false
  const known = errors.length
  await timers.pass(60_000)
  expect(errors.length).toBe(known)
  expect(heard.filter(each => each.includes(' a '))).toEqual(['added a initial'])
  await engine.close()
})

it.each([
  [undefined, ['a', 'b']],
  [true, ['a', 'd']],
])('with memory %s what was used elsewhere leaves %j', async (memory, expected) => {
  const timers = new ManualTimers()
  const clock = new SettableClock(TEST_NOW)
  const engine = await openTestEngine({ clock, live: { timers } })
  await engine.put({ entries: ['a', 'b', 'c', 'd'].map(id => ({ id, content: `fox ${id}` })) })
  const known = new Set<string>()
  const input = { text: 'fox', limit: 2, ...(memory !== undefined && { memory }) }
  const { query } = await engine.subscribe(
    { ...input, debounce_ms: 0 },
    { onEvent: ({ type, id }) => void (type === 'removed' ? known.delete(id) : known.add(id)) },
  )
  // It says so, for asked with another the ids are others.
  expect(query).toEqual({ ...input, memory: memory ?? false })
  await timers.pass(100)
  for (let use = 0; use < 5; use++) {
    clock.set(clock.now() + 60_000)
    await engine.query({ text: 'fox d', limit: 1, touch: true })
  }
  await engine.put({ entries: [{ id: 'z', content: 'hen' }] })
  await timers.pass(1000)
  expect([...known].sort()).toEqual(expected)
  const fresh = await engine.query({ ...(query as unknown as QueryInput), touch: false })
  expect(idsOf(fresh).toSorted()).toEqual(expected)
  await engine.close()
})
