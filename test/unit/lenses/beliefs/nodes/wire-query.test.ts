/** What leaves a node (BQ-121): everything that must not is planted in a question, and looked for in the bytes that were sent. */
import { expect, it } from 'vitest'
import type { EngineOptions } from '../../../../../src/engine/options.ts'
import type { WireQuery } from '../../../../../src/lenses/beliefs/nodes/wire/protocol.ts'
import { EVERYWHERE, openBirds, PUBLIC, SHARED, say } from '../../../../support/nodes-world.ts'

async function sentBy(
  query: Record<string, unknown>,
  given: Partial<EngineOptions> = {},
): Promise<readonly { readonly text: string; readonly query: WireQuery }[]> {
  await using birds = await openBirds(given)
  await say(birds.home, 'ana', 'own', 'swifts sleep in the air', { domains: ['birds/swifts'] })
  await say(birds.north, 'bo', 'shared', 'swifts nest under roofs', SHARED)
  await say(birds.south, 'dee', 'public', 'swifts fly south', PUBLIC)
  await birds.home.call('agents.create', 'owner', { id: 'trusted-friend' })
  await birds.home.call('trust.set', 'ana', { target: 'trusted-friend', trust_level: 0.8765 })
  const options = { ...EVERYWHERE, ...(query['options'] as object | undefined) }
  await birds.home.call('beliefs.query', 'ana', { ...query, options })
  return birds.world.transport.sent
    .filter(({ message }) => message.path === '/v1/nodes/query')
    .map(({ message }) => ({
      text: JSON.stringify(message.body),
      query: (message.body as unknown as { query: WireQuery }).query,
    }))
}

it.each<[string, Partial<EngineOptions>]>([
  ['a vector', {}],
  ['a text', { embedder: 'none' }],
])(
  'BQ-121: with %s, the trust graph, weights, holders, reputation bounds, query domains and exclusions stay here',
  async (_, given) => {
    const asked = {
      semantic: 'swifts -shutout +included',
      filters: [
        {
          holder_ids: ['planted-holder', 'ana'],
          exclude_holders: ['planted-enemy'],
          min_holder_reputation: 0.1234,
          max_derivation_depth: 7,
          min_confidence: { overall: 0.0123, temporal_freshness: 0.0321, corroboration: 0.05 },
        },
        'from_trusted',
      ],
      context: {
        requester_id: 'ana',
        trust_weight: 0.4321,
        query_domains: ['planted/domain'],
        domain_trust_weight: 0.6789,
        max_trust_hops: 2,
        confidence_weights: { corroboration: 0.9182 },
      },
      options: { limit: 5, include_explanation: true, diversity: { enabled: true, max_per_holder: 2, lambda: 0.5555 } },
    }
    const sent = await sentBy(asked, given)
    expect(sent).toHaveLength(2)
    for (const { text, query } of sent) {
      for (const planted of [
        'shutout',
        'planted',
        'trusted-friend',
        '0.8765',
        '0.1234',
        '0.0123',
        '0.0321',
        '0.4321',
        '0.6789',
        '0.9182',
        '0.5555',
        'lambda',
        'cursor',
        'weight',
        'trust',
        'holder',
        'explanation',
      ]) {
        expect([planted, text.includes(planted)]).toEqual([planted, false])
      }
      expect(Object.keys(query).toSorted()).toEqual([
        'filters',
        'limit',
        'protocol',
        'scope',
        'text',
        'timeout_ms',
        'vector',
      ])
      expect(query.filters[0]?.min_confidence).toEqual({ corroboration: 0.05 })
    }
  },
)

it('BQ-121: validity, creation and confidence bounds, domains, types and levels go along', async () => {
  const [{ query } = { query: null }] = await sentBy({
    semantic: '',
    filters: {
      valid_at: '2026-05-01T00:00:00Z',
      created_after: '2026-01-01T00:00:00Z',
      created_before: '2026-06-30T00:00:00Z',
      min_confidence: { source_reliability: 0.3, temporal_freshness: 0.2 },
      domains_include: ['birds'],
      domains_exclude: ['birds/penguins'],
      derivation_types: ['observation', 'assumption'],
      visibility_levels: ['public', 'federated'],
    },
  })
  expect(query?.filters).toEqual([
    {
      valid_at: '2026-05-01T00:00:00.000Z',
      created_after: '2026-01-01T00:00:00.000Z',
      created_before: '2026-06-30T00:00:00.000Z',
      min_confidence: { source_reliability: 0.3, temporal_freshness: 0.2 },
      domains_include: ['birds'],
      domains_exclude: ['birds/penguins'],
      derivation_types: ['observation', 'assumption'],
      visibility_levels: ['public', 'federated'],
    },
  ])
  expect([query?.text, query?.vector]).toEqual([null, null])
})

it('BQ-121: a window of days is sent as a moment, and without one what holds now is asked for', async () => {
  const [recent] = await sentBy({ semantic: 'swifts', filters: 'recent' })
  expect(recent?.query.filters[0]).toMatchObject({
    created_after: '2026-05-02T12:00:00.000Z',
    valid_at: '2026-06-01T12:00:00.000Z',
  })
  const [plain] = await sentBy({ semantic: 'swifts' })
  expect(plain?.query.filters[0]?.valid_at).toBe('2026-06-01T12:00:00.000Z')
})

it('BQ-121: a node that has the same model receives the vector, and not the text', async () => {
  const sent = await sentBy({ semantic: 'swifts in the summer' })
  for (const { text, query } of sent) {
    expect(query.vector?.model).toBe('toy@toy')
    expect([query.text, text.includes('summer')]).toEqual([null, false])
  }
})

it('BQ-121: min_similarity is sent where it was asked for, and any as the least there is', async () => {
  const sentFor = async (options: Record<string, unknown>) => {
    const [sent] = await sentBy({ semantic: 'swifts', options })
    return sent?.query.min_similarity
  }
  expect(await sentFor({ min_similarity: 0.4 })).toBe(0.4)
  expect(await sentFor({ any: true })).toBe(-1)
  expect(await sentFor({})).toBeUndefined()
})
