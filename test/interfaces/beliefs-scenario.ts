/** The lens beliefs at every interface, by the rules of `scenario.ts`: three agents, of whom one has nothing. */
import { expect } from 'vitest'
import { keysOf } from '../../src/identity/keys.ts'
import type { Step } from './scenario.ts'

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
  {
    name: 'an agent',
    operation: 'agents.create',
    input: { id: 'dee', label: 'Dee', reputation: 0.4, trust_graph: 'dees' },
  },
  { name: 'an agent twice', operation: 'agents.create', input: { id: 'ana' }, expect: refused('INVALID_QUERY', 'id') },
  {
    name: 'an agent makes an agent',
    operation: 'agents.create',
    viewer: 'ana',
    input: { id: 'eve' },
    expect: refused('UNAUTHORIZED'),
  },
  { name: 'a reputation', operation: 'agents.update', input: { id: 'ben', reputation: 0.9, label: 'Ben' } },
  {
    name: 'agents',
    operation: 'agents.list',
    input: {},
    expect: ({ result }) => expect(result.agents).toHaveLength(4),
  },
  { name: 'a federation', operation: 'federations.create', input: { id: 'reef', label: 'Reef' } },
  {
    name: 'a federation of an agent',
    operation: 'federations.create',
    viewer: 'cy',
    input: { id: 'reef', anonymity: 'pseudonyms' },
  },
  ...['ana', 'ben', 'cy'].map(agent => ({
    name: `${agent} becomes a member`,
    operation: 'federations.set_member',
    input: { federation: 'reef', agent },
  })),
  { name: 'cy leaves', operation: 'federations.leave', viewer: 'cy', input: { federation: 'reef' } },
  {
    name: 'a member',
    operation: 'federations.set_member',
    input: { federation: 'reef', agent: 'ben', role: 'moderator' },
  },
  {
    name: 'a peer that does not answer',
    operation: 'peers.add',
    input: { id: 'far', address: 'http://127.0.0.1:9', did: PEER, federations: ['reef'] },
    expect: ({ result }) => expect(result).toMatchObject({ identity: 'given' }),
  },
  {
    name: 'a peer of whom only the address is known, and which does not answer',
    operation: 'peers.add',
    input: { address: 'http://127.0.0.1:9' },
    expect: refused('NODE_UNAVAILABLE', 'address'),
  },
  { name: 'a peer of an agent', operation: 'peers.add', viewer: 'ana', input: {}, expect: refused('UNAUTHORIZED') },
  {
    name: 'peers',
    operation: 'peers.list',
    input: {},
    expect: ({ result }) => expect(result.peers).toMatchObject([{ id: 'far', did: PEER, network: false }]),
  },
  {
    name: 'who this node is',
    operation: 'peers.about',
    viewer: 'cy',
    input: {},
    expect: ({ result }) => expect(result).toMatchObject({ protocol: 2, network: true }),
  },
  {
    name: 'a peer goes',
    operation: 'peers.remove',
    input: { id: 'far' },
    expect: ({ result }) => expect(result).toEqual({ removed: true }),
  },
  { name: 'an agent with a key of its own', operation: 'agents.create', input: { id: 'fay', did: FAY } },
  {
    name: 'a federation that tells no single beliefs',
    operation: 'federations.create',
    // So much may an answer cost that its noise does not lift nobody over the bar: here and everywhere it says nothing.
    input: { id: 'census', results: 'aggregate', query_epsilon: 5, daily_epsilon: 5 },
    expect: ({ result }) => expect(result.federation).toMatchObject({ aggregates: { least_members: 5 } }),
  },
  {
    name: 'what it tells of a topic',
    operation: 'federations.aggregate',
    input: { federation: 'census', topic: 'Rain' },
    expect: ({ result }) =>
      expect(result).toMatchObject({ aggregate: { topic: 'rain', summary: null }, budget: { epsilon_left: 0 } }),
  },
  {
    name: 'of another, for which nothing is left',
    operation: 'federations.aggregate',
    input: { federation: 'census', domain: 'weather' },
    expect: refused('RATE_LIMITED'),
  },
  {
    name: 'what it tells those who are not in it',
    operation: 'federations.aggregate',
    viewer: 'ana',
    input: { federation: 'census', topic: 'rain' },
    expect: refused('UNAUTHORIZED'),
  },
  { name: 'federations of ana', operation: 'federations.list', viewer: 'ana', input: {} },
  { name: 'federations of cy', operation: 'federations.list', viewer: 'cy', input: {} },
  {
    name: 'ana holds',
    operation: 'beliefs.put',
    viewer: 'ana',
    input: {
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
    },
  },
  {
    name: 'ben holds',
    operation: 'beliefs.put',
    viewer: 'ben',
    input: {
      id: 'showers',
      content: 'Showers of rain come in spring, one day in two',
      visibility: 'public',
      domains: ['weather'],
      derivation: { type: 'hearsay', sources: [{ external_ref: 'https://example.org/rain' }] },
      valid_from: '2026-01-01T00:00:00Z',
      valid_until: '2027-01-01T00:00:00Z',
    },
  },
  {
    name: 'the owner holds',
    operation: 'beliefs.put',
    input: { id: 'snow', content: 'Snow falls in winter, seldom in spring', visibility: 'public' },
  },
  {
    name: 'the same id',
    operation: 'beliefs.put',
    viewer: 'ben',
    input: { id: 'showers', content: 'Else' },
    expect: refused('INVALID_QUERY'),
  },
  {
    name: 'one of a list is wrong',
    operation: 'beliefs.put',
    viewer: 'ben',
    input: {
      beliefs: [
        { id: 'good', content: 'Good' },
        { id: 'bad', content: 'Bad', valid_from: 'soon' },
      ],
    },
    expect: refused('INVALID_QUERY', 'beliefs'),
  },
  {
    name: 'none of it is there',
    operation: 'beliefs.get',
    viewer: 'ben',
    input: { belief_id: 'good' },
    expect: refused('INVALID_QUERY', 'belief_id'),
  },
  {
    name: 'trust',
    operation: 'trust.set',
    viewer: 'ana',
    input: { target: 'ben', trust_level: 0.8, domain_trust: { weather: 0.9 } },
  },
  {
    name: 'trust of ben',
    operation: 'trust.set',
    viewer: 'ben',
    input: { target: 'cy', trust_level: 0.4, exposure: 'exposed' },
  },
  { name: 'whom ana trusts', operation: 'trust.list', viewer: 'ana', input: {} },
  { name: 'trust through another', operation: 'trust.compute', viewer: 'ana', input: { target: 'cy' } },
  {
    name: 'trust in a domain',
    operation: 'trust.compute',
    viewer: 'ana',
    input: { target: 'ben', context: { query_domains: ['weather'] } },
  },
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
  {
    name: 'a filter',
    operation: 'beliefs.query',
    viewer: 'ana',
    input: { semantic: '', filters: [{ domains_include: ['weather'], min_confidence: 0.3 }, 'recent'], options: ALL },
  },
  {
    name: 'a page',
    operation: 'beliefs.query',
    viewer: 'ana',
    input: { ...RAIN, options: { ...ALL, limit: 1 } },
    expect: ({ result }) => expect(result.next_cursor).not.toBeNull(),
  },
  {
    name: 'the page after it',
    operation: 'beliefs.query',
    viewer: 'ana',
    inputFrom: answers => ({ ...RAIN, options: { ...ALL, limit: 1, cursor: answers.get('a page').next_cursor } }),
    expect: ({ result }) => expect(result.beliefs[0].rank).toBe(2),
  },
  {
    name: 'the page of another',
    operation: 'beliefs.query',
    viewer: 'ben',
    inputFrom: answers => ({ ...RAIN, options: { ...ALL, limit: 1, cursor: answers.get('a page').next_cursor } }),
    expect: refused('INVALID_QUERY', 'options.cursor'),
  },
  {
    name: 'nothing asked',
    operation: 'beliefs.query',
    viewer: 'ana',
    input: {},
    expect: refused('INVALID_QUERY', 'semantic'),
  },
  {
    name: 'a field that is none',
    operation: 'beliefs.query',
    viewer: 'ana',
    input: { ...RAIN, foo: 1 },
    expect: refused('INVALID_QUERY', 'foo'),
  },
  {
    name: 'asking as another',
    operation: 'beliefs.query',
    viewer: 'ana',
    input: { ...RAIN, context: { requester_id: 'ben' } },
    expect: refused('UNAUTHORIZED'),
  },
  {
    name: 'a batch, one of it wrong',
    operation: 'beliefs.batch',
    viewer: 'ana',
    input: { queries: [RAIN, { semantic: 3 }] },
  },
  {
    name: 'for a purpose',
    operation: 'beliefs.context_query',
    viewer: 'ana',
    input: { ...RAIN, options: ALL, purpose: 'verify', max_tokens: 200 },
  },
  {
    name: 'like one',
    operation: 'beliefs.similar',
    viewer: 'ana',
    input: { belief_id: 'rain', options: { scope: ALL.scope } },
  },
  {
    name: 'like a hidden one',
    operation: 'beliefs.similar',
    viewer: 'ben',
    input: { belief_id: 'rain' },
    expect: refused('INVALID_QUERY', 'belief_id'),
  },
  { name: 'whence', operation: 'beliefs.derivation', viewer: 'ana', input: { belief_id: 'wet', max_depth: 2 } },
  {
    name: 'whence, for one who sees less',
    operation: 'beliefs.derivation',
    viewer: 'ben',
    input: { belief_id: 'wet' },
  },
  {
    name: 'why',
    operation: 'beliefs.explain',
    viewer: 'ana',
    input: { belief_id: 'rain', query: { ...RAIN, options: ALL } },
  },
  {
    name: 'why this over that',
    operation: 'beliefs.explain',
    viewer: 'ana',
    input: { belief_id: 'rain', query: { ...RAIN, options: ALL }, other_id: 'showers' },
  },
  {
    name: 'why not',
    operation: 'beliefs.explain',
    viewer: 'ana',
    input: { belief_id: 'showers', query: { ...RAIN, filters: { min_confidence: 0.99 }, options: ALL } },
  },
  {
    name: 'why a hidden one',
    operation: 'beliefs.explain',
    viewer: 'cy',
    input: { belief_id: 'rain', query: RAIN },
    expect: refused('INVALID_QUERY', 'belief_id'),
  },
  {
    name: 'watching has no whole answer',
    operation: 'beliefs.watch',
    viewer: 'ana',
    input: { query: RAIN },
    expect: refused('INVALID_QUERY'),
  },
  {
    name: 'a next version',
    operation: 'beliefs.supersede',
    viewer: 'ana',
    input: { belief_id: 'dry', id: 'dry-2', content: 'Rain is not likely in a spring after a dry winter' },
  },
  {
    name: 'its versions',
    operation: 'beliefs.get',
    viewer: 'ana',
    input: { belief_id: 'dry-2', include_superseded: true },
  },
  {
    name: 'deleting what is not there',
    operation: 'beliefs.delete',
    viewer: 'cy',
    input: { belief_id: 'none' },
    expect: refused('INVALID_QUERY', 'belief_id'),
  },
  { name: 'deleting', operation: 'beliefs.delete', viewer: 'ana', input: { belief_id: 'dry-2' } },
  {
    name: 'it is gone',
    operation: 'beliefs.query',
    viewer: 'cy',
    input: { ...RAIN, options: ALL },
    expect: ({ result }) => expect(idsOf(result)).not.toContain('dry-2'),
  },
  { name: 'no trust any more', operation: 'trust.remove', viewer: 'ana', input: { target: 'ben' } },
  { name: 'what it has come to', operation: 'beliefs.diagnostics', input: {} },
  {
    name: 'a question that nobody signed',
    operation: 'nodes.query',
    viewer: 'ana',
    input: { query: {}, sender: 'ana', audience: 'x', timestamp: 'now', nonce: '1', signature: '' },
    expect: refused('UNAUTHORIZED'),
  },
  {
    name: 'a question for changes that nobody signed',
    operation: 'nodes.changes',
    viewer: 'ana',
    input: { query: {}, sender: 'ana', audience: 'x', timestamp: 'now', nonce: '2', signature: '' },
    expect: refused('UNAUTHORIZED'),
  },
]
