/** The lens beliefs at every interface, by the rules of `scenario.ts`: three agents, of whom one has nothing. */
import { expect } from 'vitest'
import { keysOf } from '../../src/identity/keys.ts'
import { by, type Step, step } from './scenario.ts'

type Json = Step extends { expect?: (outcome: infer T) => void } ? T : never
type Expectation = NonNullable<Step['expect']>

/** In the terms of the lens. */
export function refused(code: string, field?: string): Expectation {
  return ({ error }) => {
    expect(error).toMatchObject({ code, message: expect.any(String), retryable: expect.any(Boolean) })
    if (field !== undefined) expect(error.message).toMatch(new RegExp(`^${field.replaceAll('.', '[.]')}\\b`))
  }
}

export const idsOf = ({ beliefs }: Json): readonly string[] => beliefs.map((each: Json) => each.belief.id)

/** did:key of the seed of 32 twos. */
const PEER = keysOf(new Uint8Array(32).fill(2)).did
const FAY = keysOf(new Uint8Array(32).fill(4)).did
const RAIN = { semantic: 'rain in spring' }
const ALL = { scope: { local: true, federated: true, network: true } }

export const BELIEFS_STEPS: readonly Step[] = [
  step('an agent', 'agents.create', { id: 'dee', label: 'Dee', reputation: 0.4, trust_graph: 'dees' }),
  step('an agent twice', 'agents.create', { id: 'ana' }, refused('INVALID_QUERY', 'id')),
  by('ana', step('an agent makes an agent', 'agents.create', { id: 'eve' }, refused('UNAUTHORIZED'))),
  step('a reputation', 'agents.update', { id: 'ben', reputation: 0.9, label: 'Ben' }),
  step('agents', 'agents.list', {}, ({ result }) => expect(result.agents).toHaveLength(4)),
  step('a federation', 'federations.create', { id: 'reef', label: 'Reef' }),
  by('cy', step('a federation of an agent', 'federations.create', { id: 'reef', anonymity: 'pseudonyms' })),
  ...['ana', 'ben', 'cy'].map(agent =>
    step(`${agent} becomes a member`, 'federations.set_member', { federation: 'reef', agent }),
  ),
  by('cy', step('cy leaves', 'federations.leave', { federation: 'reef' })),
  step('a member', 'federations.set_member', { federation: 'reef', agent: 'ben', role: 'moderator' }),
  step(
    'a peer that does not answer',
    'peers.add',
    { id: 'far', address: 'http://127.0.0.1:9', did: PEER, federations: ['reef'] },
    { identity: 'given' },
  ),
  step(
    'a peer of whom only the address is known, and which does not answer',
    'peers.add',
    { address: 'http://127.0.0.1:9' },
    refused('NODE_UNAVAILABLE', 'address'),
  ),
  by('ana', step('a peer of an agent', 'peers.add', {}, refused('UNAUTHORIZED'))),
  step('peers', 'peers.list', {}, ({ result }) =>
    expect(result.peers).toMatchObject([{ id: 'far', did: PEER, network: false }]),
  ),
  by('cy', step('who this node is', 'peers.about', {}, { protocol: 2, network: true })),
  step('a peer goes', 'peers.remove', { id: 'far' }, ({ result }) => expect(result).toEqual({ removed: true })),
  step('an agent with a key of its own', 'agents.create', { id: 'fay', did: FAY }),
  {
    name: 'a federation that tells no single beliefs',
    operation: 'federations.create',
    // So much may an answer cost that its noise does not lift nobody over the bar: here and everywhere it says nothing.
    input: { id: 'census', results: 'aggregate', query_epsilon: 5, daily_epsilon: 5 },
    expect: ({ result }) => expect(result.federation).toMatchObject({ aggregates: { least_members: 5 } }),
  },
  step(
    'what it tells of a topic',
    'federations.aggregate',
    { federation: 'census', topic: 'Rain' },
    { aggregate: { topic: 'rain', summary: null }, budget: { epsilon_left: 0 } },
  ),
  step(
    'of another, for which nothing is left',
    'federations.aggregate',
    { federation: 'census', domain: 'weather' },
    refused('RATE_LIMITED'),
  ),
  by(
    'ana',
    step(
      'what it tells those who are not in it',
      'federations.aggregate',
      { federation: 'census', topic: 'rain' },
      refused('UNAUTHORIZED'),
    ),
  ),
  by('ana', step('federations of ana', 'federations.list', {})),
  by('cy', step('federations of cy', 'federations.list', {})),
  by(
    'ana',
    step('ana holds', 'beliefs.put', {
      beliefs: [
        {
          id: 'rain',
          content: 'Rain is likely in spring',
          confidence: { source_reliability: 0.9 },
          domains: ['weather'],
        },
        { id: 'dry', content: 'Rain is not likely in spring', visibility: 'public', domains: ['weather/rain'] },
        {
          id: 'wet',
          content: 'Gardens in spring are wet with rain',
          visibility: 'federated',
          federation_ids: ['reef'],
          derivation: { type: 'inference', sources: [{ belief_id: 'rain', contribution_type: 'primary', weight: 1 }] },
        },
      ],
    }),
  ),
  by(
    'ben',
    step('ben holds', 'beliefs.put', {
      id: 'showers',
      content: 'Showers of rain come in spring, one day in two',
      visibility: 'public',
      domains: ['weather'],
      derivation: { type: 'hearsay', sources: [{ external_ref: 'https://example.org/rain' }] },
      valid_from: '2026-01-01T00:00:00Z',
      valid_until: '2027-01-01T00:00:00Z',
    }),
  ),
  step('the owner holds', 'beliefs.put', {
    id: 'snow',
    content: 'Snow falls in winter, seldom in spring',
    visibility: 'public',
  }),
  by('ben', step('the same id', 'beliefs.put', { id: 'showers', content: 'Else' }, refused('INVALID_QUERY'))),
  by(
    'ben',
    step(
      'one of a list is wrong',
      'beliefs.put',
      {
        beliefs: [
          { id: 'good', content: 'Good' },
          { id: 'bad', content: 'Bad', valid_from: 'soon' },
        ],
      },
      refused('INVALID_QUERY', 'beliefs'),
    ),
  ),
  by('ben', step('none of it is there', 'beliefs.get', { belief_id: 'good' }, refused('INVALID_QUERY', 'belief_id'))),
  by('ana', step('trust', 'trust.set', { target: 'ben', trust_level: 0.8, domain_trust: { weather: 0.9 } })),
  by('ben', step('trust of ben', 'trust.set', { target: 'cy', trust_level: 0.4, exposure: 'exposed' })),
  by('ana', step('whom ana trusts', 'trust.list', {})),
  by('ana', step('trust through another', 'trust.compute', { target: 'cy' })),
  by('ana', step('trust in a domain', 'trust.compute', { target: 'ben', context: { query_domains: ['weather'] } })),
  ...['ana', 'ben', 'cy', undefined].flatMap((viewer): readonly Step[] => [
    {
      name: `all that ${viewer ?? 'the owner'} may see`,
      operation: 'beliefs.query',
      viewer,
      input: { ...RAIN, options: { ...ALL, include_explanation: true, include_derivation: true } },
    },
    { name: `what ${viewer ?? 'the owner'} holds`, operation: 'beliefs.query', viewer, input: RAIN },
    {
      name: `how many ${viewer ?? 'the owner'} may see`,
      operation: 'beliefs.count',
      viewer,
      input: { ...RAIN, options: ALL },
    },
    {
      name: `facets for ${viewer ?? 'the owner'}`,
      operation: 'beliefs.facets',
      viewer,
      input: {
        query: { ...RAIN, options: ALL },
        fields: ['domains', 'holder_id', 'derivation_type', 'visibility', 'confidence_bucket'],
      },
    },
    {
      name: `the private one, asked by ${viewer ?? 'the owner'}`,
      operation: 'beliefs.get',
      viewer,
      input: { belief_id: 'rain' },
      expect: () => {},
    },
    {
      name: `what contradicts it, asked by ${viewer ?? 'the owner'}`,
      operation: 'beliefs.contradictions',
      viewer,
      input: { belief_id: 'dry', options: { scope: ALL.scope } },
    },
  ]),
  by(
    'ana',
    step('a filter', 'beliefs.query', {
      semantic: '',
      filters: [{ domains_include: ['weather'], min_confidence: 0.3 }, 'recent'],
      options: ALL,
    }),
  ),
  by(
    'ana',
    step('a page', 'beliefs.query', { ...RAIN, options: { ...ALL, limit: 1 } }, ({ result }) =>
      expect(result.next_cursor).not.toBeNull(),
    ),
  ),
  by(
    'ana',
    step(
      'the page after it',
      'beliefs.query',
      answers => ({ ...RAIN, options: { ...ALL, limit: 1, cursor: answers.get('a page').next_cursor } }),
      ({ result }) => expect(result.beliefs[0].rank).toBe(2),
    ),
  ),
  by(
    'ben',
    step(
      'the page of another',
      'beliefs.query',
      answers => ({ ...RAIN, options: { ...ALL, limit: 1, cursor: answers.get('a page').next_cursor } }),
      refused('INVALID_QUERY', 'options.cursor'),
    ),
  ),
  by('ana', step('nothing asked', 'beliefs.query', {}, refused('INVALID_QUERY', 'semantic'))),
  by('ana', step('a field that is none', 'beliefs.query', { ...RAIN, foo: 1 }, refused('INVALID_QUERY', 'foo'))),
  by(
    'ana',
    step('asking as another', 'beliefs.query', { ...RAIN, context: { requester_id: 'ben' } }, refused('UNAUTHORIZED')),
  ),
  by('ana', step('a batch, one of it wrong', 'beliefs.batch', { queries: [RAIN, { semantic: 3 }] })),
  by(
    'ana',
    step('for a purpose', 'beliefs.context_query', { ...RAIN, options: ALL, purpose: 'verify', max_tokens: 200 }),
  ),
  by('ana', step('like one', 'beliefs.similar', { belief_id: 'rain', options: { scope: ALL.scope } })),
  by('ben', step('like a hidden one', 'beliefs.similar', { belief_id: 'rain' }, refused('INVALID_QUERY', 'belief_id'))),
  by('ana', step('whence', 'beliefs.derivation', { belief_id: 'wet', max_depth: 2 })),
  by('ben', step('whence, for one who sees less', 'beliefs.derivation', { belief_id: 'wet' })),
  by('ana', step('why', 'beliefs.explain', { belief_id: 'rain', query: { ...RAIN, options: ALL } })),
  by(
    'ana',
    step('why this over that', 'beliefs.explain', {
      belief_id: 'rain',
      query: { ...RAIN, options: ALL },
      other_id: 'showers',
    }),
  ),
  by(
    'ana',
    step('why not', 'beliefs.explain', {
      belief_id: 'showers',
      query: { ...RAIN, filters: { min_confidence: 0.99 }, options: ALL },
    }),
  ),
  by(
    'cy',
    step(
      'why a hidden one',
      'beliefs.explain',
      { belief_id: 'rain', query: RAIN },
      refused('INVALID_QUERY', 'belief_id'),
    ),
  ),
  by('ana', step('watching has no whole answer', 'beliefs.watch', { query: RAIN }, refused('INVALID_QUERY'))),
  by(
    'ana',
    step('a next version', 'beliefs.supersede', {
      belief_id: 'dry',
      id: 'dry-2',
      content: 'Rain is not likely in a spring after a dry winter',
    }),
  ),
  by('ana', step('its versions', 'beliefs.get', { belief_id: 'dry-2', include_superseded: true })),
  by(
    'cy',
    step('deleting what is not there', 'beliefs.delete', { belief_id: 'none' }, refused('INVALID_QUERY', 'belief_id')),
  ),
  by('ana', step('deleting', 'beliefs.delete', { belief_id: 'dry-2' })),
  by(
    'cy',
    step('it is gone', 'beliefs.query', { ...RAIN, options: ALL }, ({ result }) =>
      expect(idsOf(result)).not.toContain('dry-2'),
    ),
  ),
  by('ana', step('no trust any more', 'trust.remove', { target: 'ben' })),
  step('what it has come to', 'beliefs.diagnostics', {}),
  by(
    'ana',
    step(
      'a question that nobody signed',
      'nodes.query',
      { query: {}, sender: 'ana', audience: 'x', timestamp: 'now', nonce: '1', signature: '' },
      refused('UNAUTHORIZED'),
    ),
  ),
  by(
    'ana',
    step(
      'a question for changes that nobody signed',
      'nodes.changes',
      { query: {}, sender: 'ana', audience: 'x', timestamp: 'now', nonce: '2', signature: '' },
      refused('UNAUTHORIZED'),
    ),
  ),
]
