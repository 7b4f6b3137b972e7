/**
 * A member of a federation learns from no answer whose belief another member's is (BQ-104): two worlds that differ only in
 * the requester's trust in two members, within one band, give equal bytes. Of strict federations and of those with
 * pseudonyms; through the library and over HTTP (BQ-028, BQ-051, BQ-056, BQ-072, BQ-080, BQ-081, BQ-106, BQ-107).
 */
import { describe, expect, it, onTestFinished } from 'vitest'
import { SettableClock } from '../../src/base/clock.ts'
import type { Engine } from '../../src/engine/engine.ts'
import type { RankedBelief } from '../../src/lenses/beliefs/model.ts'
import type { BeliefQuery } from '../../src/lenses/beliefs/schema/query.ts'
import { beliefsOf } from '../../src/openings/beliefs.ts'
import { FEDERATIONS } from '../../src/store/core-tables.ts'
import { openMemoryStore } from '../../src/store/sqlite-store.ts'
import { callOperation, type Json, openBeliefsEngine } from '../support/beliefs-engine.ts'
import { LIBRARY } from '../support/beliefs-hidden-world.ts'
import { openOverHttp } from '../support/beliefs-over-http.ts'
import { seededBytes } from '../support/seeded.ts'

const NOW = Date.parse('2026-03-01T12:00:00Z')
const HOUR = 3_600_000
const MODES = ['strict', 'pseudonyms'] as const
type Mode = (typeof MODES)[number]
/** Trust in bob and cat. */
type Levels = readonly [number, number]

/** Two worlds each, of one band: high, medium, low. */
const BANDS: readonly (readonly [string, Levels, Levels])[] = [
  ['high', [0.63, 0.45], [0.45, 0.99]],
  ['medium', [0.21, 0.38], [0.39, 0.25]],
  ['low', [0, 0.15], [0.12, 0.02]],
]

async function openWorld(mode: Mode, [bob, cat]: Levels): Promise<{ engine: Engine; clock: SettableClock }> {
  const random = seededBytes(7)
  const clock = new SettableClock(NOW)
  const engine = await openBeliefsEngine({ store: openMemoryStore(), clock, random, limits: { burst: 10_000 } })
  onTestFinished(() => engine.close())
  const call = (operation: string, by: string, input: Json) => callOperation(engine, operation, by, input)
  for (const id of ['ann', 'bob', 'cat']) await call('agents.create', 'owner', { id })
  // A public reputation apart from all others would name its holder too.
  await call('agents.update', 'owner', { id: 'bob', reputation: 0.96, reputation_by_domain: { science: 0.9 } })
  await call('agents.update', 'owner', { id: 'cat', reputation: 0.2 })
  await call('federations.create', 'owner', { id: 'reef', anonymity: mode, reputation: 0.5 })
  for (const agent of ['ann', 'bob', 'cat'])
    await call('federations.set_member', 'owner', { federation: 'reef', agent })
  await call('trust.set', 'ann', { target: 'bob', trust_level: bob })
  await call('trust.set', 'ann', { target: 'cat', trust_level: cat, domain_trust: { science: cat } })
  const shared = { visibility: 'federated', federation_ids: ['reef'], domains: ['science'] }
  await call('beliefs.put', 'bob', { id: 'b1', content: 'The old fox sleeps.', ...shared })
  await call('beliefs.put', 'bob', { id: 'b2', content: 'A fox eats honey.', ...shared })
  await call('beliefs.put', 'cat', { id: 'c1', content: 'The fox never sleeps.', ...shared })
  await call('beliefs.put', 'cat', {
    ...{ id: 'c2', content: 'The garden has a fox.', ...shared },
    derivation: { type: 'inference', sources: [{ belief_id: 'b1' }] },
  })
  clock.set(NOW + HOUR)
  return { engine, clock }
}

const OPTIONS = { scope: { federated: true }, include_explanation: true }
const ASKED = { semantic: 'fox', context: { query_domains: ['science'] }, options: OPTIONS }
const filtered = (filters: unknown) => ['beliefs.query', { ...ASKED, filters }] as const
const CALLS: readonly (readonly [operation: string, input: Json])[] = [
  ['beliefs.query', ASKED],
  ['beliefs.query', { ...ASKED, options: { ...OPTIONS, limit: 1 } }],
  ['beliefs.query', { semantic: 'fox', context: { ranking_weights: { trust: 1 } }, options: OPTIONS }],
  ['beliefs.query', { ...ASKED, options: { ...OPTIONS, diversity: { enabled: true, max_per_holder: 1 } } }],
  filtered('from_trusted'),
  ...[0.1, 0.3, 0.5, 0.96].map(least => filtered({ min_holder_reputation: least })),
  ...['bob', 'cat'].flatMap(id => [filtered({ holder_ids: [id] }), filtered({ exclude_holders: [id] })]),
  ['beliefs.count', { ...ASKED, filters: 'from_trusted', options: { scope: { federated: true } } }],
  ['beliefs.facets', { query: { ...ASKED, options: { scope: { federated: true } } }, fields: ['holder_id'] }],
  ['beliefs.similar', { belief_id: 'b1', options: { scope: { federated: true }, min_similarity: 0 } }],
  ['beliefs.contradictions', { belief_id: 'b1', options: { scope: { federated: true } } }],
  ['beliefs.explain', { belief_id: 'b1', query: ASKED, other_id: 'c1' }],
  ['beliefs.explain', { belief_id: 'c2', query: { ...ASKED, filters: 'from_trusted' } }],
  [
    'beliefs.context_query',
    { semantic: 'fox', purpose: 'verify', max_tokens: 100, options: { scope: { federated: true } } },
  ],
  ['beliefs.derivation', { belief_id: 'c2' }],
  ['beliefs.get', { belief_id: 'b1' }],
  ['trust.list', {}],
]

/** Without measured times, and without what the requester itself has said of the two. */
function comparable(answer: string): string {
  return answer
    .replace(/"(query_time_ms|total_time_ms|elapsed_ms)":[\d.e-]+/g, '"$1":0')
    .replace(/"request_id":"[^"]*"/g, '"request_id":""')
    .replace(/"(trust_level|signature)":("[^"]*"|[\d.e-]+)/g, '"$1":0')
    .replace(/"domain_trust":\{[^}]*\}/g, '"domain_trust":{}')
}

const INTERFACES = [
  ['the library', LIBRARY],
  ['HTTP', (engine: Engine) => openOverHttp(engine, () => undefined)],
] as const

async function answersOf(mode: Mode, levels: Levels, open: (typeof INTERFACES)[number][1]): Promise<readonly string[]> {
  const { engine, clock } = await openWorld(mode, levels)
  const served = await open(engine)
  const answers: string[] = []
  try {
    for (const [operation, input] of CALLS) {
      clock.set(clock.now() + 120_000)
      const answer = await served.ask({ by: 'ann', operation, input })
      answers.push(comparable(answer))
      const cursor = answer.match(/"next_cursor":"([^"]*)"/)?.[1]
      if (cursor === undefined) continue
      const options = { ...(input['options'] as object), cursor }
      answers.push(comparable(await served.ask({ by: 'ann', operation, input: { ...input, options } })))
    }
  } finally {
    await served.close()
  }
  return answers
}

describe.each(MODES)('BQ-104: in a federation of the mode %s', mode => {
  describe.each(INTERFACES)('asked through %s', (_, open) => {
    it.each(BANDS)('no answer depends on the trust in members within the band %s', async (_band, one, other) => {
      const [some, others] = [await answersOf(mode, one, open), await answersOf(mode, other, open)]
      for (const [at, answer] of some.entries()) expect(others[at]).toEqual(answer)
      expect(some.filter(answer => answer.includes('"b1"')).length).toBeGreaterThan(10)
      expect(some.filter(answer => answer.includes('"code"') && answer.includes('INTERNAL'))).toEqual([])
    })
  })

  it('no answer depends on a page order that another process rebuilds', async () => {
    const pages = async (levels: Levels) => {
      const { engine } = await openWorld(mode, levels)
      const input: Json = { ...ASKED, options: { ...OPTIONS, limit: 1 } }
      const found: unknown[] = []
      for (let cursor: unknown = null; cursor !== undefined; ) {
        const options = { ...(input['options'] as object), cursor }
        const page = await callOperation(engine, 'beliefs.query', 'ann', { ...input, options })
        found.push(comparable(JSON.stringify(page)))
        cursor = page['next_cursor']
      }
      return found
    }
    const [, one, other] = BANDS[0] as (typeof BANDS)[number]
    const found = await pages(one)
    expect(found).toHaveLength(4)
    expect(await pages(other)).toEqual(found)
  })

  it('live queries report nothing of a change of trust in a member within its band', async () => {
    const [, one, other] = BANDS[0] as (typeof BANDS)[number]
    const query = { semantic: 'fox', options: { scope: { federated: true } } } satisfies BeliefQuery
    const libraryEvents = async (first: Levels, then: Levels) => {
      const { engine } = await openWorld(mode, first)
      const events: string[] = []
      const isDone = Promise.withResolvers<void>()
      const subscription = await beliefsOf(engine, { id: 'ann' }).subscribe(
        query,
        event => {
          events.push(comparable(JSON.stringify(event)))
          if (event.id === 'last') isDone.resolve()
        },
        { debounce_ms: 0, include_reranks: true },
      )
      await change(engine, then)
      await isDone.promise
      subscription.cancel()
      return events
    }
    const httpEvents = async (first: Levels, then: Levels) => {
      const { engine } = await openWorld(mode, first)
      const served = await openOverHttp(engine, () => undefined)
      const stop = new AbortController()
      try {
        const input = { query, options: { debounce_ms: 0, include_reranks: true } }
        const response = await served.post('/v1/beliefs/events', input, stop.signal)
        const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
        let text = ''
        const readUntil = async (part: string) => {
          while (!text.includes(part)) text += (await reader?.read())?.value ?? ''
        }
        await readUntil('"seq":4')
        await change(engine, then)
        await readUntil('"id":"last"')
        return comparable(text)
          .split('\n')
          .filter(line => !line.includes('"type":"alive"'))
      } finally {
        stop.abort()
        await served.close()
      }
    }
    for (const eventsOf of [libraryEvents, httpEvents]) {
      const events = await eventsOf(one, other)
      expect(await eventsOf(other, one)).toEqual(events)
      expect(events.join('\n')).not.toContain('score_changed')
    }
  })
})

describe('BQ-099, BQ-101, BQ-104: a federation', () => {
  const holderOf = async (engine: Engine, id: string) => {
    const input = { semantic: 'fox', filters: { visibility_levels: ['federated'] }, options: OPTIONS }
    const { beliefs } = (await callOperation(engine, 'beliefs.query', 'ann', input)) as { beliefs: readonly Json[] }
    const found = beliefs.map(({ belief }) => belief as Json).find(belief => belief['id'] === id)
    return found?.['holder_id']
  }

  it('is strict unless its creator asks for pseudonyms', async () => {
    const { engine } = await openWorld('pseudonyms', [0.5, 0.5])
    const modeOf = async (input: Json) => {
      const { federation } = await callOperation(engine, 'federations.create', 'owner', input)
      return (federation as Json)['anonymity']
    }
    expect(await modeOf({ id: 'usual' })).toBe('strict')
    expect(await modeOf({ id: 'named', anonymity: 'pseudonyms' })).toBe('pseudonyms')
    expect(await holderOf(engine, 'b1')).toMatch(/^holder:[\w-]{26}$/)
    const strict = await openWorld('strict', [0.5, 0.5])
    expect(await holderOf(strict.engine, 'b1')).toBeNull()
  })

  it('that was created before the default was strict keeps its pseudonyms', async () => {
    const { engine } = await openWorld('pseudonyms', [0.5, 0.5])
    const { store, clock } = engine.host('beliefs')
    store.write(clock.now(), writer => {
      const row = writer.table(FEDERATIONS).get({ id: 'reef' })
      writer.table(FEDERATIONS).put({ ...row, id: 'reef', anonymity: null })
    })
    expect(await holderOf(engine, 'b1')).toMatch(/^holder:/)
    const { federations } = (await callOperation(engine, 'federations.list', 'owner', {})) as {
      federations: readonly Json[]
    }
    expect(federations[0]).toMatchObject({ id: 'reef', anonymity: 'pseudonyms' })
  })

  it('BQ-049: that is strict shows no holder to match: no list admits its beliefs, and none shuts them out', async () => {
    const { engine } = await openWorld('strict', [0.5, 0.5])
    const idsOf = async (filters: Json) => {
      const { beliefs } = await callOperation(engine, 'beliefs.query', 'ann', { ...ASKED, filters })
      return (beliefs as readonly { belief: Json }[]).map(({ belief }) => belief['id'])
    }
    expect(await idsOf({ holder_ids: ['bob', 'cat'] })).toEqual([])
    expect(await idsOf({ exclude_holders: ['bob', 'cat'] })).toHaveLength(4)
  })

  it.each(MODES)('filters by its own edge and reputation in the mode %s (BQ-051, BQ-056)', async mode => {
    const { engine } = await openWorld(mode, [0.9, 0.9])
    const countOf = async (filters: unknown) => {
      const { beliefs } = await callOperation(engine, 'beliefs.query', 'ann', { ...ASKED, filters })
      return (beliefs as readonly unknown[]).length
    }
    expect(await countOf('from_trusted')).toBe(0)
    expect(await countOf({ min_holder_reputation: 0.5 })).toBe(4)
    expect(await countOf({ min_holder_reputation: 0.51 })).toBe(0)
    await callOperation(engine, 'trust.set', 'ann', { target: 'federation:reef', trust_level: 0.9 })
    expect(await countOf('from_trusted')).toBe(4)
  })

  it.each([
    ['strict', { of: 'federation', kind: 'reputation', value: 0.15, shared: { band: 'low', sources: 'one' } }],
    ['pseudonyms', { of: 'holder', kind: 'direct', value: 0.7, shared: { band: 'high', sources: 'one' } }],
  ] as const)(
    'counts and shows trust by its mode %s, and no more than a band (BQ-028, BQ-106, BQ-107)',
    async (mode, part) => {
      const { engine } = await openWorld(mode, [0.63, 0.45])
      const { beliefs } = await callOperation(engine, 'beliefs.query', 'ann', ASKED)
      for (const { score, explanation } of beliefs as readonly RankedBelief[]) {
        if (explanation === undefined) throw new Error('asked for')
        expect(score.components.trust_score).toBe(part.value)
        expect(explanation.trust).toEqual({ ...part, weight: 0.3, contribution: expect.closeTo(0.3 * part.value, 12) })
        const { semantic, confidence, trust, recency } = explanation
        const sum = [semantic, confidence, trust, recency].reduce((total, one) => total + one.contribution, 0)
        expect(sum).toBeCloseTo(score.final, 9)
      }
    },
  )
})

/** Trust in the members, and then a belief by which one sees that this has been heard. */
async function change(engine: Engine, [bob, cat]: Levels): Promise<void> {
  await callOperation(engine, 'trust.set', 'ann', { target: 'bob', trust_level: bob })
  await callOperation(engine, 'trust.set', 'ann', { target: 'cat', trust_level: cat })
  const shared = { visibility: 'federated', federation_ids: ['reef'] }
  await callOperation(engine, 'beliefs.put', 'cat', { id: 'last', content: 'Honey for the fox.', ...shared })
}
