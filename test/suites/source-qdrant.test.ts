import { QdrantClient } from '@qdrant/js-client-rest'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Deadline } from '../../src/base/clock.ts'
import { LOCAL_OWNER } from '../../src/model/viewer.ts'
import { mirror } from '../../src/sources/mirror.ts'
import { openQdrantSource } from '../../src/sources/qdrant.ts'
import { qdrantTarget } from '../../src/sources/qdrant-target.ts'
import { draftOf, lineChunks } from '../support/entries.ts'
import { type FakeQdrant, startFakeQdrant } from '../support/fake-qdrant.ts'
import { sendJson, startLoopback } from '../support/loopback.ts'
import { localSourceOf, ownerScope, putRecord, SUITE_MODEL, storeOfSuite } from '../support/source-store.ts'
import {
  type SourceSuiteParts,
  SUITE_DIMENSIONS,
  SUITE_RECORDS,
  type SuiteRecord,
  sourceSuite,
} from './source-suite.ts'

const real = process.env['QUERENT_TEST_QDRANT_URL']
const VECTORS = { model: SUITE_MODEL, dimensions: SUITE_DIMENSIONS }

describe('Qdrant, by its words alone', () => {
  let fake: FakeQdrant
  beforeAll(async () => {
    fake = await startFakeQdrant()
  })
  afterAll(() => fake.close())

  for (const distance of ['Cosine', 'Dot', 'Euclid'] as const) {
    sourceSuite(`qdrant, asked in place, ${distance}`, async () => {
      const own = await startFakeQdrant()
      await fill(own.url, distance)
      return partsOf(own.url, () => own.close())
    })
  }

  sourceSuite('qdrant, mirrored', async () => {
    const own = await startFakeQdrant()
    return { ...(await mirroredParts(own.url)), close: () => own.close() }
  })

  it('mirrors once, follows changes, and gives an entry of several chunks back whole', async () => {
    const store = storeOfSuite()
    const draft = draftOf({ id: 'long', collection: 'items', content: 'first line\nsecond line', audience: OWN })
    store.write(3000, writer => {
      const { key } = writer.put(draft, lineChunks(draft))
      const [a, b] = writer.chunksOf(key).map(chunk => chunk.key) as [number, number]
      const [one, , , four] = SUITE_RECORDS.items as readonly SuiteRecord[]
      const vectors = [
        { chunk: a, vector: (four as SuiteRecord).vector },
        { chunk: b, vector: (one as SuiteRecord).vector },
      ]
      writer.putVectors(SUITE_MODEL, vectors)
    })
    const push = () => {
      const target = qdrantTarget({ url: fake.url })
      const { signal } = new AbortController()
      return mirror({ reader: store, accessScope: ownerScope(store), collection: 'items', ...VECTORS, target, signal })
    }
    expect(await push()).toMatchObject({ put: 7, removed: 0, unchanged: 0, waiting: 0 })
    expect(await push()).toMatchObject({ put: 0, removed: 0, unchanged: 7 })
    putRecord(store, 'items', { ...(SUITE_RECORDS.items[1] as SuiteRecord), metadata: { title: 'changed' } })
    expect(await push()).toMatchObject({ put: 1, removed: 0, unchanged: 6 })
    const keys = ['private:owner']
    const source = openQdrantSource({ name: 'mirror', url: fake.url, partitionKeys: () => keys })
    const asked = question(SUITE_RECORDS.items[0]?.vector as Float32Array, ownerScope(store))
    const [there] = (await source.ask(asked)).collections
    const [here] = (await localSourceOf(store).ask(asked)).collections
    expect(there?.records.find(({ id }) => id === 'long')?.content).toBe('first line\nsecond line')
    // Equal vectors may come in any order.
    const sorted = (ids: readonly string[] | undefined) =>
      [...(ids ?? []).slice(0, 2)].sort().concat((ids ?? []).slice(2))
    expect(sorted(there?.records.map(({ id }) => id))).toEqual(sorted(here?.records.map(({ id }) => id)))
  })

  it('sends what the contract of the C64 lens says: vector, limit, payload, tags under should (EN-061)', async () => {
    await fill(fake.url, 'Cosine')
    fake.requests.length = 0
    const source = openQdrantSource({ name: 'q', url: fake.url, apiKey: 'secret', searchFirst: true })
    const vector = new Float32Array([1, 0, 0, 0])
    await source.ask({ ...question(vector), limit: 20, anyTags: ['mcp', 'news'] })
    const sent = fake.requests.at(-1)
    expect([sent?.method, sent?.path]).toEqual(['POST', '/collections/items/points/search'])
    expect(sent?.headers['api-key']).toBe('secret')
    expect(JSON.parse(sent?.body ?? '')).toMatchObject({
      ...{ vector: [1, 0, 0, 0], limit: 20, with_payload: true },
      filter: {
        should: [
          { key: 'tags', match: { value: 'mcp' } },
          { key: 'tags', match: { value: 'news' } },
        ],
      },
    })
  })

  it.each([
    ['neither', 16, false, ['query']],
    ['the older', 18, true, ['search', 'query']],
    ['the newer', 9, false, ['query', 'search']],
    ['the newer, which is not asked for', 9, true, ['search']],
  ])('finds the nearest by the call that the server has, where it lacks %s', async (_, minor, searchFirst, calls) => {
    const server = await startFakeQdrant({ minor })
    await fill(server.url, 'Cosine')
    server.requests.length = 0
    const source = openQdrantSource({ name: 'q', url: server.url, searchFirst })
    const [answer] = (await source.ask(question(new Float32Array([1, 0, 0, 0])))).collections
    const posts = server.requests.filter(({ method }) => method === 'POST').map(({ path }) => path.split('/').at(-1))
    await server.close()
    expect(posts).toEqual(calls)
    expect(answer).toMatchObject({ error: null, records: { length: 5 } })
  })

  it('lets the server fuse words in where it can, and works the distance out itself', async () => {
    const point = { id: 7, score: 0.5, payload: { text: 'x', title: 'T' }, vector: { dense: [0.6, 0.8] } }
    const vectors = { dense: { size: 2, distance: 'Cosine' } }
    const server = await startLoopback(({ method }, response) =>
      sendJson(response, 200, { result: method === 'GET' ? { config: { params: { vectors } } } : { points: [point] } }),
    )
    const sparse = { vectorName: 'words', model: 'qdrant/bm25' }
    const source = openQdrantSource({ name: 'q', url: server.url, sparse })
    const asked = { ...question(new Float32Array([1, 0])), text: 'mcp news', limit: 3, anyTags: ['mcp'] }
    const [answer] = (await source.ask(asked)).collections
    const sent = server.requests.at(-1)
    await server.close()
    const filter = { should: [{ key: 'tags', match: { value: 'mcp' } }] }
    expect(sent?.path).toBe('/collections/items/points/query')
    expect(JSON.parse(sent?.body ?? '')).toEqual({
      prefetch: [
        { query: [1, 0], limit: 3, filter, using: 'dense' },
        { query: { text: 'mcp news', model: 'qdrant/bm25' }, using: 'words', limit: 3, filter },
      ],
      ...{ query: { fusion: 'rrf' }, limit: 3, with_payload: true, with_vector: ['dense'] },
    })
    expect(answer?.error).toBeNull()
    expect(answer?.records).toMatchObject([{ id: '7', content: 'x', metadata: { title: 'T' } }])
    expect(answer?.records[0]?.distance).toBeCloseTo(0.4, 6)
  })

  it('hides what is not mirrored from all but the owner, unless told that it is public', async () => {
    await fill(fake.url, 'Cosine')
    const accessScope = { viewer: { id: 'ann' }, partitions: [] }
    const ask = async (isPublic: boolean) => {
      const source = openQdrantSource({ name: 'q', url: fake.url, public: isPublic })
      const [answer] = (await source.ask({ ...question(new Float32Array([1, 0, 0, 0])), accessScope: accessScope }))
        .collections
      return answer?.error?.code ?? answer?.records.length
    }
    expect([await ask(false), await ask(true)]).toEqual(['collection_not_found', 5])
  })
})

describe.skipIf(real === undefined)('with a real Qdrant (skipped unless QUERENT_TEST_QDRANT_URL names one)', () => {
  sourceSuite('qdrant, asked in place', async () => {
    await fill(real as string, 'Cosine')
    return partsOf(real as string, () => clear(real as string))
  })

  sourceSuite('qdrant, mirrored', async () => ({
    ...(await mirroredParts(real as string)),
    close: () => clear(real as string),
  }))
})

const OWN = { kind: 'private', holder: 'owner' } as const

function question(vector: Float32Array, accessScope = { viewer: LOCAL_OWNER, partitions: [] as readonly number[] }) {
  const deadline = new Deadline(10_000)
  return { accessScope, collections: ['items'], text: '', vector, limit: 10, where: [], anyTags: [], deadline }
}

async function fill(url: string, distance: 'Cosine' | 'Dot' | 'Euclid'): Promise<void> {
  const client = new QdrantClient({ url, checkCompatibility: false })
  for (const [name, records] of Object.entries(SUITE_RECORDS)) {
    await client.deleteCollection(name).catch(() => {})
    await client.createCollection(name, { vectors: { size: SUITE_DIMENSIONS, distance } })
    await client.upsert(name, {
      wait: true,
      points: records.map(({ id, content, tags, metadata, vector }, at) => ({
        id: at + 1,
        vector: [...vector],
        payload: { ...metadata, tags: [...tags], text: content, querent_id: id, ...plainAgain(id, tags, metadata) },
      })),
    })
  }
}

/** Points have numbers for ids: the suite's names are given back by the keys that mirroring writes. */
function plainAgain(id: string, tags: readonly string[], metadata: object): Record<string, string> {
  return {
    querent_holder: 'owner',
    querent_title: '',
    querent_tags: JSON.stringify(tags),
    querent_metadata: JSON.stringify(metadata),
    querent_stamp: id,
  }
}

function partsOf(url: string, close: () => Promise<void>): SourceSuiteParts {
  return {
    source: openQdrantSource({ name: 'qdrant', url }),
    accessScope: { viewer: LOCAL_OWNER, partitions: [] },
    collections: async () => (await namesAt(url)).filter(name => !name.startsWith('querent_')),
    close,
  }
}

async function mirroredParts(url: string): Promise<SourceSuiteParts> {
  const store = storeOfSuite()
  const accessScope = ownerScope(store)
  const { signal } = new AbortController()
  for (const collection of ['items', 'analysis']) {
    await mirror({
      reader: store,
      accessScope: accessScope,
      collection,
      ...VECTORS,
      target: qdrantTarget({ url }),
      signal,
    })
  }
  return {
    source: openQdrantSource({ name: 'mirrored', url, partitionKeys: () => ['private:owner'] }),
    accessScope,
    collections: () => namesAt(url),
    close: () => Promise.resolve(),
  }
}

async function namesAt(url: string): Promise<readonly string[]> {
  const client = new QdrantClient({ url, checkCompatibility: false })
  const { collections } = await client.getCollections()
  return collections.map(({ name }) => name).sort()
}

async function clear(url: string): Promise<void> {
  const client = new QdrantClient({ url, checkCompatibility: false })
  for (const name of await namesAt(url)) {
    if (name.startsWith('querent_') || Object.hasOwn(SUITE_RECORDS, name)) await client.deleteCollection(name)
  }
}
