/** The HTTP interface against requests that are wrong, hostile or unlucky, over a real socket. */

import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { serveHttp } from '../../src/interfaces/http/server.ts'
import { QuerentError } from '../../src/model/errors.ts'
import type { Catalog } from '../../src/ops/catalog.ts'
import { bug, catalogOf, echo, failing, noEngine, operation } from '../support/operations.ts'
import { type ServedHere, serveHere } from '../support/serve-here.ts'
import { bearer, tokenOf, tokensOf } from '../support/tokens.ts'
import { ask, get } from './raw-http.ts'

const TOKENS = tokensOf('ana', 'ben')
const OWNER = bearer('owner')

let waiting: (signal: AbortSignal) => void = () => {}
const catalog: Catalog = catalogOf(
  echo,
  bug,
  failing('not_found', 'no such entry', { id: 'a' }),
  failing('store_locked', 'locked', {}),
  failing('store_corrupt', '/home/me/store.db: damaged', { file: '/home/me/store.db' }),
  failing('conflict', '/home/me/x: it is taken', { path: '/home/me/x', id: 'a' }),
  failing('deadline_exceeded', 'too late', {}),
  operation('wait', (_input, { signal }) => {
    waiting(signal)
    return new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(new QuerentError('cancelled', 'gone')), { once: true })
    })
  }),
  operation('owners', () => ({}), { effect: { kind: 'read', idempotent: true, ownerOnly: true } }),
)

const logged: string[] = []
let server: ServedHere
let url = ''
beforeAll(async () => {
  server = await serveHere(noEngine, { tokens: TOKENS, log: text => void logged.push(text) }, catalog)
  url = server.url
})
afterAll(() => server[Symbol.asyncDispose]())

interface Answer {
  readonly status: number
  readonly body: unknown
  readonly headers: Headers
}

async function post(
  path: string,
  body?: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const init = { method: 'POST', headers: { ...OWNER, ...headers }, ...(body !== undefined && { body }) }
  const response = await fetch(`${url}${path}`, init)
  return { status: response.status, body: await response.json(), headers: response.headers }
}

describe('a viewer', () => {
  const viewerOf = async (headers: Record<string, string>) => (await post('/v1/ops/echo', '{}', headers)).body

  it('is the owner by a token of the owner', async () => {
    expect(await viewerOf(OWNER)).toEqual({ input: {}, viewer: 'owner' })
  })

  it("is the token's, whatever the body says", async () => {
    expect(await viewerOf(bearer('ben'))).toEqual({ input: {}, viewer: 'ben' })
    const said = await post('/v1/ops/echo', '{"viewer":"owner"}', { authorization: 'bearer token-of-ana-in-tests' })
    expect(said.body).toEqual({ input: { viewer: 'owner' }, viewer: 'ana' })
  })

  it.each([
    'Bearer wrong',
    'Bearer token-of-ana-in-test',
    'Bearer token-of-ana-in-testss',
    'Bearer',
    'Basic dG9rZW4tb2YtYW5h',
    'x',
    '',
  ])('is nobody with %j', async authorization => {
    const { status, body, headers } = await post('/v1/ops/echo', '{}', { authorization })
    expect({ status, body }).toEqual({
      status: 401,
      body: { error: { code: 'unauthenticated', message: 'a valid bearer token is needed', details: {} } },
    })
    expect(headers.get('www-authenticate')).toBe('Bearer')
  })

  it('may not call what is for the owner', async () => {
    const { status, body } = await post('/v1/ops/owners', '{}', bearer('ana'))
    expect({ status, body }).toMatchObject({ status: 403, body: { error: { code: 'denied' } } })
    expect((await post('/v1/ops/owners')).status).toBe(200)
  })
})

describe('a body', () => {
  it.each([
    ['{"a":', 400, 'invalid_json'],
    ['{} {}', 400, 'invalid_json'],
    ['[]', 400, 'invalid_argument'],
    ['7', 400, 'invalid_argument'],
    ['"text"', 400, 'invalid_argument'],
  ])('%s gives %i %s', async (text, status, code) => {
    expect(await post('/v1/ops/echo', text)).toMatchObject({ status, body: { error: { code } } })
  })

  it('may be empty', async () => {
    expect((await post('/v1/ops/echo')).body).toEqual({ input: {}, viewer: 'owner' })
    expect((await post('/v1/ops/echo', ' \n ')).body).toEqual({ input: {}, viewer: 'owner' })
  })
})

describe('a request', () => {
  it.each(['/', '/v1', '/v1/ops/echo/more', '/v1/ops/', '/mcp', '/../../etc/passwd'])(
    'to %s finds nothing',
    async path => {
      expect(await post(path, '{}')).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } })
    },
  )

  it('for an unknown operation is answered with the names alike', async () => {
    expect(await post('/v1/ops/ehco', '{}')).toMatchObject({
      status: 404,
      body: { error: { code: 'unknown_operation', details: { near: ['echo'] } } },
    })
  })

  it('that fails keeps code, message and details, with a status of its kind', async () => {
    expect(await post('/v1/ops/fail_not_found')).toMatchObject({
      status: 404,
      body: { error: { code: 'not_found', message: 'no such entry', details: { id: 'a' } } },
    })
    expect((await post('/v1/ops/fail_store_locked')).status).toBe(503)
    expect((await post('/v1/ops/fail_deadline_exceeded')).status).toBe(504)
  })

  it.each(['/v1/ops/fails', '/v1/ops/nope', '/nowhere'])(
    'that fails has the headers of one that does not: %s',
    async path => {
      const { status, headers } = await post(path)
      expect(status).toBeGreaterThanOrEqual(400)
      expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
      expect(headers.get('cache-control')).toBe('no-store')
      expect(headers.get('x-content-type-options')).toBe('nosniff')
    },
  )

  it('of another learns nothing of the machine; the local owner reads where it is', async () => {
    const answers = async (headers: Record<string, string>) =>
      Promise.all(
        ['store_corrupt', 'conflict'].map(async code => (await post(`/v1/ops/fail_${code}`, '{}', headers)).body),
      )
    const reported = await answers(bearer('ana'))
    expect(reported).toEqual([
      { error: { code: 'store_corrupt', message: 'the store is damaged', details: {} } },
      { error: { code: 'conflict', message: 'it is taken', details: { id: 'a' } } },
    ])
    expect(JSON.stringify(await answers(OWNER))).toContain('/home/me/store.db: damaged')
  })

  it('that meets a bug learns nothing of the inside, which is logged', async () => {
    const { status, body, headers } = await post('/v1/ops/bug')
    const report = logged.find(text => text.includes(headers.get('x-request-id') ?? 'none'))
    expect(report).toMatch(/TypeError: secret words of the inside\n\s+at /)
    expect(logged).toHaveLength(1)
    expect({ status, body }).toEqual({
      status: 500,
      body: { error: { code: 'internal', message: 'internal error', details: {} } },
    })
  })

  it('that the client gives up is cancelled', async () => {
    const started = new Promise<AbortSignal>(resolve => {
      waiting = resolve
    })
    const controller = new AbortController()
    const init = { method: 'POST', headers: OWNER, signal: controller.signal }
    const sent = fetch(`${url}/v1/ops/wait`, init).catch(() => 'gone')
    const signal = await started
    expect(signal.aborted).toBe(false)
    const cancelled = new Promise<void>(resolve => signal.addEventListener('abort', () => resolve(), { once: true }))
    controller.abort()
    expect(await sent).toBe('gone')
    await cancelled
    expect((await post('/v1/ops/echo')).status).toBe(200)
  })
})

describe('the catalog over HTTP', () => {
  const get = async (path: string, token?: string): Promise<Answer> => {
    const response = await fetch(`${url}${path}`, {
      headers: token === undefined ? OWNER : { authorization: `Bearer ${token}` },
    })
    return { status: response.status, body: await response.json(), headers: response.headers }
  }

  it('lists what the viewer may call, with schemas', async () => {
    const { body } = await get('/v1/ops')
    const names = (body as { operations: { name: string }[] }).operations.map(({ name }) => name)
    expect(names).toContain('owners')
    const seen = await get('/v1/ops', tokenOf('ana'))
    expect(JSON.stringify(seen.body)).not.toContain('owners')
    expect((await get('/v1/ops/echo')).body).toMatchObject({ name: 'echo', input: { type: 'object' } })
    expect((await get('/v1/ops', 'wrong')).status).toBe(401)
  })

  it('says that it is there without a token, and nothing more', async () => {
    const { status, body, headers } = await get('/healthz', 'wrong')
    expect({ status, body }).toEqual({ status: 200, body: { ok: true } })
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
  })
})

describe('a client that does not read its answer', () => {
  const SIZE = 64 * 1024 * 1024
  const huge = operation('huge', () => ({ text: 'x'.repeat(SIZE) }))

  it('loses its connection, and who reads slowly gets all of it', async () => {
    const receiveMs = 2_000
    await using own = await serveHere(noEngine, { receive_timeout_ms: receiveMs }, catalogOf(huge, echo))
    const address = own.url
    const socket = connect(Number(new URL(address).port), '127.0.0.1')
    socket.write('POST /v1/ops/huge HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\n\r\n{}')
    await new Promise(resolve => socket.once('readable', resolve))
    const slow = await fetch(`${address}/v1/ops/huge`, { method: 'POST' })
    let taken = 0
    for await (const part of slow.body ?? []) {
      taken += part.length
      if (taken < SIZE / 32) await new Promise(resolve => setTimeout(resolve, 20))
    }
    expect(taken).toBeGreaterThan(SIZE)
    await new Promise(resolve => setTimeout(resolve, 2 * receiveMs))
    // It is closed from the other side; what the system had taken for it can be read still.
    let had = 0
    socket.on('data', part => {
      had += part.length
    })
    socket.on('error', () => {})
    await new Promise(resolve => socket.once('close', resolve))
    expect(had).toBeLessThan(SIZE)
  })
})

describe('a server', () => {
  const start = (host: string, tokens: unknown, port = 0) =>
    serveHttp(noEngine, catalog, { host, port, tokens }, AbortSignal.abort(), () => {})

  it('needs tokens where other machines can reach it', async () => {
    await expect(start('0.0.0.0', undefined)).rejects.toMatchObject({
      code: 'invalid_argument',
      message: expect.stringContaining('--tokens is needed'),
    })
  })

  it('then answers nobody without a token', async () => {
    await using own = await serveHere(noEngine, { host: '0.0.0.0', tokens: TOKENS }, catalog)
    const here = `http://127.0.0.1:${new URL(own.url).port}/v1/ops/echo`
    expect((await fetch(here, { method: 'POST' })).status).toBe(401)
    const headers = bearer('ana')
    expect((await fetch(here, { method: 'POST', headers })).status).toBe(200)
  })

  it('takes any one host name where other machines can reach it and no name was set, but never two', async () => {
    await using own = await serveHere(noEngine, { host: '0.0.0.0', tokens: TOKENS }, catalog)
    const port = Number(new URL(own.url).port)
    expect((await ask(port, get('/healthz', [], 'notes.example'))).status).toBe(200)
    expect((await ask(port, get('/healthz', ['host: notes.example'], 'other.example'))).status).toBe(403)
  })

  it('gives requests under way a moment, then ends them and itself', async () => {
    const own = await serveHere(noEngine, { grace_ms: 100 }, catalog)
    const started = new Promise<AbortSignal>(resolve => {
      waiting = resolve
    })
    const sent = fetch(`${own.url}/v1/ops/wait`, { method: 'POST' }).catch(() => 'ended')
    const signal = await started
    const cancelled = new Promise<void>(resolve => signal.addEventListener('abort', () => resolve(), { once: true }))
    await own[Symbol.asyncDispose]()
    expect(await sent).toBe('ended')
    await cancelled
  })

  it.each([
    [[], '--tokens'],
    ['text', '--tokens'],
    [null, '--tokens'],
    [{ 'token-of-sixteen': 7 }, '--tokens'],
    [{ 'token-of-sixteen': 'two words' }, '--tokens'],
    [{ 'token of sixteen': 'ana' }, '--tokens'],
    [{ 'token-of-fiftee': 'ana' }, '--tokens'],
    [{ '': 'ana' }, '--tokens'],
  ])('refuses the token file %j', async (tokens, field) => {
    await expect(start('127.0.0.1', tokens)).rejects.toMatchObject({ code: 'invalid_argument', details: { field } })
  })

  it('never shows a token in an error', async () => {
    for (const token of ['se cret', 'short'])
      await expect(start('127.0.0.1', { [token]: 'ana' })).rejects.not.toThrow(token)
  })

  it('says when its port is taken or impossible', async () => {
    const taken = Number(new URL(url).port)
    await expect(start('127.0.0.1', undefined, taken)).rejects.toMatchObject({
      code: 'invalid_argument',
      message: expect.stringContaining('--port'),
      details: { field: '--port', value: String(taken) },
    })
    await expect(start('192.0.2.1', TOKENS)).rejects.toMatchObject({ code: 'io_failed' })
    await expect(start('127.0.0.1', undefined, 70_000)).rejects.toMatchObject({ code: 'invalid_argument' })
  })
})
