/**
 * What is not shared with a federation changes no byte of what its members receive, with the same chance (BQ-105,
 * BQ-111); and what is shared with one that tells aggregates alone changes none of their questions about beliefs.
 */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type Census, openCensus, PLAIN } from '../../../../support/aggregates.ts'
import type { Json } from '../../../../support/beliefs-engine.ts'

interface Act {
  readonly by: string
  readonly operation: string
  readonly input: Json
}

const MEMBERS = 10

/** Nothing of the census: beliefs elsewhere, people, other federations, trust, and questions of others there. */
const hidden: fc.Arbitrary<Act> = fc.oneof(
  fc
    .record({ at: fc.nat(MEMBERS - 1), id: fc.constantFrom('h0', 'h1', 'h2'), where: fc.nat(2) })
    .map(({ at, id, where }) => ({
      ...{ by: `m${at}`, operation: 'beliefs.put' },
      input: {
        ...{ id, content: `hidden foxes of m${at}`, domains: ['science'] },
        ...(where === 0 ? { visibility: 'private' } : { visibility: 'federated', federation_ids: [`other${where}`] }),
      },
    })),
  fc.record({ at: fc.nat(MEMBERS - 1), one: fc.constantFrom('1', '2') }).map(({ at, one }) => ({
    ...{ by: 'owner', operation: 'federations.set_member' },
    input: { federation: `other${one}`, agent: `m${at}`, status: at % 2 === 0 ? 'active' : 'departed' },
  })),
  fc
    .record({ at: fc.integer({ min: 1, max: MEMBERS - 1 }), level: fc.double({ min: 0, max: 1, noNaN: true }) })
    .map(({ at, level }) => ({
      ...{ by: `m${at}`, operation: 'trust.set' },
      input: { target: 'm0', trust_level: level },
    })),
  fc.constant({ by: 'owner', operation: 'federations.aggregate', input: { federation: 'other2', topic: 'foxes' } }),
)

const QUESTIONS: readonly Json[] = [
  { topic: 'foxes' },
  { topic: 'crows' },
  { domain: 'science' },
  { topic: 'foxes number' },
]

async function openWorld(embedder: 'toy' | 'none'): Promise<Census> {
  const census = await openCensus(MEMBERS, { rules: PLAIN, ...(embedder === 'none' && { embedder }) })
  await census.call('federations.create', 'owner', { id: 'other1' })
  await census.call('federations.create', 'owner', { id: 'other2', results: 'aggregate' })
  for (let at = 0; at < MEMBERS; at++)
    await census.hold(`m${at}`, `foxes number ${at}`, { domains: at % 2 === 0 ? ['science'] : ['arts'] })
  return census
}

/** Chance is no news: each question draws from the start of a stream of its own. */
async function reported(embedder: 'toy' | 'none', secrets: readonly Act[]): Promise<readonly string[]> {
  const answers: string[] = []
  for (const question of QUESTIONS) {
    await using census = await openWorld(embedder)
    await census.call('beliefs.query', 'm0', { semantic: 'foxes', options: { scope: { federated: true } } })
    for (const { by, operation, input } of secrets) await census.call(operation, by, input).catch(() => undefined)
    census.reseed(7)
    answers.push(JSON.stringify(await census.ask('m0', question)))
  }
  return answers
}

it('BQ-105, BQ-111: what is hidden changes no byte of an aggregate', async () => {
  let figures = 0
  const property = fc.asyncProperty(
    fc.constantFrom('toy' as const, 'none' as const),
    fc.array(hidden, { minLength: 1, maxLength: 8 }),
    async (embedder, secrets) => {
      const plain = await reported(embedder, [])
      expect(await reported(embedder, secrets)).toEqual(plain)
      figures += plain.filter(answer => answer.includes('"member_count"')).length
    },
  )
  await fc.assert(property, { numRuns: 8 })
  // Answers without figures are the same in any two worlds.
  expect(figures).toBeGreaterThan(0)
})

it('BQ-105, BQ-111: what others share with a federation of aggregates changes no byte of a question about beliefs', async () => {
  const options = { scope: { local: true, federated: true, network: true }, include_explanation: true }
  const asked: readonly (readonly [string, Json])[] = [
    ['beliefs.query', { semantic: 'foxes', options }],
    ['beliefs.count', { semantic: 'foxes', options }],
    ['beliefs.facets', { query: { semantic: 'foxes', options }, fields: ['domains', 'holder_id'] }],
    ['beliefs.get', { belief_id: 'c3' }],
    ['query', { text: 'foxes', lens: 'beliefs' }],
    ['query', { text: 'foxes', lens: 'default' }],
    ['federations.list', {}],
  ]
  const answersOf = async (shared: number) => {
    await using census = await openCensus(5)
    await census.hold('m0', 'foxes of my own', { id: 'own' })
    await census.call('beliefs.put', 'm1', { id: 'open', content: 'foxes for all', visibility: 'public' })
    for (let at = 0; at < shared; at++) await census.hold(`m${1 + (at % 4)}`, `foxes number ${at}`, { id: `c${at}` })
    const answers: string[] = []
    for (const [operation, input] of asked) {
      census.reseed(9)
      const answer = await census.call(operation, 'm0', input).catch(error => error.toJSON())
      answers.push(JSON.stringify(answer).replace(/"(query_time_ms|request_id)":("[^"]*"|[\d.]+)/g, ''))
    }
    return answers
  }
  expect(await answersOf(12)).toEqual(await answersOf(0))
})
