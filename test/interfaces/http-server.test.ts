/** What a server does around every request: names it is called by, other sites, ids, time, compression, readiness, metrics. */
import { request } from 'node:http'
import { gunzipSync } from 'node:zlib'
import { afterEach, describe, expect, it } from 'vitest'
import type { Engine } from '../../src/engine/engine.ts'
import { openEngine } from '../../src/engine/open.ts'
import { makeApp } from '../../src/interfaces/http/app.ts'
import { Authenticator } from '../../src/interfaces/http/auth.ts'
import { namesOf } from '../../src/interfaces/http/guard.ts'
import type { HttpOptions } from '../../src/interfaces/http/server.ts'
import type { HttpRequestLine } from '../../src/model/request-log.ts'
import { makeCatalog } from '../../src/ops/catalog.ts'
import { serveHere } from '../support/serve-here.ts'
import { bearer, tokensOf } from '../support/tokens.ts'
import { openToyEmbedder } from '../support/toy-embedder.ts'

const ends: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

interface Served {
  readonly engine: Engine
  readonly url: string
  readonly lines: readonly HttpRequestLine[]
}

async function serve(options: Partial<HttpOptions> = {}, engine?: Engine): Promise<Served> {
  const opened = engine ?? (await openEngine({ store: 'memory', embedder: 'none', background: false }))
  const lines: HttpRequestLine[] = []
  const server = await serveHere(opened, { note: line => void lines.push(line), ...options })
  ends.push(async () => {
    await server[Symbol.asyncDispose]()
    await opened.close()
  })
  return { engine: opened, url: server.url, lines }
}

interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Buffer
}

/** As it is sent: `fetch` would not let a test say which host it asks. */
function get(url: string, headers: Record<string, string>, method = 'GET'): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers, agent: false }, response => {
      const parts: Buffer[] = []
      response.on('data', part => parts.push(part))
      response.once('end', () => {
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(parts) })
      })
    })
    sent.once('error', reject)
    sent.end()
  })
}

it('answers to names that it was allowed, and to no others', async () => {
  const { url } = await serve({ allow_hosts: ['notes.example'] })
  expect((await get(`${url}/healthz`, { host: 'Notes.Example:80' })).status).toBe(200)
  expect((await get(`${url}/healthz`, { host: 'other.example' })).status).toBe(403)
})

it('answers pages of other sites where they were allowed, and says so to their browser', async () => {
  const { url } = await serve({ cors: ['https://notes.example'] })
  const allowed = await get(`${url}/v1/ops`, { origin: 'https://notes.example' })
  expect(allowed.status).toBe(200)
  expect(allowed.headers['access-control-allow-origin']).toBe('https://notes.example')
  const asked = { origin: 'https://notes.example', 'access-control-request-method': 'POST' }
  expect((await get(`${url}/v1/query`, asked, 'OPTIONS')).headers['access-control-allow-methods']).toContain('POST')
  const other = await get(`${url}/v1/ops`, { origin: 'https://other.example' })
  expect(other.status).toBe(403)
  expect(other.headers['access-control-allow-origin']).toBeUndefined()
})

it.each([
  [{ allow_hosts: ['http://notes.example'] }, '--allow-host'],
  [{ allow_hosts: ['notes.example:80'] }, '--allow-host'],
  [{ cors: ['notes.example'] }, '--cors'],
  [{ cors: ['https://notes.example/page'] }, '--cors'],
  [{ request_timeout_ms: 0 }, '--request-timeout'],
  [{ grace_ms: -1 }, '--grace'],
  [{ max_body: 0 }, '--max-body'],
  [{ max_body: 1.5 }, '--max-body'],
  [{ receive_timeout_ms: 0 }, '--receive-timeout'],
  [{ receive_timeout_ms: Number.NaN }, '--receive-timeout'],
  [{ max_connections: 0 }, '--max-connections'],
] as const)('refuses %j', async (options, field) => {
  await expect(serve(options)).rejects.toMatchObject({ code: 'invalid_argument', details: { field } })
})

it('takes over the id of a request that fits in a log, and notes its place in a trace', async () => {
  const { url, lines } = await serve()
  const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`
  const given = await get(`${url}/v1/status`, { 'x-request-id': 'deploy-7', traceparent })
  expect(given.headers['x-request-id']).toBe('deploy-7')
  const made = await get(`${url}/v1/status`, { 'x-request-id': 'two words', traceparent: 'nonsense' })
  expect(made.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
  expect(lines[0]).toMatchObject({ request_id: 'deploy-7', route: '/v1/status', operation: 'status', traceparent })
  expect(lines[1]).not.toHaveProperty('traceparent')
})

it('compresses answers for those who accept it, and streams for nobody', async () => {
  const { engine, url } = await serve()
  await engine.put({ entries: [{ id: 'long', content: 'granite '.repeat(2_000) }] })
  const plain = await get(`${url}/v1/entries/long?touch=false`, {})
  const packed = await get(`${url}/v1/entries/long?touch=false`, { 'accept-encoding': 'gzip' })
  expect(packed.headers['content-encoding']).toBe('gzip')
  expect(packed.body.length).toBeLessThan(plain.body.length / 10)
  expect(gunzipSync(packed.body)).toEqual(plain.body)
  const stream = await fetch(`${url}/v1/query`, {
    ...{ method: 'POST', body: JSON.stringify({ text: 'granite' }) },
    headers: { accept: 'text/event-stream', 'accept-encoding': 'gzip' },
  })
  expect(stream.headers.get('content-encoding')).toBeNull()
  expect(await stream.text()).toContain('granite')
})

it('gives up on an answer that takes longer than it may', async () => {
  const toy = openToyEmbedder()
  const never = () => new Promise<never>(() => {})
  const embedder = { ...toy, model: toy.model, close: () => toy.close(), embed: never }
  const { url, lines } = await serve(
    { request_timeout_ms: 30 },
    await openEngine({ store: 'memory', embedder, background: false }),
  )
  const late = await fetch(`${url}/v1/query`, { method: 'POST', body: JSON.stringify({ text: 'granite' }) })
  expect(late.status).toBe(504)
  expect(await late.json()).toMatchObject({ error: { code: 'deadline_exceeded' } })
  expect(lines[0]).toMatchObject({ status: 504, code: 'deadline_exceeded' })
})

it('lets the owner alone ask as somebody else', async () => {
  const { engine, url } = await serve({ tokens: tokensOf('ben') })
  await engine.put({ entries: [{ id: 'mine', content: 'granite', visibility: 'private' }] })
  const as = (headers: Record<string, string>) => get(`${url}/v1/entries/mine`, headers)
  expect((await as(bearer('owner'))).status).toBe(200)
  expect((await as({ ...bearer('owner'), 'querent-viewer': 'ana' })).status).toBe(404)
  expect((await as({ ...bearer('owner'), 'querent-viewer': 'two words' })).status).toBe(400)
  expect((await as({ ...bearer('ben'), 'querent-viewer': 'owner' })).status).toBe(403)
})

it('is ready until it begins to end', async () => {
  const { engine, url } = await serve()
  expect(JSON.parse((await get(`${url}/readyz`, {})).body.toString())).toEqual({ ready: true, failing: null })
  const ending = makeApp(engine, makeCatalog(engine), {
    authenticator: new Authenticator({ local: true }),
    names: namesOf(true, [], []),
    requestId: () => 'one',
    log: () => {},
    ending: AbortSignal.abort(),
  })
  const late = await ending.request('http://127.0.0.1/readyz', { headers: { host: '127.0.0.1' } })
  expect(late.status).toBe(503)
  expect(await late.json()).toEqual({ ready: false, failing: 'ending' })
})

it('shows figures to the owner alone, without anything that a request brought', async () => {
  const { url } = await serve({ tokens: tokensOf('ben') })
  await get(`${url}/v1/entries/secret-name`, bearer('owner'))
  const shown = (await get(`${url}/metrics`, bearer('owner'))).body.toString()
  expect(shown).toContain('querent_http_requests_total{operation="get",status="404"} 1')
  expect(shown).not.toContain('secret-name')
  expect((await get(`${url}/metrics`, bearer('ben'))).status).toBe(403)
})

it('notes the route that answered, by its pattern', async () => {
  const { url, lines } = await serve()
  for (const path of ['/readyz', '/healthz', '/v1/ops', '/v1/ops/nope', '/v1/entries/none', '/nowhere']) {
    await get(`${url}${path}`, {})
  }
  await get(`${url}/readyz`, { host: 'evil.example' })
  expect(lines.map(({ route, status }) => `${route} ${status}`)).toEqual([
    ...['/readyz 200', '/healthz 200', '/v1/ops 200', '/v1/ops/:name 404', '/v1/entries/:id 404', '/* 404'],
    '/readyz 403',
  ])
})

describe('the log of requests to the lens beliefs', () => {
  const post = (url: string, operation: string, input: object) =>
    fetch(`${url}/v1/ops/${operation}`, { method: 'POST', body: JSON.stringify(input) }).then(answer => answer.text())

  it('BQ-196: has who asked what, how long it took and how it ended, and no text of a query or a belief', async () => {
    const { url, lines } = await serve()
    await post(url, 'beliefs.put', { content: 'Rain is a secret', wait: false })
    await post(url, 'beliefs.query', { semantic: 'rain in private' })
    await post(url, 'beliefs.query', { semantic: 'rain in private', options: { stream: true } })
    await post(url, 'beliefs.get', { belief_id: 'secret-id' })
    expect(lines.map(({ operation, requester, results, code }) => [operation, requester, results, code])).toEqual([
      ['beliefs.put', 'owner', null, null],
      ['beliefs.query', 'owner', 1, null],
      ['beliefs.query', 'owner', null, null],
      ['beliefs.get', 'owner', null, 'INVALID_QUERY'],
    ])
    for (const line of lines) {
      expect(line).toMatchObject({ request_id: expect.any(String), duration_ms: expect.any(Number) })
      expect(line).not.toHaveProperty('query')
    }
    expect(JSON.stringify(lines)).not.toMatch(/secret|private/i)
  })

  it('BQ-196: has the text of a query where the operator wants it, and until when it may be kept', async () => {
    const { url, lines } = await serve({ queryDays: 7 })
    await post(url, 'beliefs.query', { semantic: 'rain' })
    await post(url, 'beliefs.explain', { belief_id: 'none', query: { semantic: 'snow' } })
    expect(lines.map(({ query }) => query)).toEqual(['rain', 'snow'])
    const [{ at, keep_until: until } = { at: '' }] = lines
    expect(Math.abs(Date.parse(until ?? '') - Date.parse(at) - 7 * 24 * 60 * 60 * 1000)).toBeLessThan(60_000)
  })
})
