/** The digest of an order: taken from sums that are kept, it is what one pass over the matches gives. */
import { expect, it } from 'vitest'
import { Matches } from '../../../../../src/lenses/beliefs/matching/matches.ts'
import { digestOf } from '../../../../../src/lenses/beliefs/paging/digest.ts'
import { Evaluation } from '../../../../../src/lenses/beliefs/query/evaluation.ts'
import { understand } from '../../../../../src/lenses/beliefs/query/understand.ts'
import { stateOf } from '../../../../../src/lenses/beliefs/state.ts'
import { EVERYWHERE } from '../../../../support/beliefs-paging.ts'
import { checkQuery } from '../schema/checks.ts'
import { World } from './world.ts'

const LIST = { semantic: '', filters: { min_confidence: { overall: 0.001 } }, options: { scope: EVERYWHERE } }

it('is the same whether copies were left out of it or never in it', async () => {
  const world = await World.open()
  await world.fill(12)
  // Copies of the other's, so that some are left out; of dan nothing else is there.
  await world.call('beliefs.put', 'cyd', { id: 'copy0', content: 'fox fox 0', visibility: 'public' })
  await world.call('beliefs.put', 'dan', { id: 'copy1', content: 'garden fox 1', visibility: 'public' })
  const state = stateOf(world.engine.host('beliefs'))
  const query = checkQuery(LIST, { id: 'ann', trustGraph: null })
  const asOf = world.clock.now()
  state.look('ann', view => {
    const understood = understand(
      state,
      { question: null, include: [], exclude: [], warnings: [] },
      null,
      view.requester.sight,
    )
    const question = { ...query, scope: query.options.scope }
    const evaluation = new Evaluation(state, view, question, understood, asOf)
    const { matches } = evaluation
    expect(matches.taken?.gone.size).toBeGreaterThan(0)
    const plain = new Matches(view.columns, matches.rows, matches.sources)
    const whole = Object.create(evaluation, { matches: { value: plain } }) as Evaluation
    expect(plain.taken).toBeNull()
    expect(digestOf(evaluation)).toBe(digestOf(whole))
  })
})
