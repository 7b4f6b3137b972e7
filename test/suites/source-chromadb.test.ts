import { ChromaClient } from 'chromadb'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Deadline } from '../../src/base/clock.ts'
import { mirrorCollection } from '../../src/engine/mirror.ts'
import { openEngine } from '../../src/engine/open.ts'
import { LOCAL_OWNER } from '../../src/model/viewer.ts'
import { queryCollections } from '../../src/openings/collections.ts'
import type { SourceRequest } from '../../src/pipeline/source.ts'
import { chromaTarget } from '../../src/sources/chroma-target.ts'
import { openChromaSource } from '../../src/sources/chromadb.ts'
import { type MirrorReport, mirror } from '../../src/sources/mirror.ts'
import type { Store } from '../../src/store/store.ts'
import { type ChromaServer, startChroma, whyNoChroma } from '../support/chroma-server.ts'
import { draftOf, lineChunks } from '../support/entries.ts'
import { seededUniform } from '../support/seeded.ts'
import { localSourceOf, ownerScope, putRecord, SUITE_MODEL, storeOfSuite } from '../support/source-store.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { openToyEmbedder } from '../support/toy-embedder.ts'
import { SUITE_DIMENSIONS, SUITE_RECORDS, type SuiteRecord, sourceSuite } from './source-suite.ts'

const reason = whyNoChroma()

describe.skipIf(reason !== null)(`with a real ChromaDB server${reason === null ? '' : ` (skipped: ${reason})`}`, () => {
  let server: ChromaServer
  beforeAll(async () => {
    server = await startChroma()
  })
  afterAll(() => server?.stop())

  for (const space of ['cosine', 'l2', 'ip'] as const) {
    sourceSuite(`chromadb, asked in place, ${space}`, async () => {
      const client = clientOf(server, await made(server, `in_${space}`))
      for (const [name, records] of Object.entries(SUITE_RECORDS)) {
        const configuration = { hnsw: { space } }
        const there = await client.createCollection({ name, configuration, embeddingFunction: null as never })
        await there.add({
          ids: records.map(({ id }) => id),
          embeddings: records.map(({ vector }) => [...vector]),
          documents: records.map(({ content }) => content),
          metadatas: records.map(({ metadata, tags }) => ({
            ...(metadata as Record<string, string>),
            ...Object.fromEntries(tags.map(tag => [`tag:${tag}`, true])),
          })),
        })
      }
      return {
        source: openChromaSource({ name: space, url: server.url, tenant: 'default_tenant', database: `in_${space}` }),
        accessScope: { viewer: LOCAL_OWNER, partitions: [] },
        collections: () => namesIn(client),
        close: () => Promise.resolve(),
      }
    })
  }

  sourceSuite('chromadb, mirrored', async () => {
    const store = storeOfSuite()
    const client = clientOf(server, 'mirrored')
    for (const collection of ['items', 'analysis']) await push(store, collection, server, 'mirrored')
    return {
      source: openChromaSource({ name: 'mirrored', url: server.url, database: 'mirrored' }),
      accessScope: ownerScope(store),
      collections: () => namesIn(client),
      close: async () => store.close(),
    }
  })

  describe('mirroring to it', () => {
    it('puts each partition in a collection of its own, once, and follows what changes', async () => {
      const store = storeOfSuite()
      const [one] = SUITE_RECORDS.items as readonly [SuiteRecord]
      putRecord(store, 'items', { ...one, id: 'of ann' }, { kind: 'private', holder: 'ann' })
      const client = clientOf(server, 'changing')
      const first = await push(store, 'items', server, 'changing')
      expect(first).toMatchObject({ put: 6, removed: 0, unchanged: 0, waiting: 0 })
      expect([...(await namesIn(client))].sort()).toEqual([...first.names].sort())
      expect(first.names.length).toBe(2)
      expect(await push(store, 'items', server, 'changing')).toMatchObject({ put: 0, removed: 0, unchanged: 6 })

      putRecord(store, 'items', { ...one, metadata: { title: 'changed' } })
      store.write(2000, writer => writer.delete(writer.find('two', ownerScope(store).partitions)[0] as number))
      expect(await push(store, 'items', server, 'changing')).toMatchObject({ put: 1, removed: 1, unchanged: 4 })

      const accessScope = ownerScope(store)
      const source = openChromaSource({
        name: 'changing',
        url: server.url,
        database: 'changing',
        partitionKeys: ({ partitions }) =>
          partitions.length === accessScope.partitions.length ? ['private:owner'] : [],
      })
      const { collections } = await source.ask(question({ accessScope: accessScope, vector: one.vector }))
      expect(collections[0]?.records.map(({ id }) => id)).toEqual(['one', 'three', 'four', 'five'])
      expect(collections[0]?.records[0]?.metadata).toEqual({ title: 'changed' })
    })

    it('goes on where a stopped run ended', async () => {
      const store = storeOfSuite()
      const whole = chromaTarget(
        { url: server.url, database: await made(server, 'stopped') },
        new AbortController().signal,
      )
      const stop = new AbortController()
      const oneByOne = { ...whole, batch: 1 }
      const request = {
        reader: store,
        accessScope: ownerScope(store),
        collection: 'items',
        ...VECTORS,
        target: oneByOne,
      }
      let puts = 0
      const counting = {
        ...oneByOne,
        open: async (...args: Parameters<typeof whole.open>) => {
          const there = await whole.open(...args)
          return {
            ...there,
            put: async (records: Parameters<typeof there.put>[0]) => {
              await there.put(records)
              if (++puts === 2) stop.abort()
            },
          }
        },
      }
      await expect(mirror({ ...request, target: counting, signal: stop.signal })).rejects.toThrow()
      const rest = await mirror({ ...request, signal: new AbortController().signal })
      expect(rest).toMatchObject({ put: 3, unchanged: 2 })
    })

    it('gives an entry of several chunks back once, with its whole text', async () => {
      const store = storeOfSuite()
      const draft = draftOf({ id: 'long', collection: 'long', content: 'first line\nsecond line', audience: OWN })
      store.write(3000, writer => {
        const { key } = writer.put(draft, lineChunks(draft))
        const [a, b] = writer.chunksOf(key).map(chunk => chunk.key) as [number, number]
        const [one, two] = SUITE_RECORDS.items as readonly [SuiteRecord, SuiteRecord]
        writer.putVectors(SUITE_MODEL, [
          { chunk: a, vector: two.vector },
          { chunk: b, vector: one.vector },
        ])
      })
      await push(store, 'long', server, 'changing')
      const source = openChromaSource({ name: 'long', url: server.url, database: 'changing' })
      const asked = question({ accessScope: ownerScope(store), collections: ['long'] })
      const [there] = (await source.ask(asked)).collections
      const [here] = (await localSourceOf(store).ask(asked)).collections
      expect(there?.records.map(({ id, content }) => ({ id, content }))).toEqual([
        { id: 'long', content: 'first line\nsecond line' },
      ])
      expect(there?.records[0]?.distance).toBeCloseTo(here?.records[0]?.distance ?? Number.NaN, 4)
    })
  })

  describe('the lens over it', () => {
    const embedder = openToyEmbedder()
    const uniform = seededUniform(7)
    const WORDS = 'agent server hook memory protocol stream cache vector trend editor token plugin'.split(' ')
    const pick = () => WORDS[Math.floor(uniform() * WORDS.length)] as string
    const entries = Array.from({ length: 60 }, (_, at) => ({
      id: `e${at}`,
      collection: at % 3 === 0 ? 'analysis' : 'items',
      content: Array.from({ length: 6 }, pick).join(' '),
      metadata: { title: `Title ${at}`, date: `2026-02-${String((at % 28) + 1).padStart(2, '0')}` },
    }))

    it('gives the ids of the embedded store in the same order, with the same scores (CO-052, CO-053)', async () => {
      using folder = tempFolder()
      const home = `${folder.path}/home`
      const database = await made(server, 'lens')
      await using engine = await openEngine({ home, embedder, background: false })
      await engine.put({ entries, wait: true })
      for (const collection of ['items', 'analysis']) {
        await mirrorCollection(engine, { collection, to: 'chromadb', url: server.url, database })
      }
      for (const options of [{}, { days: 7 }, { days: 7, nResults: 9 }, { since: '2026-02-10', until: '2026-02-12' }]) {
        const common = { ...options, embedder, clock: { now: () => Date.parse('2026-03-01T12:00:00Z') } }
        const here = await queryCollections('agent memory', { ...common, persistDirectory: home })
        const there = await queryCollections('agent memory', { ...common, url: server.url, database })
        expect(there.results.map(({ id }) => id)).toEqual(here.results.map(({ id }) => id))
        expect(here.results.length).toBeGreaterThan(5)
        for (const [at, { rawScore }] of there.results.entries()) {
          expect(Math.abs(rawScore - (here.results[at]?.rawScore ?? 9))).toBeLessThan(1e-4)
        }
        expect([here.meta.store, there.meta.store]).toEqual(['local', 'chromadb'])
      }
    })

    it('asks for no more neighbours than there are, and reads any shape of record (CO-054, CO-056)', async () => {
      const database = await made(server, 'small')
      const client = clientOf(server, database)
      const there = await client.createCollection({ name: 'items', embeddingFunction: null as never })
      const [vector] = await embedder.embed(['x'], 'passage')
      await there.add({
        ids: ['a', 'b'],
        embeddings: [[...(vector as Float32Array)], [...(vector as Float32Array)].map(value => value * 2)],
        documents: ['first', 'second'],
        metadatas: [{ item_id: 'blog_1', actionability: 'high', confidence: 0.9 }, { signal_score: '0.7' }],
      })
      const { results, warnings } = await queryCollections('x', { url: server.url, database, embedder, nResults: 50 })
      expect(results.map(({ id, score }) => [id, score])).toEqual([
        ['a', 1],
        ['b', 0.5],
      ])
      expect(warnings.map(({ collection, code }) => [collection, code])).toEqual([
        ['items', 'not_normalised'],
        ['analysis', 'collection_not_found'],
      ])
    })

    it('tells a database that is not there from one that is empty (CO-023, CO-027)', async () => {
      const empty = await queryCollections('x', { url: server.url, database: await made(server, 'bare'), embedder })
      expect(empty.results).toEqual([])
      for (const place of [{ database: 'nowhere' }, { tenant: 'nobody' }]) {
        const lost = queryCollections('x', { url: server.url, ...place, embedder })
        await expect(lost).rejects.toThrow(/^Failed to initialize VectorStore: there is no database [^;]*$/)
      }
    })

    it('takes an embedder a collection, and names both sizes where one does not fit (CO-028, CO-055)', async () => {
      const options = { url: server.url, database: 'in_cosine', collections: ['items'] }
      const wrong = queryCollections('x', { ...options, embedder })
      await expect(wrong).rejects.toThrow(/items: its vectors are of 4 dimensions, the question's has 128/)
      const model = { ...embedder.model, id: 'own', dimensions: 4 }
      const own = { ...embedder, model, embed: async () => [new Float32Array([1, 0.1, 0, 0.05])] }
      const { results } = await queryCollections('x', { ...options, embedder, embedders: { items: own } })
      expect(results.map(({ id }) => id)).toEqual(['one', 'two', 'three', 'four', 'five'])
    })
  })
})

const OWN = { kind: 'private', holder: 'owner' } as const
const VECTORS = { model: SUITE_MODEL, dimensions: SUITE_DIMENSIONS }

function question(fields: Partial<SourceRequest>): SourceRequest {
  return {
    accessScope: { viewer: LOCAL_OWNER, partitions: [] },
    collections: ['items'],
    text: '',
    vector: SUITE_RECORDS.items[0]?.vector ?? null,
    limit: 10,
    where: [],
    anyTags: [],
    deadline: new Deadline(20_000),
    ...fields,
  }
}

async function push(store: Store, collection: string, server: ChromaServer, database: string): Promise<MirrorReport> {
  const { signal } = new AbortController()
  const target = chromaTarget({ url: server.url, database: await made(server, database) }, signal)
  return mirror({ reader: store, accessScope: ownerScope(store), collection, ...VECTORS, target, signal })
}

/** Each suite has a database of its own, so that names do not meet. */
async function made(server: ChromaServer, database: string): Promise<string> {
  await fetch(`${server.url}/api/v2/tenants/default_tenant/databases`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: database }),
  })
  return database
}

function clientOf({ url }: ChromaServer, database: string): ChromaClient {
  const { hostname, port } = new URL(url)
  return new ChromaClient({ host: hostname, port: Number(port), tenant: 'default_tenant', database })
}

async function namesIn(client: ChromaClient): Promise<readonly string[]> {
  return (await client.listCollections()).map(({ name }) => name)
}
