/** What is in scope is kept between questions, or looked up for single rows: it is the same as a pass over all of them. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { SettableClock } from '../../../../../src/base/clock.ts'
import { ALL_SOURCES } from '../../../../../src/lenses/beliefs/access/requester.ts'
import { firstPass, inScope, RowsInScope, Scopes } from '../../../../../src/lenses/beliefs/matching/in-scope.ts'
import { stateOf } from '../../../../../src/lenses/beliefs/state.ts'
import { callOperation, openBeliefsEngine } from '../../../../support/beliefs-engine.ts'
import { TEST_NOW } from '../../../../support/engines.ts'

const MINUTE = 60_000
const moment = fc.integer({ min: -12, max: 12 }).map(minutes => TEST_NOW + minutes * MINUTE)

it('BQ-046: what is in scope at the moments of a question is what a pass of its own finds, in any order of questions', async () => {
  const clock = new SettableClock(TEST_NOW - 60 * MINUTE)
  const engine = await openBeliefsEngine({ store: 'memory', clock })
  for (let at = -10; at <= 10; at += 2) {
    clock.set(TEST_NOW + Math.min(at, 0) * MINUTE)
    const [valid_from, valid_until] = [at, at + 5].map(minutes => new Date(TEST_NOW + minutes * MINUTE).toISOString())
    await callOperation(engine, 'beliefs.put', 'ann', {
      id: `b${at}`,
      content: `belief ${at}`,
      valid_from,
      valid_until,
    })
  }
  const state = stateOf(engine.host('beliefs'))
  state.look('ann', ({ columns, requester }) => {
    const question = fc.record({ asOf: moment, validAt: fc.option(fc.array(moment, { minLength: 1, maxLength: 2 })) })
    const found = new Set<number>()
    fc.assert(
      fc.property(fc.array(question, { minLength: 1, maxLength: 6 }), questions => {
        const scopes = new Scopes()
        for (const each of questions) {
          const request = { columns, requester, scope: ALL_SOURCES, ...each }
          const { rows } = scopes.of(request)
          expect([...rows]).toEqual([...inScope(request).rows])
          found.add(rows.length)
        }
      }),
      { numRuns: 500 },
    )
    expect(found.size).toBeGreaterThan(2)
  })
  await engine.close()
})

it('BQ-046: what a live query looks up for single beliefs is what a pass over all of them finds, for every viewer and scope', async () => {
  const clock = new SettableClock(TEST_NOW)
  await using engine = await openBeliefsEngine({ store: 'memory', clock })
  const call = (name: string, by: string, input: object) => callOperation(engine, name, by, input)
  const viewers = ['ann', 'bob', 'cyd']
  for (const id of viewers) await call('agents.create', 'owner', { id })
  await call('federations.create', 'owner', { id: 'circle' })
  for (const agent of ['ann', 'bob']) await call('federations.set_member', 'owner', { federation: 'circle', agent })
  const audiences = [{}, { visibility: 'public' }, { visibility: 'federated', federation_ids: ['circle'] }]
  for (const [at, holder] of viewers.entries()) {
    for (const [which, audience] of audiences.entries()) {
      if (holder === 'cyd' && which === 2) continue
      for (const from of [-6, 0, 6]) {
        const [valid_from, valid_until] = [from, from + 8].map(m =>
          new Date(TEST_NOW + (m + at) * MINUTE).toISOString(),
        )
        const content = `belief ${which} from ${from}`
        await call('beliefs.put', holder, { id: `b${which}-${from}`, content, valid_from, valid_until, ...audience })
      }
    }
  }
  const state = stateOf(engine.host('beliefs'))
  const scope = fc.record({ local: fc.boolean(), federated: fc.boolean(), network: fc.boolean() })
  const found = new Set<number>()
  fc.assert(
    fc.property(fc.constantFrom(...viewers), scope, moment, (viewer, scope, asOf) => {
      state.look(viewer, ({ columns, requester }) => {
        const request = { columns, requester, scope, asOf, validAt: null }
        const { matches, until } = firstPass(request)
        const single = new RowsInScope(request)
        const entries = [...columns.arrays.entries]
        const only = single.only(entries)
        expect([[...only.rows], [...only.sources]]).toEqual([[...matches.rows], [...matches.sources]])
        expect(entries.filter(entry => single.has(columns.rowOf(entry)))).toEqual(
          entries.filter(entry => matches.bits.has(entry)),
        )
        // It may be too early, and is never over.
        expect(single.untilOf(entries)).toBeLessThanOrEqual(until)
        expect(single.untilOf(entries)).toBeGreaterThan(asOf)
        found.add(matches.count)
      })
    }),
    { numRuns: 500 },
  )
  expect(found.size).toBeGreaterThan(5)
})
