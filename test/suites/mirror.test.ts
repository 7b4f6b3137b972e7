/** What a run of `mirror` leaves on a server: the same cases for a real ChromaDB and for Qdrant's interface. */
import { ChromaClient } from 'chromadb'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { Deadline } from '../../src/base/clock.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { type MirrorCollectionRequest, mirrorCollection } from '../../src/engine/mirror.ts'
import { openEngine } from '../../src/engine/open.ts'
import type { PutInput } from '../../src/model/entry-input.ts'
import { LOCAL_OWNER } from '../../src/model/viewer.ts'
import { openChromaSource } from '../../src/sources/chromadb.ts'
import { mirrorName } from '../../src/sources/mirrored.ts'
import { openQdrantSource } from '../../src/sources/qdrant.ts'
import { type ChromaServer, startChroma, whyNoChroma } from '../support/chroma-server.ts'
import { startFakeQdrant } from '../support/fake-qdrant.ts'
import { type Gateway, startGateway } from '../support/gateway.ts'
import type { LoopbackRequest } from '../support/loopback.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { openToyEmbedder } from '../support/toy-embedder.ts'

interface RawRecord {
  readonly id: string
  readonly vector: readonly number[]
  readonly text: string | null
  readonly payload: Readonly<Record<string, unknown>>
}

/** A server as seen beside the code under test. */
interface Server {
  readonly url: string
  /** What `mirror` is given besides the address. */
  readonly place: Partial<MirrorCollectionRequest>
  readonly to: MirrorCollectionRequest['to']
  records(name: string): Promise<readonly RawRecord[]>
  names(): Promise<readonly string[]>
  /** Replaces a collection by one that has these records and no identity, as an earlier version left it. */
  age(name: string, records: readonly RawRecord[]): Promise<void>
  isWrite(request: LoopbackRequest): boolean
  isRemoval(request: LoopbackRequest): boolean
  /** How it says that it does not accept what was sent. */
  readonly refusal: { readonly status: number; readonly body: unknown }
  close(): Promise<void>
}

const reason = whyNoChroma()
let chroma: ChromaServer | null = null
beforeAll(async () => {
  chroma = reason === null ? await startChroma() : null
})
afterAll(() => chroma?.stop())

const KINDS: readonly (readonly [string, () => Promise<Server>])[] = [
  ['a real ChromaDB server', chromaPlace],
  ['Qdrant', () => qdrantPlace(16)],
  ['a Qdrant that keeps no labels', () => qdrantPlace(15)],
]

describe.each(KINDS)('a mirror on %s', (kind, openServer) => {
  const isSkipped = kind.includes('Chroma') && reason !== null
  let server: Server
  let gateway: Gateway
  let folder: ReturnType<typeof tempFolder>
  let engine: Engine
  beforeEach(async context => {
    if (isSkipped) return context.skip(`no ChromaDB server: ${reason}`)
    server = await openServer()
    gateway = await startGateway(server.url)
    folder = tempFolder()
    engine = await engineIn('one')
  })
  afterEach(async () => {
    if (isSkipped) return
    await engine.close()
    await gateway.close()
    await server.close()
    folder[Symbol.dispose]()
  })

  const engineIn = (name: string): Promise<Engine> =>
    openEngine({ home: `${folder.path}/${name}`, embedder: openToyEmbedder(), background: false })
  const put = (entries: readonly PutInput[], into: Engine = engine) =>
    into.put({ entries: entries.map(entry => ({ collection: 'items', ...entry })), wait: true })
  const remove = (...ids: readonly string[]) => engine.delete({ ids })
  const push = (from: Engine = engine, collection = 'items') =>
    mirrorCollection(from, { collection, url: gateway.url, to: server.to, ...server.place })
  /** The texts in each collection there, by audience. */
  const there = async (): Promise<Record<string, readonly string[]>> => {
    const found: Record<string, readonly string[]> = {}
    for (const name of await server.names()) {
      const texts = (await server.records(name)).flatMap(({ text }) => text ?? []).sort()
      found[AUDIENCES.get(name) ?? name] = texts
    }
    return found
  }
  it('is emptied of what was deleted, down to the last entry, and of what was hidden (CO-072)', async () => {
    await put([
      { id: 'priv', content: 'the salary of Alice' },
      { id: 'pub', content: 'public text', visibility: 'public' },
    ])
    await push()
    expect(await there()).toEqual({ private: ['the salary of Alice'], public: ['public text'] })
    await remove('priv')
    expect(await push()).toMatchObject({ put: 0, removed: 1, unchanged: 1 })
    expect(await there()).toEqual({ private: [], public: ['public text'] })
    await put([{ id: 'pub', content: 'public text', visibility: 'private' }])
    expect(await push()).toMatchObject({ put: 1, removed: 1, unchanged: 0 })
    expect(await there()).toEqual({ private: ['public text'], public: [] })
    await remove('pub')
    expect(await push()).toMatchObject({ put: 0, removed: 1, unchanged: 0 })
    expect(await there()).toEqual({ private: [], public: [] })
    expect(await push()).toMatchObject({ put: 0, removed: 0, unchanged: 0 })
    await expect(push(engine, 'never was')).rejects.toThrow(/there is nothing in "never was"/)
  })

  it('loses the wider copy before anything is written, even where writing fails then (CO-072)', async () => {
    const LONG = Array.from({ length: 900 }, (_, at) => `word${at}`).join(' ')
    await put([
      { id: 'kept', content: 'kept text', visibility: 'public' },
      { id: 'v', content: `${LONG}\n\n${LONG}`, visibility: 'public' },
    ])
    expect((await push()).put).toBeGreaterThan(2)
    await put([
      { id: 'v', content: 'short and private', visibility: 'private' },
      { id: 'another', content: 'another text', visibility: 'public' },
    ])
    gateway.answer = request => (server.isWrite(request) ? { status: 503, body: {} } : null)
    await expect(push()).rejects.toThrow()
    expect(await there()).toMatchObject({ public: ['kept text'] })
    const records = await Promise.all((await server.names()).map(name => server.records(name)))
    expect(records.flat()).toHaveLength(1)
    gateway.answer = null
    gateway.requests.length = 0
    await push()
    expect(await there()).toEqual({ private: ['short and private'], public: ['another text', 'kept text'] })
  })

  it('keeps the narrower copy until the wider one is accepted (CO-072)', async () => {
    await put([
      { id: 'v', content: 'to be shown' },
      { id: 'w', content: 'stays' },
    ])
    await push()
    await put([{ id: 'v', content: 'to be shown', visibility: 'public' }])
    gateway.answer = request => (server.isWrite(request) ? { status: 503, body: {} } : null)
    await expect(push()).rejects.toThrow()
    expect((await there())['private']).toEqual(['stays', 'to be shown'])
    gateway.answer = null
    gateway.requests.length = 0
    expect(await push()).toMatchObject({ put: 1, removed: 1 })
    expect(await there()).toEqual({ private: ['stays'], public: ['to be shown'] })
    const [write, removal] = [server.isWrite, server.isRemoval].map(is => gateway.requests.findIndex(is))
    expect(write).toBeLessThan(removal as number)
  })

  it.each([
    ['a federation less', ['lab', 'club'], ['lab'], true],
    ['a federation more', ['lab'], ['lab', 'club'], false],
  ])('knows that %s is or is not narrower', async (_, before, after, isNarrower) => {
    await put([{ id: 'v', content: 'text', visibility: 'shared', federations: before }])
    await push()
    await put([{ id: 'v', content: 'text', visibility: 'shared', federations: after }])
    gateway.requests.length = 0
    expect(await push()).toMatchObject({ put: 1, removed: 1 })
    const [write, removal] = [server.isWrite, server.isRemoval].map(is => gateway.requests.findIndex(is)) as number[]
    expect((removal as number) < (write as number)).toBe(isNarrower)
  })

  it('is right after a stop at any request and another run (CO-072, CO-073)', async () => {
    for (let stopAt = 1, isStopped = true; isStopped; stopAt++) {
      if (stopAt > 1) await remove('b', 'c', 'd')
      await put([
        { id: 'a', content: 'a' },
        { id: 'b', content: 'b', visibility: 'public' },
        { id: 'c', content: 'c', visibility: 'public', metadata: { old: 'key' } },
      ])
      await push()
      await remove('a')
      await put([
        { id: 'b', content: 'b', visibility: 'private' },
        { id: 'c', content: 'c', visibility: 'public', metadata: { fresh: 'key' } },
        { id: 'd', content: 'd', visibility: 'shared', federations: ['lab'] },
      ])
      let changes = 0
      gateway.answer = request => {
        const isChange = server.isWrite(request) || server.isRemoval(request)
        return isChange && ++changes >= stopAt ? { status: 503, body: {} } : null
      }
      isStopped = await push().then(
        () => false,
        () => true,
      )
      gateway.answer = null
      await push()
      expect({ stopAt, ...(await there()) }).toEqual({ stopAt, private: ['b'], public: ['c'], shared: ['d'] })
      const records = await Promise.all((await server.names()).map(name => server.records(name)))
      const [{ payload } = { payload: {} }] = records.flat().filter(({ text }) => text === 'c')
      expect(payload).toMatchObject({ fresh: 'key' })
      expect(payload).not.toHaveProperty('old')
      expect(stopAt).toBeLessThan(20)
    }
  })

  it('is left alone by another store, which says so and mirrors the rest (CO-073)', async () => {
    await put([1, 2, 3].map(at => ({ id: `n${at}`, content: `note ${at}` })))
    await push()
    await using other = await engineIn('two')
    await put([{ id: 'n1', content: 'of another' }], other)
    await put([{ id: 'p', content: 'public of another', visibility: 'public' }], other)
    const failure = await push(other).catch(error => error)
    expect(failure).toMatchObject({
      code: 'conflict',
      message: expect.stringMatching(/needs querent_items_\w+, which holds something else/),
    })
    const both = { private: ['note 1', 'note 2', 'note 3'], public: ['public of another'] }
    expect(await there()).toEqual(both)
    expect(await push()).toMatchObject({ put: 0, removed: 0, unchanged: 3 })
    expect(await there()).toEqual(both)
    await put([{ id: 'n1', content: 'note 1', visibility: 'public' }])
    await expect(push()).rejects.toThrow(/holds something else/)
    expect(await there()).toEqual(both)
    await other.delete({ ids: ['n1'] })
    expect(await push(other)).toMatchObject({ put: 0, removed: 0, unchanged: 1, taken: [] })
    expect(await there()).toEqual(both)
  })

  it('takes metadata with any key, whole, and sends no key that servers refuse (CO-073)', async () => {
    const metadata = { $gt: 'x', '#x': 'y', '': 'z', $schema: { deep: true }, ok: 'kept', a$: 'kept' }
    await put([{ id: 'odd', content: 'odd', metadata }])
    expect(await push()).toMatchObject({ put: 1, refused: [] })
    const [name] = (await server.names()) as [string]
    const [{ payload }] = (await server.records(name)) as [RawRecord]
    expect(JSON.parse(String(payload['querent_metadata']))).toEqual(metadata)
    const keys = Object.keys(payload).filter(key => !/^(querent_|tags$|title$|document$)/.test(key))
    expect(keys.sort()).toEqual(['a$', 'ok'])
  })

  it('lacks only the records that the server refuses, and reports them by id (CO-073)', async () => {
    await put(Array.from({ length: 20 }, (_, at) => ({ id: `e${at}`, content: `text ${at}` })))
    await push()
    const odd = { poison: 'poison' }
    await put([
      { id: 'e7', content: 'changed 7', metadata: odd },
      { id: 'e8', content: 'changed 8' },
      { id: 'fresh', content: 'fresh' },
      { id: 'bad', content: 'bad', metadata: odd },
    ])
    await remove('e19')
    gateway.answer = request => (server.isWrite(request) && request.body.includes('"poison"') ? server.refusal : null)
    const report = await push()
    expect(report).toMatchObject({ put: 2, removed: 1, unchanged: 17 })
    expect(report.refused.map(({ id, reason }) => [id, reason.includes('no poison here')])).toEqual([
      ['bad', true],
      ['e7', true],
    ])
    const [name] = (await server.names()) as [string]
    const texts = (await server.records(name)).map(({ text }) => text)
    expect(texts).toContain('text 7')
    expect(texts).toEqual(expect.arrayContaining(['changed 8', 'fresh']))
    for (const gone of ['bad', 'text 19', 'text 8']) expect(texts).not.toContain(gone)
    gateway.answer = null
    expect(await push()).toMatchObject({ put: 2, removed: 0, unchanged: 19, refused: [] })
  })

  it('is filled and asked under the path of an address (CO-025)', async () => {
    await put([{ id: 'a', content: 'agents remember' }])
    const below = await startGateway(server.url, '/behind/a/proxy')
    const address = { url: `${below.url}/`, to: server.to, ...server.place }
    expect(await mirrorCollection(engine, { collection: 'items', ...address })).toMatchObject({ put: 1 })
    const source =
      server.to === 'qdrant' ? openQdrantSource({ name: 's', ...address }) : openChromaSource({ name: 's', ...address })
    const [name] = (await server.names()) as [string]
    const [vector] = await openToyEmbedder().embed(['agents remember'], 'query')
    const { collections } = await source.ask({ ...question(), vector: vector ?? null, collections: [name] })
    await below.close()
    expect(collections).toMatchObject([{ error: null, records: { length: 1 } }])
  })

  it.each([
    ['HTML', '<html>'],
    ['JSON', { error: 'no' }],
  ])('is not made where everything is answered with 404 in %s (CO-025)', async (_, body) => {
    await put([{ id: 'a', content: 'a' }])
    gateway.answer = () => ({ status: 404, body })
    await expect(push()).rejects.toThrow(/does not answer like (ChromaDB|Qdrant)/)
  })

  it('of an earlier version is taken over where it is this store’s, and else reported (CO-073)', async () => {
    await put([
      { id: 'a', content: 'a' },
      { id: 'b', content: 'b' },
      { id: 'c', content: 'c', visibility: 'public' },
    ])
    await push()
    const names = await server.names()
    for (const name of names) await server.age(name, (await server.records(name)).map(withoutStore))
    await put([{ id: 'b', content: 'b changed' }])
    expect(await push()).toMatchObject({ put: 3, removed: 0, unchanged: 0, taken: [], unowned: [] })
    expect(await there()).toEqual({ private: ['a', 'b changed'], public: ['c'] })
    expect(await push()).toMatchObject({ put: 0, unchanged: 3 })

    for (const name of names) await server.age(name, (await server.records(name)).map(withoutStore))
    await using other = await engineIn('two')
    await put([{ id: 'a', content: 'a' }], other)
    await expect(push(other)).rejects.toThrow(/holds something else: a mirror of an earlier version/)
    await other.delete({ ids: ['a'] })
    expect((await push(other)).unowned).toEqual([mirrorName('items', 'private:owner')])
    expect(await there()).toEqual({ private: ['a', 'b changed'], public: ['c'] })
  })
})

const question = () => ({
  accessScope: { viewer: LOCAL_OWNER, partitions: [] },
  text: '',
  limit: 5,
  where: [],
  anyTags: [],
  deadline: new Deadline(20_000),
})

const AUDIENCES = new Map([
  [mirrorName('items', 'private:owner'), 'private'],
  [mirrorName('items', 'public'), 'public'],
  [mirrorName('items', 'shared:owner:lab'), 'shared'],
])

function withoutStore({ payload, ...rest }: RawRecord): RawRecord {
  const { querent_store: _, ...old } = payload
  return { ...rest, payload: old }
}

let databases = 0

async function chromaPlace(): Promise<Server> {
  const { url } = chroma as ChromaServer
  const database = `mirror_${++databases}`
  await fetch(`${url}/api/v2/tenants/default_tenant/databases`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: database }),
  })
  const { hostname, port } = new URL(url)
  const client = new ChromaClient({ host: hostname, port: Number(port), tenant: 'default_tenant', database })
  const collectionOf = (name: string) => client.getCollection({ name, embeddingFunction: null as never })
  return {
    url,
    place: { database },
    to: 'chromadb',
    names: async () => (await client.listCollections()).map(({ name }) => name).sort(),
    records: async name => {
      const collection = await collectionOf(name)
      const found = await collection.get({ include: ['documents', 'metadatas', 'embeddings'] })
      return found.ids.map((id, at) => ({
        id,
        vector: [...(found.embeddings[at] ?? [])],
        text: found.documents[at] ?? null,
        payload: found.metadatas[at] ?? {},
      }))
    },
    age: async (name, records) => {
      const { querent_store: _, ...metadata } = (await collectionOf(name)).metadata ?? {}
      await client.deleteCollection({ name })
      const made = await client.createCollection({ name, metadata, embeddingFunction: null as never })
      await made.add({
        ids: records.map(({ id }) => id),
        embeddings: records.map(({ vector }) => [...vector]),
        documents: records.map(({ text }) => text ?? ''),
        metadatas: records.map(({ payload }) => payload as Record<string, string>),
      })
    },
    isWrite: ({ path }) => path.endsWith('/upsert'),
    isRemoval: ({ path }) => path.endsWith('/delete'),
    refusal: { status: 400, body: { error: 'InvalidArgumentError', message: 'no poison here' } },
    close: () => Promise.resolve(),
  }
}

async function qdrantPlace(minor: number): Promise<Server> {
  const fake = await startFakeQdrant({ minor })
  return {
    url: fake.url,
    place: {},
    to: 'qdrant',
    names: async () => [...fake.collections.keys()].sort(),
    records: async name =>
      [...(fake.collections.get(name)?.points.values() ?? [])].map(({ id, vector, payload }) => {
        const text = payload['document']
        return { id: String(id), vector, text: typeof text === 'string' ? text : null, payload }
      }),
    age: async (name, records) => {
      const old = fake.collections.get(name)
      if (old === undefined) throw new Error(`there is no ${name}`)
      const points = new Map(records.map(({ id, vector, payload }) => [id, { id, vector, payload }]))
      fake.collections.set(name, { ...old, metadata: undefined, points })
    },
    isWrite: ({ method, path }) => method === 'PUT' && /\/points(\?|$)/.test(path),
    isRemoval: ({ path }) => /\/points\/delete/.test(path),
    refusal: { status: 400, body: { status: { error: 'Wrong input: no poison here' }, time: 0 } },
    close: () => fake.close(),
  }
}
