/** What an id means that several holders use: nobody takes it over by using it again (BQ-011, BQ-089, BQ-130). */
import { afterEach, beforeEach, expect, it } from 'vitest'
import { SettableClock } from '../../../../../src/base/clock.ts'
import type { Engine } from '../../../../../src/engine/engine.ts'
import type { QueryResult } from '../../../../../src/lenses/beliefs/model.ts'
import { callOperation, makeCatalog } from '../../../../../src/ops/catalog.ts'
import { openTestEngine, TEST_NOW } from '../../../../support/engines.ts'

let engine: Engine
const clock = new SettableClock(TEST_NOW)

beforeEach(async () => {
  engine = await openTestEngine({ clock })
})
afterEach(() => engine.close())

function call(viewer: string, name: string, input: object): Promise<unknown> {
  clock.set(clock.now() + 1000)
  const context = { viewer: { id: viewer }, signal: new AbortController().signal }
  return callOperation(makeCatalog(engine), engine, name, input, context)
}

it('is the belief that had it first, in references of others and when it is asked for', async () => {
  const said = { visibility: 'public', id: 'rain' }
  await call('bob', 'beliefs.put', { ...said, content: 'Rain falls' })
  const derivation = { type: 'inference', sources: [{ belief_id: 'rain' }] }
  await call('cat', 'beliefs.put', { ...said, id: 'wet', content: 'It is wet', derivation })
  await call('mal', 'beliefs.put', { ...said, content: 'Buy now' })
  const { chain } = (await call('ann', 'beliefs.derivation', { belief_id: 'wet' })) as { chain: readonly object[] }
  expect(chain[1]).toMatchObject({ belief_id: 'rain', content_preview: 'Rain falls' })
  expect(await call('ann', 'beliefs.get', { belief_id: 'rain' })).toMatchObject({ belief: { holder_id: 'bob' } })
  expect(await call('mal', 'beliefs.get', { belief_id: 'rain' })).toMatchObject({ belief: { holder_id: 'mal' } })
})

it('is one belief in an answer: a copy that ranks before the original takes its place, unless a filter or one’s own is before', async () => {
  const said = { visibility: 'public', id: 'rain' }
  const sure = { source_reliability: 1, method_quality: 1, corroboration: 1, domain_applicability: 1 }
  await call('bob', 'beliefs.put', { ...said, content: 'Rain falls' })
  await call('mal', 'beliefs.put', { ...said, content: 'Rain falls for sale', confidence: sure })
  const holders = async (filters: object) => {
    const input = { semantic: 'rain', filters, options: { scope: { local: true, network: true } } }
    const { beliefs } = (await call('ann', 'beliefs.query', input)) as QueryResult
    return beliefs.map(({ belief }) => belief.holder_id)
  }
  expect(await holders({})).toEqual(['mal'])
  expect(await holders({ holder_ids: ['bob'] })).toEqual(['bob'])
  expect(await holders({ exclude_holders: ['mal'] })).toEqual(['bob'])
  await call('ann', 'beliefs.put', { id: 'rain', content: 'Rain falls' })
  expect(await holders({})).toEqual(['ann'])
})
