/** How much requesters may ask over HTTP, over a real socket; the clock of the limits does not move between steps. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Engine } from '../../src/engine/engine.ts'
import { openEngine } from '../../src/engine/open.ts'
import { type Keys, keysOf } from '../../src/identity/keys.ts'
import { newNonce, signRequest } from '../../src/identity/messages.ts'
import { mcpOverHttp } from '../../src/interfaces/mcp/http.ts'
import { makeCatalog } from '../../src/ops/catalog.ts'
import { seededUniform } from '../support/seeded.ts'
import { type ServedHere, serveHere } from '../support/serve-here.ts'
import { bearer, tokensOf } from '../support/tokens.ts'

const uniform = seededUniform(7)
const random = (bytes: number) => Uint8Array.from({ length: bytes }, () => Math.floor(uniform() * 256))
const ann = keysOf(random(32))
const MINUTE = 60_000
const BEN = bearer('ben')

let machineTime = 0
let engine: Engine
let server: ServedHere
let url = ''
let node = ''

beforeAll(async () => {
  engine = await openEngine({ store: 'memory', embedder: 'none', background: false, machineTime: () => machineTime })
  const catalog = makeCatalog(engine)
  server = await serveHere(engine, { tokens: tokensOf('ben'), mcp: mcpOverHttp(engine, catalog) }, catalog)
  url = server.url
  node = ((await (await fetch(`${url}/v1/node`)).json()) as { did: string }).did
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
  await engine.close()
})
beforeEach(() => {
  // Time enough for every bucket to be full again.
  machineTime += MINUTE
})

interface Reported {
  readonly status: number
  readonly body: Record<string, unknown> & { readonly error?: { readonly code: string; readonly details: object } }
  readonly wait: string | null
}

async function post(
  path: string,
  input: unknown,
  headers: Record<string, string> = bearer('owner'),
): Promise<Reported> {
  const body = typeof input === 'string' ? input : JSON.stringify(input)
  const response = await fetch(`${url}${path}`, { method: 'POST', body, headers })
  return {
    status: response.status,
    body: (await response.json()) as Reported['body'],
    wait: response.headers.get('retry-after'),
  }
}

const call = (name: string, input: unknown, headers = BEN) => post(`/v1/ops/${name}`, input, headers)

function signed(path: string, input: unknown, keys = ann): Record<string, string> {
  const facts = { method: 'POST', path, body: JSON.stringify(input) }
  return signRequest(keys, facts, { audience: node, timestamp: Date.now(), nonce: newNonce(random) })
}

async function times<T>(count: number, act: () => Promise<T>): Promise<T[]> {
  const done: T[] = []
  for (let i = 0; i < count; i++) done.push(await act())
  return done
}

const statuses = async (count: number, act: () => Promise<Reported>) => {
  const counts: Record<number, number> = {}
  for (const { status } of await times(count, act)) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

describe('a requester with a token (BQ-189)', () => {
  it('is let through 33 times at once, then told how long to wait, and let through after that', async () => {
    const list = () => call('list', {})
    expect(await statuses(33, list)).toEqual({ 200: 33 })
    const refused = await list()
    expect(refused).toMatchObject({
      status: 429,
      wait: '1',
      body: { error: { code: 'rate_limited', details: { retry_after_ms: 300, limit: 200, window_ms: MINUTE } } },
    })
    machineTime += 299
    expect(await list()).toMatchObject({ status: 429, body: { error: { details: { retry_after_ms: 1 } } } })
    machineTime += 1
    expect((await list()).status).toBe(200)
  })

  it('receives the error of the lens, with a wait in whole seconds, rounded up (BQ-183, BQ-185)', async () => {
    await times(33, () => call('list', {}))
    const wide = { semantic: 'x', options: { scope: { local: true, network: true } } }
    expect(await call('beliefs.query', wide)).toMatchObject({
      status: 429,
      wait: '2',
      body: {
        error: {
          type: 'QueryError',
          code: 'RATE_LIMITED',
          retryable: true,
          details: { retry_after_ms: 1500, limit: 200, window_ms: MINUTE },
          request_id: expect.stringMatching(/^[0-9a-f]{24}$/),
        },
      },
    })
  })

  it('pays by what it asks (BQ-190)', async () => {
    const scope = { local: true, federated: true, network: true }
    const dear = { semantic: 'x', options: { scope, include_derivation: true, max_derivation_depth: 10, limit: 1000 } }
    // 1 + 2 + 4 + 10 + 9 = 26 of 33 units, then 7 of 7.
    expect((await call('beliefs.query', dear)).status).toBe(200)
    expect((await call('beliefs.query', { semantic: 'x', options: { scope } })).status).toBe(200)
    expect((await call('beliefs.query', { semantic: 'x' })).status).toBe(429)
  })

  it('pays no less when it asks the same store another way', async () => {
    const dear = { text: 'x', lens: 'beliefs', limit: 1000, explain: true }
    expect(await statuses(4, () => call('query', dear))).toEqual({ 200: 1, 429: 3 })
    machineTime += MINUTE
    const many = { queries: Array.from({ length: 34 }, () => ({ input: 'x' })) }
    await call('list', {})
    expect((await call('chroma.batch_query', many)).status).toBe(429)
  })

  it('pays for a request of a stream that does not exist, and receives the error of the lens (BQ-183)', async () => {
    const ask = () => call('beliefs.count', { semantic: 'x' }, { ...BEN, accept: 'application/x-ndjson' } as typeof BEN)
    expect(await ask()).toMatchObject({
      status: 400,
      body: { error: { type: 'QueryError', code: 'INVALID_QUERY', request_id: expect.any(String) } },
    })
    expect(await statuses(33, ask)).toEqual({ 400: 32, 429: 1 })
  })

  it('pays one unit for what is wrong, whatever it would have cost (BQ-186)', async () => {
    const wrong = { semantic: 'x', options: { scope: { network: true }, limit: 0 } }
    expect(await statuses(33, () => call('beliefs.query', wrong))).toEqual({ 400: 33 })
    expect((await call('beliefs.query', wrong)).status).toBe(429)
    machineTime += MINUTE
    expect(await statuses(34, () => call('get', { id: 7 }))).toEqual({ 400: 33, 429: 1 })
  })

  it('pays for what is denied as for what is not: trying is not free', async () => {
    expect(await statuses(34, () => call('doctor', {}))).toEqual({ 403: 33, 429: 1 })
    machineTime += MINUTE
    expect(await statuses(34, () => call('doctor', { no: 'such field' }))).toEqual({ 403: 33, 429: 1 })
  })

  it('pays for each query of a batch, which fails on its own (BQ-175)', async () => {
    const query = { semantic: 'x', options: { scope: { local: true, network: true } } }
    const { status, body } = await call('beliefs.batch', { queries: Array.from({ length: 8 }, () => query) })
    expect(status).toBe(200)
    expect(body).toMatchObject({ succeeded: 6, failed: 2 })
    expect((body['results'] as unknown[])[6]).toMatchObject({
      ok: false,
      error: { code: 'RATE_LIMITED', details: { retry_after_ms: 600 } },
    })
  })

  it('has one bucket at all interfaces: MCP over HTTP counts too', async () => {
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'list', arguments: {} } }
    const headers = { ...BEN, 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
    const ask = async () => {
      const response = await fetch(`${url}/mcp`, { method: 'POST', headers, body: JSON.stringify(message) })
      return response.text()
    }
    const answers = await times(33, ask)
    expect(answers.filter(answer => answer.includes('rate_limited'))).toEqual([])
    expect(await ask()).toContain('rate_limited')
    expect((await call('list', {})).status).toBe(429)
  })
})

describe('a requester with a signature (BQ-189)', () => {
  const list = (keys: Keys) => post('/v1/ops/list', {}, signed('/v1/ops/list', {}, keys))

  it('shares one bucket with all keys that are no agent here: a new key is no new bucket', async () => {
    await times(34, () => call('list', {}))
    expect(await statuses(33, () => list(keysOf(random(32))))).toEqual({ 200: 33 })
    expect((await list(keysOf(random(32)))).status).toBe(429)
  })

  it('has a bucket of its own where it is from an agent', async () => {
    await post('/v1/ops/agents.create', { id: 'ann', did: ann.did })
    await times(34, () => list(keysOf(random(32))))
    expect(await statuses(34, () => list(ann))).toEqual({ 200: 33, 429: 1 })
  })
})

describe('a request of more than 4 MiB', () => {
  it('is not read for MCP either', async () => {
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'list', arguments: {} } }
    const headers = { ...BEN, 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
    const body = JSON.stringify({ ...message, more: 'y'.repeat(4 * 1024 * 1024) })
    const response = await fetch(`${url}/mcp`, { method: 'POST', headers, body })
    expect(response.status).toBe(413)
  })
})

describe('who is not limited', () => {
  it('is the local owner, who needs no token', async () => {
    expect(await statuses(100, () => post('/v1/ops/list', {}))).toEqual({ 200: 100 })
  })
})

describe('a request of more than 256 KiB (BQ-191)', () => {
  const big = JSON.stringify({ semantic: 'x', more: 'y'.repeat(256 * 1024) })

  it.each([
    'beliefs.query',
    'beliefs.count',
    'beliefs.facets',
    'beliefs.batch',
    'beliefs.similar',
    'beliefs.contradictions',
    'beliefs.context_query',
    'beliefs.explain',
    'beliefs.derivation',
    'beliefs.watch',
  ])('is not read for %s, and costs a unit', async name => {
    expect(await call(name, big)).toMatchObject({
      status: 400,
      body: {
        error: {
          code: 'INVALID_QUERY',
          details: { path: 'body', constraint: 'at most 262144 bytes', reason: 'too_complex' },
        },
      },
    })
    expect(await statuses(33, () => call(name, big))).toEqual({ 400: 32, 429: 1 })
  })
})
