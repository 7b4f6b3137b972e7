import { afterEach, describe, expect, it } from 'vitest'
import { Deadline } from '../../../src/base/clock.ts'
import { LOCAL_OWNER } from '../../../src/model/viewer.ts'
import type { SourceRequest } from '../../../src/pipeline/source.ts'
import { type ChromaSourceOptions, openChromaSource } from '../../../src/sources/chromadb.ts'
import { type Loopback, sendJson, startLoopback } from '../../support/loopback.ts'

const open: Loopback[] = []
afterEach(async () => {
  for (const server of open.splice(0)) await server.close()
})

describe('what a ChromaDB server is sent', () => {
  it('is a question to the tenant and database named, with the token (CO-052)', async () => {
    const { server, ask } = await serve({ size: 9 }, { tenant: 'acme', database: 'facts', token: 'secret' })
    await ask({})
    const base = '/api/v2/tenants/acme/databases/facts/collections'
    expect(server.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      `GET ${base}/items`,
      `GET ${base}/${ID}/count`,
      `POST ${base}/${ID}/query`,
    ])
    for (const { headers } of server.requests) {
      expect([headers['authorization'], headers['x-chroma-token']]).toEqual(['Bearer secret', 'secret'])
    }
  })

  it('never asks for more neighbours than there are (CO-054)', async () => {
    const { server, ask } = await serve({ size: 3 })
    await ask({ limit: 50 })
    expect(JSON.parse(server.requests.at(-1)?.body ?? '')).toMatchObject({ n_results: 3, query_embeddings: [[1, 0]] })
    await ask({ limit: 2 })
    expect(JSON.parse(server.requests.at(-1)?.body ?? '')).toMatchObject({ n_results: 2 })
  })

  it('is not asked at all for neighbours in an empty collection (CO-027, CO-054)', async () => {
    const { server, ask } = await serve({ size: 0 })
    expect(await ask({})).toMatchObject({ records: [], exhausted: true, error: null })
    expect(server.requests.some(({ path }) => path.endsWith('/query'))).toBe(false)
  })

  it('is nothing that could change anything, whatever is missing (CO-026)', async () => {
    const { server, ask } = await serve({ size: null })
    expect((await ask({}))?.error?.code).toBe('collection_not_found')
    expect(server.requests.filter(({ method }) => method !== 'GET')).toEqual([])
  })
})

describe('a database that is not there', () => {
  it('is reported as such, not as collections that are not there (CO-023, CO-026)', async () => {
    const lost = await serve({ size: null }, { tenant: 'acme', database: 'lost' })
    expect((await lost.ask({}))?.error).toEqual({
      code: 'unreachable',
      message: `there is no database lost of the tenant acme at ${lost.server.url}`,
    })
    expect(lost.server.requests.filter(({ method }) => method !== 'GET')).toEqual([])
    const barred = await serve({ size: null }, { database: 'barred' })
    expect((await barred.ask({}))?.error?.code).toBe('collection_not_found')
  })

  it('is not looked for where collections are', async () => {
    const { server, ask } = await serve({ size: 2 }, { database: 'lost' })
    expect((await ask({}))?.error).toBeNull()
    expect(server.requests.some(({ path }) => path.endsWith('/databases/lost'))).toBe(false)
  })
})

describe('what a ChromaDB server answers', () => {
  it('may lack documents, metadata and distances (CO-011)', async () => {
    const { ask } = await serve({
      size: 2,
      answer: { ids: [['a', 'b']], documents: null, metadatas: null, distances: null },
    })
    expect(
      (await ask({}))?.records.map(({ id, content, metadata, distance }) => [id, content, metadata, distance]),
    ).toEqual([
      ['a', null, {}, null],
      ['b', null, {}, null],
    ])
  })

  it.each([
    ['ids that are no texts', { ids: [[1, 2]] }],
    ['no ids', { documents: [['x']] }],
    ['ids that are no list', { ids: 'a' }],
  ])('is malformed with %s', async (_, answer) => {
    const { ask } = await serve({ size: 2, answer })
    expect((await ask({}))?.error?.code).toBe('malformed_answer')
  })

  it.each([
    [{ hnsw: { space: 'cosine' } }, {}, 'cosine'],
    [{ spann: { space: 'ip' } }, {}, 'ip'],
    [{}, { 'hnsw:space': 'cosine' }, 'cosine'],
    [{}, {}, 'l2'],
  ])('tells the space by configuration %j or metadata %j: %s (CO-010)', async (configuration, metadata, space) => {
    const { ask } = await serve({ size: 0, configuration, metadata })
    expect((await ask({}))?.space).toBe(space)
  })
})

const ID = '0b0f8a52-6d38-4f4b-8f5c-6f1df27a2c11'

interface Server {
  /** Null: there is no such collection. */
  readonly size: number | null
  readonly configuration?: object
  readonly metadata?: object
  readonly answer?: object
}

async function serve(
  { size, configuration = { hnsw: { space: 'cosine' } }, metadata = {}, answer }: Server,
  options: Partial<ChromaSourceOptions> = {},
) {
  const server = await startLoopback(({ path }, response) => {
    const found = { ids: [['a']], documents: [['text']], metadatas: [[{}]], distances: [[0.1]], include: [] }
    if (path.endsWith('/heartbeat')) return sendJson(response, 200, { 'nanosecond heartbeat': 1 })
    if (path.endsWith('/databases/lost')) return sendJson(response, 404, { error: 'none' })
    if (path.endsWith('/databases/barred')) return sendJson(response, 403, { error: 'no' })
    if (/\/databases\/\w+$/.test(path)) return sendJson(response, 200, { id: ID, name: 'd', tenant: 't' })
    if (size === null)
      return sendJson(response, path.includes('?') ? 200 : 404, path.includes('?') ? [] : { error: 'none' })
    if (path.endsWith('/count')) return sendJson(response, 200, String(size))
    if (path.endsWith('/query')) return sendJson(response, 200, answer ?? found)
    const about = { id: ID, name: 'items', configuration_json: configuration, metadata, dimension: 2 }
    return sendJson(response, 200, {
      ...about,
      tenant: options.tenant ?? 't',
      database: options.database ?? 'd',
      version: 0,
    })
  })
  open.push(server)
  const source = openChromaSource({ name: 'chromadb', url: server.url, ...options })
  const ask = async (fields: Partial<SourceRequest>) => {
    const question = {
      ...{ accessScope: { viewer: LOCAL_OWNER, partitions: [] }, collections: ['items'], text: '', limit: 5 },
      ...{ vector: new Float32Array([1, 0]), where: [], anyTags: [], deadline: new Deadline(10_000) },
    }
    const { collections } = await source.ask({ ...question, ...fields })
    return collections[0]
  }
  return { server, ask }
}
