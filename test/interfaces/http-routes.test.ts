/** Readable routes over a real socket: each answers as the operation it stands for, with the statuses of its contract. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SettableClock } from '../../src/base/clock.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { openEngine } from '../../src/engine/open.ts'
import { failureResponse } from '../../src/interfaces/http/failure.ts'
import { DatabaseError } from '../../src/lenses/chroma/errors.ts'
import { HASHTAGS } from '../support/chroma-nodes.ts'
import { type ServedHere, serveHere } from '../support/serve-here.ts'
import { bearer, tokensOf } from '../support/tokens.ts'

interface Reply {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: answers of many shapes, looked into by each test
  readonly json: any
}

let engine: Engine
let server: ServedHere
let url = ''

beforeAll(async () => {
  const clock = new SettableClock(Date.UTC(2026, 5, 1, 12))
  engine = await openEngine({ store: 'memory', embedder: 'none', background: false, clock })
  server = await serveHere(engine, { tokens: tokensOf('ben') })
  url = server.url
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
  await engine.close()
})

async function ask(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Reply> {
  const sent = body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }
  const response = await fetch(`${url}${path}`, { method, ...sent, headers: { ...bearer('owner'), ...headers } })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json') && text !== ''
  return { status: response.status, headers: response.headers, text, json: isJson ? JSON.parse(text) : null }
}

const op = (name: string, input: unknown): Promise<Reply> => ask('POST', `/v1/ops/${name}`, input)

it.each([
  ['GET', '/v1/query', 'POST'],
  ['PUT', '/v1/ops/query', 'GET, POST'],
  ['PATCH', '/v1/entries/rain', 'GET, PUT, DELETE'],
  ['GET', '/v1/call', 'POST'],
])('%s %s is answered with 405 and the methods that the path has', async (method, path, allowed) => {
  const { status, headers, json } = await ask(method, path)
  expect({ status, allow: headers.get('allow') }).toEqual({ status: 405, allow: allowed })
  expect(json.error.message).toMatch(`expected ${allowed.replaceAll(', ', ' or ')}`)
  expect((await ask(method, '/v1/nowhere')).status).toBe(404)
})

describe('entries', () => {
  it('are written, read, listed, asked for and deleted', async () => {
    const written = await ask('PUT', '/v1/entries/rain', { content: 'Rain falls on the plain', tags: ['wet'] })
    expect(written).toMatchObject({ status: 200, json: { ids: ['rain'], created: 1 } })
    await ask('POST', '/v1/entries', { entries: [{ id: 'a/b', content: 'Snow on the hill' }] })
    const unused = { id: 'rain', touch: false }
    expect((await ask('GET', '/v1/entries/rain?touch=false')).json).toEqual((await op('get', unused)).json)
    expect((await ask('GET', '/v1/entries/rain')).json.access).toMatchObject({ count: 1 })
    expect((await op('touch', { ids: ['rain'] })).json).toEqual({ touched: 1 })
    expect((await ask('GET', '/v1/entries/a%2Fb')).json).toMatchObject({ content: 'Snow on the hill' })
    const listed = await ask('GET', '/v1/entries?limit=1&filter={"tags_any":["wet"]}')
    expect(listed.json).toEqual((await op('list', { limit: 1, filter: { tags_any: ['wet'] } })).json)
    expect((await ask('POST', '/v1/query', { text: 'rain' })).json.items).toHaveLength(1)
    expect(await ask('GET', '/v1/entries/rain/similar?limit=3')).toMatchObject({ status: 200 })
    expect((await ask('POST', '/v1/explain', { query: { text: 'rain' }, id: 'rain' })).json).toMatchObject({ rank: 1 })
    expect((await ask('DELETE', '/v1/entries/a%2Fb')).json).toEqual({ deleted: 1 })
    expect(await ask('GET', '/v1/entries/a%2Fb')).toMatchObject({ status: 404, json: { error: { code: 'not_found' } } })
  })

  it.each([
    ['GET', '/v1/entries?limit=many', undefined, 'invalid_argument', 'limit'],
    ['GET', '/v1/entries?limit=1&limit=2', undefined, 'invalid_argument', 'limit'],
    ['GET', '/v1/entries?foo=1', undefined, 'unknown_field', 'foo'],
    ['PUT', '/v1/entries/x', '[]', 'invalid_argument', 'entries'],
    ['POST', '/v1/query', '[]', 'invalid_argument', ''],
    ['POST', '/v1/query', '{', 'invalid_json', 'body'],
  ])('%s %s with %s is refused by the field', async (method, path, body, code, field) => {
    const { status, json } = await ask(method, path, body)
    expect([status, json.error.code]).toEqual([400, code])
    expect(json.error.message).toContain(field)
  })

  it('has status and lenses as their operations tell them', async () => {
    expect((await ask('GET', '/v1/lenses')).json).toEqual((await op('lenses', {})).json)
    expect((await ask('GET', '/v1/status')).json).toMatchObject({ entries: expect.any(Number) })
  })
})

describe('a read', () => {
  it('need not be sent again, and is kept by nobody for another', async () => {
    const first = await ask('GET', '/v1/entries/rain')
    const tag = first.headers.get('etag') ?? ''
    expect(tag).toMatch(/^(W\/)?"\w+"$/)
    expect(first.headers.get('cache-control')).toBe('private, no-cache')
    expect(first.headers.get('vary')).toContain('authorization')
    const again = await ask('GET', '/v1/entries/rain', undefined, { 'if-none-match': tag })
    expect(again).toMatchObject({ status: 304, text: '' })
    // Somebody who may not see it learns nothing from knowing the tag.
    const other = { ...bearer('ben'), 'if-none-match': tag }
    const refused = await ask('GET', '/v1/entries/rain', undefined, other)
    expect(refused.status).toBe(404)
    expect(refused.headers.get('etag')).toBeNull()
    await ask('PUT', '/v1/entries/rain', { content: 'Rain falls mainly on the plain', tags: ['wet'] })
    expect((await ask('GET', '/v1/entries/rain', undefined, { 'if-none-match': tag })).status).toBe(200)
  })
})

it('a watch answers as server-sent events', async () => {
  const gone = new AbortController()
  const body = JSON.stringify({ text: 'rain' })
  const response = await fetch(`${url}/v1/watch`, {
    ...{ method: 'POST', body, signal: gone.signal, headers: bearer('owner') },
  })
  expect(response.headers.get('content-type')).toContain('text/event-stream')
  const reader = response.body?.getReader()
  expect(new TextDecoder().decode((await reader?.read())?.value)).toMatch(/^retry: \d+\n\nevent: subscribed\n/)
  gone.abort()
})

describe('chroma (CQ-119, CQ-120)', () => {
  it('answers each route as its operation, a query with the envelope also when empty', async () => {
    const assigned = await ask('POST', '/v1/chroma/hashtags', { starter: true })
    expect(assigned.status).toBe(200)
    const listed = await ask('GET', '/v1/chroma/hashtags')
    expect(listed.json).toEqual((await op('chroma.hashtags', {})).json)
    const hashtags = HASHTAGS.python
    const empty = await ask('POST', '/v1/chroma/query', { hashtags, k: 3 })
    expect(empty).toMatchObject({ status: 200, json: { results: [], query: {}, warnings: [] } })
    const node = { hashtags, label: 'Rain', content: 'It rains' }
    const { json: stored } = await ask('POST', '/v1/chroma/nodes', node)
    const path = `/v1/chroma/nodes/${stored.entry_id}`
    expect((await ask('GET', path)).json).toMatchObject({ entry_id: stored.entry_id, label: 'Rain' })
    expect((await ask('PATCH', path, { label: 'Snow' })).json).toEqual({ updated: true })
    expect(await ask('PATCH', path, {})).toMatchObject({ status: 200, json: { updated: false } })
    expect(await ask('PATCH', path)).toMatchObject({ status: 200, json: { updated: false } })
    const found = await ask('POST', '/v1/chroma/query', { hashtags, k: 3 })
    expect(found.json.results).toMatchObject([{ entry_id: stored.entry_id, label: 'Snow' }])
    expect((await ask('POST', '/v1/chroma/batch-query', { queries: [{ hashtags, k: 1 }] })).json.answers).toHaveLength(
      1,
    )
    expect(await ask('POST', '/v1/chroma/suggest-hashtags', { content: 'rain' })).toMatchObject({ status: 200 })
    // CQ-036: in the words of the interface.
    const short = await ask('POST', '/v1/chroma/query', { hashtags: ['#python'] })
    expect(short.json.error.message).toContain('; POST /v1/chroma/suggest-hashtags finds assigned tags')
    expect((await ask('GET', '/v1/chroma/statistics')).json).toMatchObject({ total_nodes: 1 })
    expect((await ask('DELETE', path)).json).toEqual({ deleted: true })
  })

  it.each([
    ['POST', '/v1/chroma/query', { hashtags: 3 }, 400, 'ValidationError'],
    ['POST', '/v1/chroma/query', '{', 400, 'ValidationError'],
    ['POST', '/v1/chroma/query', '[]', 400, 'ValidationError'],
    ['POST', '/v1/chroma/nodes', {}, 400, 'ValidationError'],
    ['GET', '/v1/chroma/nodes/none', undefined, 404, 'QueryError'],
    ['PATCH', '/v1/chroma/nodes/none', { label: 'x' }, 404, 'QueryError'],
    ['PATCH', '/v1/chroma/nodes/none', {}, 404, 'QueryError'],
    ['DELETE', '/v1/chroma/nodes/none', undefined, 404, 'QueryError'],
  ])('%s %s with %j is refused with %i', async (method, path, body, status, type) => {
    const reply = await ask(method, path, body)
    expect([reply.status, reply.json]).toEqual([
      status,
      { error: { type, code: expect.any(String), message: expect.any(String), details: expect.any(Object) } },
    ])
    expect(reply.text).not.toMatch(/\.ts|node_modules|at \w+ \(/)
  })

  it('says when to try again where the database is busy', async () => {
    const busy = failureResponse(new DatabaseError('/home/x: locked', { retryable: true, attempts: 5 }), { id: 'ben' })
    expect([busy.status, busy.headers.get('retry-after')]).toEqual([503, '1'])
    const text = await busy.text()
    expect(JSON.parse(text)).toMatchObject({ error: { type: 'DatabaseError', code: 'database_failed' } })
    expect(text).not.toContain('/home')
    expect(failureResponse(new DatabaseError('broken', { retryable: false, attempts: 1 }), null).status).toBe(500)
  })
})

describe('other lenses', () => {
  it.each([
    ['/v1/collections/format', 'collections.format', { results: [], query: 'rain' }],
    ['/v1/c64/enrich', 'c64.enrich', { query: 'what is $d020?' }],
  ])('answers %s as %s', async (path, name, input) => {
    const [byRoute, byName] = [await ask('POST', path, input), await op(name, input)]
    expect([byRoute.status, byRoute.json]).toEqual([200, byName.json])
  })

  it('calls the lens context by path, in its envelope', async () => {
    const called = await ask('POST', '/v1/call', { path: '/graph/summary' })
    expect(called).toMatchObject({ status: 200, json: { meta: { path: '/graph/summary' } } })
    const unknown = await ask('POST', '/v1/call', { path: '/no/such' })
    expect(unknown).toMatchObject({ status: 200, json: { status: 'error', result: null } })
    expect(await ask('POST', '/v1/call', {})).toMatchObject({
      status: 400,
      json: { error: { details: { field: 'path' } } },
    })
  })
})
