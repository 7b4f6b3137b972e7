/** The true figures: whose beliefs count, and how much one member moves them (BQ-105). */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { atOnce } from '../../../../../src/base/turns.ts'
import type { Tally } from '../../../../../src/lenses/beliefs/aggregates/mechanism.ts'
import { type Topic, tallyOf, textTopic } from '../../../../../src/lenses/beliefs/aggregates/tally.ts'
import { stateOf } from '../../../../../src/lenses/beliefs/state.ts'
import { type Census, DAY, openCensus, START } from '../../../../support/aggregates.ts'
import { toyVector } from '../../../../support/toy-embedder.ts'

function figures({ engine }: Census, topic: Topic): Tally {
  const host = engine.host('beliefs')
  const state = stateOf(host)
  const vector = topic.kind === 'text' && host.embedder !== null ? toyVector(topic.text) : null
  return state.look('m0', view => atOnce(tallyOf(state, view, 'census', { topic, vector }, host.clock.now())))
}

const FOXES = textTopic('Foxes')
const SCIENCE: Topic = { kind: 'domain', domain: 'science' }

describe('the figures of a topic', () => {
  it('BQ-105: count each member once, and of its beliefs three', async () => {
    await using census = await openCensus(3)
    for (let at = 0; at < 5; at++) await census.hold('m0', `foxes number ${at}`)
    await census.hold('m1', 'foxes are here')
    await census.hold('m2', 'crows are here')
    expect(figures(census, FOXES)).toEqual({ members: 2, beliefs: 4 })
  })

  it('count copies of one content for each who holds it', async () => {
    await using census = await openCensus(3)
    for (const by of ['m0', 'm1', 'm2']) await census.hold(by, 'foxes are here')
    expect(figures(census, FOXES)).toEqual({ members: 3, beliefs: 3 })
  })

  it('are of what active members share with that federation and hold now', async () => {
    await using census = await openCensus(5)
    await census.hold('m0', 'foxes are here')
    await census.hold('m0', 'foxes of old', { valid_from: '2026-01-01T00:00:00Z', valid_until: '2026-05-01T00:00:00Z' })
    await census.hold('m0', 'foxes to come', { valid_from: '2026-07-01T00:00:00Z' })
    await census.call('beliefs.put', 'm1', { content: 'foxes are mine', visibility: 'private' })
    await census.call('beliefs.put', 'm1', { content: 'foxes are everybody’s', visibility: 'public' })
    await census.call('federations.create', 'owner', { id: 'other' })
    await census.call('federations.set_member', 'owner', { federation: 'other', agent: 'm2' })
    await census.hold('m2', 'foxes elsewhere', { federation_ids: ['other'] })
    await census.hold('m3', 'foxes by one who left')
    await census.call('federations.leave', 'm3', { federation: 'census' })
    await census.hold('m4', 'foxes for the time being', { id: 'gone' })
    expect(figures(census, FOXES)).toEqual({ members: 2, beliefs: 2 })
    await census.call('beliefs.delete', 'm4', { belief_id: 'gone' })
    expect(figures(census, FOXES)).toEqual({ members: 1, beliefs: 1 })
    census.clock.set(START + 40 * DAY)
    expect(figures(census, FOXES)).toEqual({ members: 1, beliefs: 2 })
  })

  it.each(['toy', 'none'] as const)('go by words and, with an embedder, by meaning: %s', async embedder => {
    await using census = await openCensus(3, embedder === 'none' ? { embedder } : {})
    await census.hold('m0', 'a fox')
    await census.hold('m1', 'a vixen')
    await census.hold('m2', 'a crow')
    expect(figures(census, textTopic('Fox')).members).toBe(embedder === 'toy' ? 2 : 1)
  })

  it('of a domain are of all below it', async () => {
    await using census = await openCensus(3)
    await census.hold('m0', 'one', { domains: ['science'] })
    await census.hold('m1', 'two', { domains: ['science/biology', 'arts'] })
    await census.hold('m2', 'three', { domains: ['sciences'] })
    expect(figures(census, SCIENCE)).toEqual({ members: 2, beliefs: 2 })
  })
})

/** What one member may hold: some of it on the topic, some shared, some not. */
const holdings = fc.array(
  fc.record({
    content: fc.constantFrom('foxes', 'a vixen', 'crows', 'foxes and crows', 'old foxes'),
    domains: fc.constantFrom(['science'], ['science/biology'], ['arts'], []),
    visibility: fc.constantFrom('federated', 'federated', 'federated', 'private', 'public'),
  }),
  { maxLength: 6 },
)

it('BQ-105: no member moves them by more than one member and three beliefs, whatever it holds in place of what', async () => {
  const property = fc.asyncProperty(
    fc.array(holdings, { minLength: 2, maxLength: 4 }),
    holdings,
    fc.constantFrom('toy' as const, 'none' as const),
    async (all, changed, embedder) => {
      await using census = await openCensus(all.length, embedder === 'none' ? { embedder } : {})
      const put = async (by: string, held: readonly object[]) => {
        for (const [at, { visibility, ...one }] of (held as readonly { visibility: string }[]).entries()) {
          const federation_ids = visibility === 'federated' ? ['census'] : []
          await census.call('beliefs.put', by, { id: `b${at}`, visibility, federation_ids, ...one })
        }
      }
      for (const [at, held] of all.entries()) await put(`m${at}`, held)
      const before = [FOXES, SCIENCE].map(topic => figures(census, topic))
      for (const at of (all[0] ?? []).keys()) await census.call('beliefs.delete', 'm0', { belief_id: `b${at}` })
      await put(
        'm0',
        changed.map((one, at) => ({ ...one, id: `c${at}` })),
      )
      for (const [at, topic] of [FOXES, SCIENCE].entries()) {
        const [was, is] = [before[at] as Tally, figures(census, topic)]
        expect(Math.abs(is.members - was.members)).toBeLessThanOrEqual(1)
        expect(Math.abs(is.beliefs - was.beliefs)).toBeLessThanOrEqual(3)
      }
    },
  )
  await fc.assert(property, { numRuns: 30 })
})
