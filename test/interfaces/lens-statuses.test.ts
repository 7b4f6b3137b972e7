/** What the lenses' routes say over a real socket when something is in the way: status, headers, code and nothing of the machine. */
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Engine } from '../../src/engine/engine.ts'
import { openEngine } from '../../src/engine/open.ts'
import type { HttpOptions } from '../../src/interfaces/http/server.ts'
import { QuerentError } from '../../src/model/errors.ts'
import { type Catalog, makeCatalog } from '../../src/ops/catalog.ts'
import { openSqliteStore } from '../../src/store/sqlite-store.ts'
import { Child } from '../faults/child.ts'
import { HASHTAGS } from '../support/chroma-nodes.ts'
import { catalogOf, operation } from '../support/operations.ts'
import { type ServedHere, serveHere } from '../support/serve-here.ts'
import { type TempFolder, tempFolder } from '../support/temp-folder.ts'
import { bearer, tokensOf } from '../support/tokens.ts'
import { callHere } from './interfaces.ts'

const ANA = bearer('ana')
const RAIN = { semantic: 'rain in spring' }
const servers: ServedHere[] = []

let folder: TempFolder
let file = ''
let engine: Engine
let machineTime = 0
/** As anybody asks; and where all that takes time is out of it at once. */
let url = ''
let lateUrl = ''

beforeAll(async () => {
  folder = tempFolder()
  file = join(folder.path, 'store.db')
  const store = openSqliteStore({ file, timeoutMs: 30 })
  engine = await openEngine({ store, embedder: 'none', background: false, machineTime: () => machineTime })
  await callHere(engine, 'agents.create', { id: 'ana' })
  await callHere(engine, 'chroma.assign', { starter: true })
  url = await serve({})
  lateUrl = await serve({
    request_timeout_ms: 1,
    after: (_, then) => {
      then()
      return () => {}
    },
  })
})
afterAll(async () => {
  for (const server of servers) await server[Symbol.asyncDispose]()
  await engine.close()
  folder[Symbol.dispose]()
})
beforeEach(() => {
  // Time enough for every bucket to be full again.
  machineTime += 60_000
})

async function serve(more: Partial<HttpOptions>, catalog: Catalog = makeCatalog(engine)): Promise<string> {
  const server = await serveHere(engine, { tokens: tokensOf('ana'), ...more }, catalog)
  servers.push(server)
  return server.url
}

interface Reported {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: errors of several lenses, read in expectations only
  readonly error: any
}

async function post(path: string, input: unknown, headers: Record<string, string> = ANA, at = url): Promise<Reported> {
  const response = await fetch(`${at}${path}`, { method: 'POST', body: JSON.stringify(input), headers })
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, error: JSON.parse(text).error }
}

function isTextOrNull(value: unknown): boolean {
  return value === null || typeof value === 'string'
}

describe('a route of the lens beliefs (BQ-184)', () => {
  it.each(['/v1/beliefs/query', '/v1/ops/beliefs.query'])('%s says 401 to whom it does not know', async path => {
    const { status, headers, error } = await post(path, RAIN, { authorization: 'Bearer nobody' })
    expect(status).toBe(401)
    expect(headers.get('www-authenticate')).toBe('Bearer')
    expect(error).toMatchObject({ type: 'QueryError', code: 'UNAUTHORIZED', retryable: false, details: {} })
  })

  it('says 403 to a known requester that acts as another', async () => {
    const { status, error } = await post('/v1/beliefs/query', { ...RAIN, context: { requester_id: 'ben' } })
    expect([status, error.code]).toEqual([403, 'UNAUTHORIZED'])
  })

  it('says 400 to what is no query', async () => {
    expect((await post('/v1/beliefs/query', {})).error.code).toBe('INVALID_QUERY')
    const { status, error } = await post('/v1/beliefs/query', { ...RAIN, filters: { min_confidence: 9 } })
    expect([status, error.code]).toEqual([400, 'INVALID_FILTERS'])
  })

  const unreadable: readonly (readonly [string, string | Uint8Array<ArrayBuffer>, string, string])[] = [
    ['is no JSON', '{"semantic":', 'a JSON document', 'invalid_json'],
    ['is no UTF-8', Uint8Array.of(0xff, 0xfe), 'UTF-8 text', 'invalid_argument'],
    ['is too long', `"${'a'.repeat(256 * 1024)}"`, 'at most 262144 bytes', 'too_complex'],
  ]

  it.each(unreadable)('says what is wrong with a body that %s, as with any other input (BQ-185)', async (...given) => {
    const [, body, constraint, reason] = given
    const response = await fetch(`${url}/v1/beliefs/query`, { method: 'POST', body, headers: ANA })
    const { error } = (await response.json()) as Reported
    expect(error).toMatchObject({ code: 'INVALID_QUERY', details: { path: 'body', constraint, reason } })
    expect(error.details.all).toEqual([
      { code: 'INVALID_QUERY', path: 'body', constraint, reason, value: expect.toSatisfy(isTextOrNull) },
    ])
    expect(response.status).toBe(400)
  })

  it('says 429 and how long to wait when there was too much (BQ-189)', async () => {
    const reported: Reported[] = []
    for (let at = 0; at < 34; at++) reported.push(await post('/v1/beliefs/count', RAIN))
    expect(reported.slice(0, 33).map(({ status }) => status)).toEqual(Array(33).fill(200))
    const { status, headers, error } = reported[33] as Reported
    expect(error).toMatchObject({ code: 'RATE_LIMITED', retryable: true, details: { retry_after_ms: 300 } })
    expect([status, headers.get('retry-after')]).toEqual([429, '1'])
  })

  it('says 504 when there was no answer in time', async () => {
    const { status, error } = await post('/v1/beliefs/query', RAIN, ANA, lateUrl)
    expect(error).toMatchObject({ type: 'QueryError', code: 'TIMEOUT', retryable: true })
    expect(status).toBe(504)
  })
})

it('an operation that heeds no deadline says so by its contract too', async () => {
  const { promise: never } = Promise.withResolvers<object>()
  const found = new QuerentError(
    { code: 'LATE', type: 'Late', kind: 'limit', retryable: true, help: 'Wait.' },
    'late',
    {},
  )
  const deaf = operation('deaf', () => never, { refusal: () => found })
  const after: HttpOptions['after'] = (_, then) => {
    const timer = setImmediate(then)
    return () => clearImmediate(timer)
  }
  const at = await serve({ request_timeout_ms: 1, after }, catalogOf(deaf))
  expect((await post('/v1/ops/deaf', {}, ANA, at)).error).toMatchObject({ code: 'LATE' })
})

describe('while another process writes to the store', () => {
  let child: Child
  beforeAll(async () => {
    child = new Child('../faults/store-child.ts', import.meta.url, ['hold-lock', file])
    await child.says('holding')
  })
  afterAll(() => child[Symbol.asyncDispose]())

  const asked: readonly (readonly [string, Record<string, string>])[] = [
    ['an agent', ANA],
    ['the local owner', bearer('owner')],
  ]

  it.each(asked)('beliefs say 503 to %s, when to try again, and no file (BQ-184, BQ-185)', async (_, headers) => {
    const received = await post('/v1/ops/beliefs.put', { content: 'Rain' }, headers)
    expect(received.error).toMatchObject({ type: 'QueryError', code: 'NODE_UNAVAILABLE', retryable: true })
    expect([received.status, received.headers.get('retry-after')]).toEqual([503, '1'])
    expect(received.text).not.toContain(folder.path)
  })

  it.each(asked)('nodes say 503 to %s, when to try again, and no file (CQ-120)', async (_, headers) => {
    const reply = await post('/v1/chroma/nodes', { hashtags: HASHTAGS.web, label: 'a', content: 'a' }, headers)
    expect(reply.error).toMatchObject({ type: 'DatabaseError', code: expect.any(String), message: expect.any(String) })
    expect([reply.status, reply.headers.get('retry-after')]).toEqual([503, '1'])
    expect(reply.text).not.toContain(folder.path)
    expect(reply.text).not.toMatch(/\bat \w+ \(|node_modules|\.ts:\d/)
  })

  it('what only reads is answered', async () => {
    expect((await post('/v1/beliefs/count', RAIN)).status).toBe(200)
    expect((await fetch(`${url}/v1/chroma/statistics`, { headers: ANA })).status).toBe(200)
  })
})

describe('a route of the lens chroma (CQ-120)', () => {
  it('says 401 with a type to whom it does not know', async () => {
    const { status, error } = await post('/v1/chroma/query', {}, { authorization: 'Bearer nobody' })
    expect([status, error.type, error.code]).toEqual([401, 'QueryError', 'unauthenticated'])
  })
})
