/** Answers have the shape that the schemas say, which clients check them against: members that may be missing or null too. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import type { Engine } from '../../../../src/engine/engine.ts'
import { FACET_FIELDS } from '../../../../src/lenses/beliefs/schema/questions.ts'
import { type Catalog, makeCatalog } from '../../../../src/ops/catalog.ts'
import { jsonSchema } from '../../../../src/ops/schemas.ts'
import { callOperation, openBeliefsEngine } from '../../../support/beliefs-engine.ts'

const ASKER = 'ana'
const FULL = {
  include_explanation: true,
  include_derivation: true,
  scope: { local: true, federated: true, network: true },
}
const OF_OWNER = /^(agents\.create|federations\.set_member|peers\.|beliefs\.diagnostics)/
let engine: Engine
let catalog: Catalog

beforeAll(async () => {
  engine = await openBeliefsEngine({ store: 'memory' })
  catalog = makeCatalog(engine)
  await callOperation(engine, 'agents.create', 'owner', { id: ASKER })
  await callOperation(engine, 'agents.create', 'owner', { id: 'ben', reputation: 0.4 })
  const beliefs = ['fox', 'garden', 'fence', 'vole'].map(id => ({
    id,
    content: `The ${id} is old.`,
    domains: ['yard'],
  }))
  await callOperation(engine, 'beliefs.put', ASKER, { beliefs })
  const derivation = { type: 'inference', sources: [{ belief_id: 'fox' }] }
  await callOperation(engine, 'beliefs.put', ASKER, { id: 'hunt', content: 'The fox is not old.', derivation })
  await callOperation(engine, 'federations.create', 'owner', { id: 'figures', results: 'aggregate', joining: 'open' })
  await callOperation(engine, 'federations.create', 'owner', { id: 'lab', joining: 'open' })
  await callOperation(engine, 'trust.set', ASKER, { target: 'ben', trust_level: 0.8, basis: [{ type: 'MANUAL' }] })
  const shared = { content: 'The fox of ben is red.', visibility: 'public' }
  await callOperation(engine, 'beliefs.put', 'ben', shared)
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
  [
    'beliefs.query',
    'with all there is to ask for',
    { semantic: 'fox', options: { ...FULL, diversity: { enabled: true } } },
  ],
  ['beliefs.query', 'as a list', { semantic: '', filters: { domains_include: ['yard'] }, options: FULL }],
  ['beliefs.count', 'of matches', { semantic: 'fox' }],
  ['beliefs.facets', 'by every field', { query: { semantic: 'fox' }, fields: FACET_FIELDS }],
  ['beliefs.batch', 'of one that is answered and one that fails', { queries: [{ semantic: 'fox' }, { semantic: '' }] }],
  ['beliefs.derivation', 'of two steps', { belief_id: 'hunt' }],
  ['beliefs.similar', 'with all', { belief_id: 'fox', options: { include_same_holder: true, min_similarity: -1 } }],
  ['beliefs.contradictions', 'of one', { belief_id: 'fox' }],
  ['beliefs.context_query', 'for an answer', { semantic: 'fox', purpose: 'answer', max_tokens: 200 }],
  ['beliefs.expand', 'with all parts', { belief_id: 'hunt', max_additional_tokens: 200 }],
  ['beliefs.supersede', 'a belief', { belief_id: 'vole', content: 'The vole is young.' }],
  ['beliefs.delete', 'a belief', { belief_id: 'fence' }],
  ['trust.set', 'of a new one', { target: 'cleo', trust_level: 0.4, domain_trust: { yard: 1 } }],
  ['trust.list', 'of few', {}],
  ['trust.compute', 'in one who is trusted', { target: 'ben', context: { query_domains: ['yard'] } }],
  ['trust.compute', 'in a stranger', { target: 'dora' }],
  ['trust.remove', 'of one', { target: 'cleo' }],
  ['agents.create', 'of all that can be said', { id: 'eve', label: 'Eve', reputation_by_domain: { yard: 0.5 } }],
  ['agents.update', 'of one', { id: ASKER, trust_graph: 'friends' }],
  ['agents.list', 'of some', {}],
  ['federations.create', 'of one', { id: 'club' }],
  ['federations.join', 'of one', { federation: 'lab' }],
  ['federations.join', 'of one that gives figures', { federation: 'figures' }],
  ['federations.set_member', 'by the owner', { federation: 'lab', agent: 'ben', permissions: ['query_beliefs'] }],
  ['federations.list', 'of some', {}],
  ['federations.statement', 'of a member', { federation: 'lab', agent: ASKER }],
  ['federations.aggregate', 'of few', { federation: 'figures', topic: 'fox' }],
  ['federations.leave', 'of one', { federation: 'lab' }],
  ['peers.list', 'of none', {}],
  ['peers.remove', 'of none', { id: 'nobody' }],
  ['peers.about', 'of this node', {}],
  ['beliefs.diagnostics', 'without calibration', { calibrate: false }],
])('%s, %s, answers as published', async (operation, _, input) => {
  const published = jsonSchema((catalog.get(operation) as NonNullable<ReturnType<Catalog['get']>>).output, 'output')
  const by = OF_OWNER.test(operation) ? 'owner' : ASKER
  const answer: unknown = JSON.parse(JSON.stringify(await callOperation(engine, operation, by, input)))
  expect(z.fromJSONSchema(published as Parameters<typeof z.fromJSONSchema>[0]).safeParse(answer).error).toBeUndefined()
})
