/** Answers have the shape that the schemas say, which clients check them against: members that may be missing or null too. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import type { Engine } from '../../../../src/engine/engine.ts'
import { type Catalog, makeCatalog } from '../../../../src/ops/catalog.ts'
import { jsonSchema } from '../../../../src/ops/schemas.ts'
import { callOperation, openBeliefsEngine } from '../../../support/beliefs-engine.ts'

const ASKER = 'ana'
let engine: Engine
let catalog: Catalog

beforeAll(async () => {
  engine = await openBeliefsEngine({ store: 'memory' })
  catalog = makeCatalog(engine)
  await callOperation(engine, 'agents.create', 'owner', { id: ASKER })
  await callOperation(engine, 'agents.create', 'owner', { id: 'ben', reputation: 0.4 })
  const beliefs = ['fox', 'garden'].map(id => ({ id, content: `The ${id} is old.` }))
  await callOperation(engine, 'beliefs.put', ASKER, { beliefs })
})
afterAll(() => engine.close())

it.each<[string, string, Record<string, unknown>]>([
  ['beliefs.query', 'with a page that is the last', { semantic: 'fox' }],
  ['beliefs.query', 'with a page that is not', { semantic: 'fox', options: { limit: 1 } }],
  ['beliefs.put', 'of one', { content: 'One.' }],
  ['beliefs.put', 'of many', { beliefs: [{ content: 'One.' }, { content: 'Two.' }] }],
  ['beliefs.get', 'without history', { belief_id: 'fox' }],
  ['beliefs.get', 'with it', { belief_id: 'fox', include_superseded: true }],
  ['beliefs.expand', 'with one part', { belief_id: 'fox', include: ['similar'], max_additional_tokens: 50 }],
  ['beliefs.expand', 'with none', { belief_id: 'fox', include: [], max_additional_tokens: 50 }],
  ['beliefs.explain', 'of a match', { belief_id: 'fox', query: { semantic: 'fox' } }],
  ['beliefs.explain', 'of none', { belief_id: 'fox', query: { semantic: 'fox', filters: { min_confidence: 1 } } }],
  ['beliefs.explain', 'of two', { belief_id: 'fox', other_id: 'garden', query: { semantic: 'fox' } }],
  ['trust.list', 'of few', {}],
  ['trust.compute', 'in a stranger', { target: 'ben' }],
])('%s, %s, answers as published', async (operation, _, input) => {
  const published = jsonSchema((catalog.get(operation) as NonNullable<ReturnType<Catalog['get']>>).output, 'output')
  const answer: unknown = JSON.parse(JSON.stringify(await callOperation(engine, operation, ASKER, input)))
  expect(z.fromJSONSchema(published as Parameters<typeof z.fromJSONSchema>[0]).safeParse(answer).error).toBeUndefined()
})
