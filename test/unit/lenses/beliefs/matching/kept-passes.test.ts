/** What is in scope is kept between questions: it is the same as a pass made for each of them. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { SettableClock } from '../../../../../src/base/clock.ts'
import { ALL_SOURCES } from '../../../../../src/lenses/beliefs/access/requester.ts'
import { inScope, Scopes } from '../../../../../src/lenses/beliefs/matching/in-scope.ts'
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
