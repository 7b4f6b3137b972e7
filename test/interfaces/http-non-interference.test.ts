/**
 * What a viewer may not see changes not one byte of what HTTP answers it. Two servers get the same visible history; one
 * of them also gets a hidden one. Every answer of the two is compared as bytes. (Words only; the pipeline's own test has
 * vectors.) The long form, 1,000 histories: QUERENT_LONG=1.
 */
import fc from 'fast-check'
import { afterAll, expect, it } from 'vitest'
import { SettableClock } from '../../src/base/clock.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { openEngine } from '../../src/engine/open.ts'
import { type EngineOperation, makeCatalog } from '../../src/ops/catalog.ts'
import { operation } from '../support/operations.ts'
import { type ServedHere, serveHere } from '../support/serve-here.ts'
import { bearer, tokensOf } from '../support/tokens.ts'

const RUNS = process.env['QUERENT_LONG'] === '1' ? 1000 : 12
const TOKENS = tokensOf('ana', 'ben')

type Deed = {
  readonly by: 'owner' | 'ana' | 'ben'
  readonly operation: string
  readonly input: unknown
  /** Done in the world without what is hidden, in its place. */
  readonly plain?: unknown
}

const id = fc.constantFrom('a', 'b', 'c', 'd')
const words = fc.array(fc.constantFrom('honey', 'bees', 'owl', 'owls', 'clock', 'the', 'half', 'life'), {
  minLength: 1,
  maxLength: 6,
})
const text = words.map(list => list.join(' '))
const collection = fc.constantFrom('notes', 'code', 'secret-plans')

function put(by: Deed['by'], visibility: 'public' | 'private'): fc.Arbitrary<Deed> {
  return fc.record({ id, title: text, content: text, collection, tags: fc.subarray(['x', 'y']) }).map(entry => ({
    by,
    operation: 'put',
    input: { entries: [{ ...entry, visibility }] },
  }))
}
const remove = (by: Deed['by']): fc.Arbitrary<Deed> =>
  id.map(one => ({ by, operation: 'delete', input: { ids: [one] } }))
const ask = (by: Deed['by']): fc.Arbitrary<Deed> => text.map(one => ({ by, operation: 'query', input: { text: one } }))

/** ana and ben are in the lab; ana is not in the merger, and knows of none. */
const member = (federation: string, agent: string, status: string) => ({
  type: 'row',
  table: 'memberships',
  row: { federation, agent, status, updated_at: 1 },
})
const MEMBERS = [member('lab', 'ana', 'active'), member('lab', 'ben', 'active'), member('merger', 'ben', 'active')]
const standing: fc.Arbitrary<Deed> = fc
  .constantFrom('active', 'suspended', 'left')
  .map(status => ({ by: 'owner', operation: 'import', input: { lines: [member('merger', 'ben', status)] } }))

function shared(ids: readonly string[], federations: readonly string[], told?: readonly string[]): fc.Arbitrary<Deed> {
  return fc.record({ id: fc.constantFrom(...ids), title: text, content: text, collection }).map(entry => {
    const input = (names: readonly string[]) => ({ entries: [{ ...entry, visibility: 'shared', federations: names }] })
    const deed = { by: 'ben' as const, operation: 'put', input: input(federations) }
    return told === undefined ? deed : { ...deed, plain: input(told) }
  })
}

/** Of no consequence to ana: what ben writes, deletes and asks for himself, and what the owner keeps private. */
const hidden = fc.oneof(
  put('ben', 'private'),
  put('owner', 'private'),
  shared(['h'], ['merger']),
  standing,
  ask('ben'),
  ask('owner'),
)
/** What ana sees of it is the same in both. */
const half = shared(['s', 't'], ['lab', 'merger'], ['lab'])
/** By ana herself. */
const own = fc.oneof(put('ana', 'public'), put('ana', 'private'), remove('ana'))
const asked: fc.Arbitrary<Deed> = fc
  .oneof(
    fc.record({
      operation: fc.constant('query'),
      input: fc.record({ text, limit: fc.constantFrom(1, 3), explain: fc.boolean() }),
    }),
    fc.record({
      operation: fc.constant('query'),
      input: fc.record({ text: text.map(one => `${one} tag:x`), any: fc.boolean() }),
    }),
    fc.record({
      operation: fc.constant('list'),
      input: fc.record({ limit: fc.constantFrom(1, 5), order: fc.constantFrom('id', 'updated') }),
    }),
    fc.record({
      operation: fc.constant('get'),
      input: fc.record({ id: fc.oneof(id, fc.constantFrom('s', 't', 'h')) }),
    }),
    fc.record({ operation: fc.constant('delete'), input: fc.record({ ids: fc.constant(['z']) }) }),
    fc.record({ operation: fc.constant('similar'), input: fc.record({ id }) }),
    fc.record({ operation: fc.constant('explain'), input: fc.record({ id, query: fc.record({ text }) }) }),
    fc.record({ operation: fc.constantFrom('status', 'lenses', 'suggest', 'export', 'qurey'), input: fc.constant({}) }),
  )
  .map(({ operation, input }) => ({ by: 'ana' as const, operation, input }))

interface World {
  readonly engine: Engine
  readonly server: ServedHere
}
const worlds: World[] = []
afterAll(async () => {
  for (const world of worlds) await close(world)
})

async function open(leak?: EngineOperation): Promise<World> {
  let counter = 0
  const random = (bytes: number): Uint8Array => {
    counter += 1
    return new Uint8Array(bytes).fill(counter)
  }
  const clock = new SettableClock(Date.parse('2026-03-01T12:00:00Z'))
  // No limits: histories ask more in a minute than anybody may by default.
  const limits = { enabled: false }
  const engine = await openEngine({ store: 'memory', embedder: 'none', background: false, random, clock, limits })
  await engine.query({ text: 'secret', any: true }, { viewer: { id: 'nobody' } }) // makes the store's secret, with equal bytes in both
  await engine.import(ReadableStream.from(MEMBERS))
  const catalog = new Map([...makeCatalog(engine), ...(leak === undefined ? [] : [[leak.name, leak] as const])])
  const server = await serveHere(engine, { tokens: TOKENS }, catalog)
  const world = { engine, server }
  worlds.push(world)
  return world
}

async function close(world: World): Promise<void> {
  await world.server[Symbol.asyncDispose]()
  await world.engine.close()
  worlds.splice(worlds.indexOf(world), 1)
}

async function send({ server: { url } }: World, { by, operation, input }: Deed): Promise<string> {
  const headers: Record<string, string> = { ...bearer(by) }
  const response = await fetch(`${url}/v1/ops/${operation}`, { method: 'POST', headers, body: JSON.stringify(input) })
  const shown = [...response.headers].filter(([name]) => name !== 'x-request-id' && name !== 'date')
  return `${response.status} ${JSON.stringify(shown)} ${await response.text()}`
}

/** Holds while both worlds answer ana the same, whatever the history. */
function property(leak?: EngineOperation): fc.IAsyncPropertyWithHooks<[Deed[]]> {
  const leaking: Deed = { by: 'ana', operation: 'leak', input: {} }
  const asking = leak === undefined ? asked : fc.oneof(asked, fc.constant(leaking))
  const deed = fc.oneof(
    { weight: 3, arbitrary: hidden },
    { weight: 2, arbitrary: own },
    { weight: 2, arbitrary: half },
    { weight: 3, arbitrary: asking },
  )
  return fc.asyncProperty(fc.array(deed, { minLength: 5, maxLength: 25 }), async deeds => {
    const [plain, full] = [await open(leak), await open(leak)]
    try {
      for (const one of deeds) {
        if (one.by !== 'ana') {
          await send(full, one)
          if (one.plain !== undefined) await send(plain, { ...one, input: one.plain })
        } else expect(await send(full, one)).toBe(await send(plain, one))
      }
    } finally {
      await Promise.all([close(plain), close(full)])
    }
  })
}

it(`no hidden history changes an answer (${RUNS} random histories; 1,000 with QUERENT_LONG=1)`, async () => {
  await fc.assert(property(), { numRuns: RUNS })
})

it('a leak planted on purpose is caught', async () => {
  const leak = operation('leak', () => ({}), {
    run: async engine => ({ total: (await engine.list({})).total }), // as the owner, who sees all
  })
  const { failed } = await fc.check(property(leak), { numRuns: 50, endOnFailure: true })
  expect(failed).toBe(true)
})

it('a leak would be seen: what is public does change answers', async () => {
  const [plain, full] = [await open(), await open()]
  const entry = { id: 'a', title: 'honey', content: 'honey', visibility: 'public' }
  await send(full, { by: 'owner', operation: 'put', input: { entries: [entry] } })
  for (const [name, input] of [
    ['query', { text: 'honey' }],
    ['list', {}],
    ['get', { id: 'a' }],
    ['status', {}],
    ['suggest', {}],
  ] as const) {
    const deed: Deed = { by: 'ana', operation: name, input }
    expect(await send(full, deed)).not.toBe(await send(plain, deed))
  }
  await Promise.all([close(plain), close(full)])
})
