/** What contradicts other results is watched as it is asked for, where the node is set to settle that (BQ-158, BQ-174). */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { SettableClock } from '../../../../../src/base/clock.ts'
import { installDetector } from '../../../../../src/lenses/beliefs/contradiction/heuristic.ts'
import { beliefsOf } from '../../../../../src/openings/beliefs.ts'
import { openMemoryStore } from '../../../../../src/store/sqlite-store.ts'
import { openBeliefsEngine } from '../../../../support/beliefs-engine.ts'
import { ManualTimers } from '../../../../support/manual-timers.ts'
import { ALL, START } from './world.ts'

/** Two contradict each other where their last letters stand next to each other here. */
const OPPOSED = ['pq', 'qr']
const DETECTOR = {
  name: 'sides',
  note: 'Of tests.',
  detect: (a: { readonly content: string }, b: { readonly content: string }) => {
    const contents = [a, b].map(({ content }) => content.at(-1)).sort()
    return OPPOSED.includes(contents.join('')) ? { type: 'direct' as const, score: 0.9, text: 'So it is.' } : null
  },
}

const acts = fc.array(
  fc.record({
    id: fc.nat({ max: 5 }),
    side: fc.constantFrom('p', 'q', 'r', null),
    sure: fc.constantFrom(0.2, 0.5, 0.9),
  }),
  { minLength: 3, maxLength: 10, size: 'max' },
)

it.each(['one_excluded', 'one_penalized'])('%s', async conflicts => {
  await fc.assert(
    fc.asyncProperty(acts, fc.integer({ min: 1, max: 4 }), async (all, limit) => {
      const timers = new ManualTimers()
      const clock = new SettableClock(START)
      const options = { store: openMemoryStore(), clock, live: { timers } }
      await using engine = await openBeliefsEngine(options, { conflicts })
      installDetector(engine.host('beliefs'), { contradictionDetector: DETECTOR })
      const owner = beliefsOf(engine, { id: 'owner' })
      await owner.agents.create({ id: 'ann' })
      await owner.agents.create({ id: 'bob' })
      const ann = beliefsOf(engine, { id: 'ann' })
      const bob = beliefsOf(engine, { id: 'bob' })
      const query = { semantic: 'fox', options: { scope: ALL, limit } }
      const known = new Map<string, number>()
      await ann.subscribe(
        query,
        ({ type, id, details }) => {
          if (type === 'removed') known.delete(id)
          else {
            if (typeof details['previous_id'] === 'string') known.delete(details['previous_id'])
            known.set(id, 0)
          }
        },
        { debounce_ms: 0, include_reranks: true, max_events_per_minute: 600 },
      )
      await timers.pass(0)
      /** The current version of each. */
      const current = new Map<number, string>()
      for (const [at, { id, side, sure }] of all.entries()) {
        clock.set(clock.now() + 1000)
        const before = current.get(id)
        if (side === null) {
          if (before !== undefined) await bob.delete({ belief_id: before })
          current.delete(id)
        } else {
          const fields = {
            ...{ id: `b${id}-${at}`, content: `the fox of the old garden by the sea ${id} ${side}` },
            confidence: { source_reliability: sure },
            visibility: 'public' as const,
          }
          if (before === undefined) await bob.put(fields)
          else await bob.supersede({ ...fields, belief_id: before })
          current.set(id, fields.id)
        }
        await timers.pass(200)
        const { beliefs } = await ann.query(query)
        expect([...known.keys()].sort()).toEqual(beliefs.map(({ belief }) => belief.id).sort())
      }
    }),
    { numRuns: 15 },
  )
})
