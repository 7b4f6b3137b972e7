/** What is in the store before the first input: something of every lens, and something hidden. */
import { HASHTAGS } from '../../support/chroma-nodes.ts'
import { by, type Call, CONCEPT, HIDER, NODE, nodeDocument, OWNER_NAME, REQUESTER, SECRET } from './call.ts'

const FOX = {
  id: 'fox',
  title: 'Fox',
  content: 'The quick fox jumps over a fence.\n\nIt sleeps.',
  tags: ['red'],
  kind: 'note',
}
const CAR = {
  id: 'car',
  content: 'A car waits on the road.',
  metadata: { wheels: 4, a: { b: [1, null] } },
  collection: 'notes',
}

/** What is there before the first input. */
export const SETUP: readonly Call[] = [
  by(OWNER_NAME, 'put', { entries: [FOX, CAR, { ...FOX, id: 'open', visibility: 'public' }], wait: true }),
  by(REQUESTER, 'put', {
    entries: [{ id: 'mine', content: 'Ana keeps bees; honey is sweet.', created_at: '2026-01-01' }],
    wait: true,
  }),
  by(HIDER, 'put', {
    entries: [
      { id: SECRET, title: SECRET, content: `A fox ${SECRET} in the garden`, tags: [SECRET], collection: SECRET },
    ],
    wait: true,
  }),
  by(OWNER_NAME, 'chroma.assign', { starter: true }),
  by(OWNER_NAME, 'chroma.store', { ...NODE, visibility: 'public' }),
  by(REQUESTER, 'chroma.import', nodeDocument('n1', HASHTAGS.database)),
  by(HIDER, 'chroma.store', { ...NODE, label: SECRET, content: SECRET }),
  by(OWNER_NAME, 'context.body_init'),
  by(REQUESTER, 'context.mind_concepts_create_many', {
    concepts: [
      { name: 'Login', type: 'Class' },
      { name: 'Token', type: 'Entity' },
    ],
  }),
  by(HIDER, 'context.mind_concepts_create', { name: SECRET, type: 'Class' }),
  by(REQUESTER, 'context.mind_edges_create', { source: CONCEPT, target: CONCEPT + 1, relation: 'USES', weight: 0.5 }),
  by(OWNER_NAME, 'context.index', { path: '.' }),
  by(OWNER_NAME, 'context.body_fts_index'),
  by(OWNER_NAME, 'agents.create', { id: REQUESTER, reputation: 0.5 }),
  by(OWNER_NAME, 'agents.create', { id: HIDER }),
  by(OWNER_NAME, 'federations.create', { id: 'lab' }),
  by(OWNER_NAME, 'federations.set_member', { federation: 'lab', agent: REQUESTER }),
  by(OWNER_NAME, 'federations.create', { id: 'counts', results: 'aggregate' }),
  by(OWNER_NAME, 'federations.set_member', { federation: 'counts', agent: REQUESTER }),
  by(REQUESTER, 'beliefs.put', {
    id: 'b1',
    content: 'The fox is quick.',
    confidence: { corroboration: 0.9 },
    domains: ['science'],
    visibility: 'public',
  }),
  by(REQUESTER, 'beliefs.put', {
    id: 'b2',
    content: 'The fox is not quick.',
    derivation: { type: 'inference', sources: [{ belief_id: 'b1' }] },
  }),
  by(HIDER, 'beliefs.put', { id: `${SECRET}-b`, content: `The garden of ${SECRET} is old.` }),
  by(REQUESTER, 'trust.set', { target: 'carl', trust_level: 0.7, domain_trust: { science: 0.9 } }),
]
