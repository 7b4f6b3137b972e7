/**
 * What is kept from query to query (what is in scope, contents, trust, rows of vectors) follows what is written:
 * an engine that has answered all along says what one says that was opened just now, to the byte of its cursors.
 */
import fc from 'fast-check'
import { expect, it, vi } from 'vitest'
import { openMemoryStore } from '../../../../../src/store/sqlite-store.ts'
import type { Json } from '../../../../support/beliefs-engine.ts'
import { EVERYWHERE } from '../../../../support/beliefs-paging.ts'
import { PATIENCE_MS } from '../../../../support/patience.ts'
import { ids, World } from '../paging/world.ts'

vi.mock('../../../../../src/identity/keys.ts', async original => {
  const { keptKeys } = await import('../../../../support/kept-keys.ts')
  return keptKeys(original)
})

const LONG = process.env['QUERENT_LONG'] === '1'
const HOLDERS = ['bob', 'cyd', 'dan'] as const
const DAY_MS = 86_400_000

const holder = fc.constantFrom(...HOLDERS)
const id = fc.nat({ max: 9 }).map(n => `b${n}`)
const share = fc.nat({ max: 10 }).map(tenths => tenths / 10)
/** Few, so that several say the same. */
const content = fc.tuple(fc.constantFrom('fox', 'honey', 'moon'), fc.nat({ max: 3 })).map(parts => parts.join(' '))
const seenBy = fc.constantFrom(
  { visibility: 'public' },
  { visibility: 'private' },
  { visibility: 'federated', federation_ids: ['lab'] },
)
const validity = fc.constantFrom({}, { valid_until: 2 }, { valid_from: 1 })

type Act = (world: World) => Promise<unknown>

const put = fc
  .record({ by: holder, id, content, seenBy, share, validity })
  .map(({ by, seenBy: accessScope, share: corroboration, validity: days, ...said }): Act => {
    return async world => {
      const times = Object.entries(days).map(([name, after]) => [name, dateAfter(world, after)])
      const belief = { ...said, ...accessScope, ...Object.fromEntries(times), confidence: { corroboration } }
      await world.call('beliefs.put', by, belief).catch(refused)
    }
  })
const supersede = fc
  .record({ by: holder, belief_id: id, content, seenBy })
  .map(({ by, seenBy: accessScope, ...said }): Act => {
    return world => world.call('beliefs.supersede', by, { ...said, ...accessScope }).catch(refused)
  })
const remove = fc.record({ by: holder, belief_id: id }).map(({ by, ...named }): Act => {
  return world => world.call('beliefs.delete', by, named).catch(refused)
})
const trust = fc.record({ by: fc.constantFrom('ann', 'bob', 'cyd'), target: holder, trust_level: share }).map(
  ({ by, ...edge }): Act =>
    world =>
      world.call('trust.set', by, edge).catch(refused),
)
const member = fc.record({ who: fc.constantFrom('ann', 'cyd'), status: fc.constantFrom('active', 'suspended') }).map(
  ({ who, status }): Act =>
    world =>
      world.member(who, status),
)
const wait = fc.constantFrom(1, 60_000, DAY_MS).map(
  (ms): Act =>
    async world =>
      world.wait(ms),
)
const act = fc.oneof(
  { weight: 6, arbitrary: put },
  { weight: 2, arbitrary: supersede },
  { weight: 2, arbitrary: remove },
  { weight: 1, arbitrary: trust },
  { weight: 1, arbitrary: member },
  { weight: 2, arbitrary: wait },
)

const QUERIES: readonly Json[] = [
  { semantic: 'fox honey' },
  { semantic: '', filters: { min_confidence: { overall: 0.001 } } },
  { semantic: 'moon 2', filters: { min_confidence: { overall: 0.4 } } },
  { semantic: '', filters: { holder_ids: ['bob', 'dan'] } },
]

it('follows an entry to another partition and back, though others asked in between', async () => {
  const store = openMemoryStore()
  const world = await World.open(store)
  await world.fill(12)
  const putEntry = async (content: string, accessScope: object) => {
    await world.engine.put({ entries: [{ id: 'b1', content, ...accessScope }] }, { viewer: { id: 'cyd' } })
  }
  const inLab = { visibility: 'shared', federations: ['lab'] }
  await putEntry('fox 0', inLab)
  await world.ask({ limit: 3 })
  await world.call('beliefs.delete', 'cyd', { belief_id: 'b5' })
  await putEntry('fox 1', { visibility: 'public' })
  await world.ask({ limit: 3 }, undefined, 'dan')
  await putEntry('fox 2', inLab)
  const asked = { dry_run: true, limit: 3 }
  const fresh = await World.open(store, { clock: world.clock, isNew: false })
  expect((await world.ask(asked)).next_cursor).toBe((await fresh.ask(asked)).next_cursor)
})

it('ranks what came since as of now, though the clock was ahead when it was ranked before', async () => {
  const store = openMemoryStore()
  const world = await World.open(store)
  const minute = 60_000
  const put = (id: string) =>
    world.call('beliefs.put', 'bob', { id, content: `fox ${id}`, visibility: 'public', domains: ['news'] })
  for (let at = 0; at < 30; at++) {
    await put(`old ${at}`)
    world.wait(minute)
  }
  world.wait(20 * minute)
  const first = async (of: World, recency: number) => {
    const ranking_weights = { semantic: 0, confidence: 0.1, trust: 0.1, recency }
    const query = { semantic: '', filters: { domains_include: ['news'] }, context: { ranking_weights } }
    return ids(await of.ask({ limit: 1, dry_run: true }, query))
  }
  for (const recency of [0.7, 0.8]) await first(world, recency)
  await put('new')
  world.wait(1)
  await first(world, 0.7)
  world.wait(59 * minute)
  expect(await first(world, 0.8)).toEqual(['new'])
  world.wait(1 - 59 * minute)
  expect(await first(world, 0.8)).toEqual(['new'])
})

it('ranks by trust that rises a moment after it was used, though somebody asked in the moment of use', async () => {
  const store = openMemoryStore()
  const world = await World.open(store)
  await world.call('trust.set', 'ann', { target: 'cyd', trust_level: 0.5 })
  await world.call('trust.set', 'ann', { target: 'dan', trust_level: 0.45, persistent: true })
  const put = (by: string, id: string, corroboration: number) =>
    world.call('beliefs.put', by, { id, content: `fox ${id}`, visibility: 'public', confidence: { corroboration } })
  for (let at = 0; at < 20; at++) await put('dan', `of dan ${at}`, at / 500)
  await put('cyd', 'of cyd', 0.02)
  world.wait(200 * DAY_MS)
  const first = async (limit: number, dry_run: boolean) => {
    const query = { semantic: '', filters: { min_confidence: { overall: 0 } } }
    return ids(await world.ask({ limit, dry_run }, query))[0]
  }
  expect(await first(50, false)).toBe('of dan 19')
  expect(await first(1, true)).toBe('of dan 19')
  world.wait(1)
  expect(await first(1, true)).toBe('of cyd')
})

it(
  'is as good as new after every write (20 histories; 500 with QUERENT_LONG=1)',
  async () => {
    const history = fc.array(fc.array(act, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 8 })
    const property = fc.asyncProperty(history, fc.constantFrom(0, 12, 70), async (rounds, filled) => {
      const store = openMemoryStore()
      const world = await World.open(store)
      await world.fill(filled)
      const answers = (of: World) => {
        const asked = ['ann', 'dan'].flatMap(by => QUERIES.map(query => ({ by, query })))
        const options = { dry_run: true, limit: 3, include_explanation: true }
        return Promise.all(
          asked.map(({ by, query }) =>
            of.call('beliefs.query', by, { ...query, options: { scope: EVERYWHERE, ...options } }),
          ),
        )
      }
      await answers(world)
      for (const acts of rounds) {
        for (const one of acts) await one(world)
        const fresh = await World.open(store, { clock: world.clock, isNew: false })
        expect(timeless(await answers(world))).toEqual(timeless(await answers(fresh)))
      }
    })
    await fc.assert(property, { numRuns: LONG ? 500 : 20 })
  },
  PATIENCE_MS,
)

function dateAfter(world: World, days: unknown): string {
  return new Date(world.clock.now() + (days as number) * DAY_MS).toISOString()
}

/** What a history asks for in vain: there is no such belief, or no such edge to make. */
function refused(error: Error): void {
  expect(error.name).toBe('BeliefsError')
}

function timeless(answers: readonly Json[]): readonly Json[] {
  return answers.map(answer => ({ ...answer, query_time_ms: 0, query_id: '' }))
}
