/** QE-017: when a request over HTTP is the owner's: not from a page of another origin, not through a proxy, not where tokens are asked for. */
import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Engine } from '../../src/engine/engine.ts'
import { openEngine } from '../../src/engine/open.ts'
import type { HttpOptions } from '../../src/interfaces/http/server.ts'
import { mcpOverHttp } from '../../src/interfaces/mcp/http.ts'
import { makeCatalog } from '../../src/ops/catalog.ts'
import { type ServedHere, serveHere } from '../support/serve-here.ts'
import { bearer, tokensOf } from '../support/tokens.ts'
import { ask } from './raw-http.ts'

const served: ServedHere[] = []
let engine: Engine
/** Without tokens, with tokens, and with `--require-token` alone. */
let open = ''
let closed = ''
let required = ''

async function serve(options: Partial<HttpOptions>): Promise<string> {
  const server = await serveHere(engine, { mcp: mcpOverHttp(engine, makeCatalog(engine)), ...options })
  served.push(server)
  return server.url
}

beforeAll(async () => {
  engine = await openEngine({ store: 'memory', embedder: 'none', background: false })
  open = await serve({ allow_hosts: ['notes.example'], cors: ['https://notes.example', 'http://localhost:7999'] })
  closed = await serve({ tokens: tokensOf('ana'), allow_hosts: ['notes.example'] })
  required = await serve({ require_token: true })
})
afterAll(async () => {
  for (const server of served) await server[Symbol.asyncDispose]()
  await engine.close()
})

type Headers = Readonly<Record<string, string>>

/** As it is sent: `fetch` would not let a test say which host it asks. */
function statusOf(url: string, headers: Headers, method = 'GET'): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { headers, method, agent: false }, response => {
      resolve(response.statusCode)
      response.destroy()
    })
    sent.once('error', reject)
    sent.end(method === 'GET' ? undefined : '{"text":"x"}')
  })
}

const status = (headers: Headers) => statusOf(`${open}/v1/status`, headers)

const PROXIED: readonly Headers[] = [
  { host: 'notes.example' },
  { forwarded: 'for=203.0.113.7' },
  { via: '1.1 proxy' },
  { 'x-forwarded-for': '203.0.113.7' },
  { 'x-forwarded-host': 'notes.example' },
  { 'x-forwarded-proto': 'https' },
  { 'X-Forwarded-Server': 'proxy' },
  { 'x-forwarded-anything': '1' },
  { 'x-forwarded': '1' },
  { 'x-real-ip': '203.0.113.7' },
  { 'x-client-ip': '203.0.113.7' },
  { 'True-Client-IP': '203.0.113.7' },
  { 'fastly-client-ip': '203.0.113.7' },
  { 'x-cluster-client-ip': '203.0.113.7' },
  { 'client-ip': '203.0.113.7' },
  { 'cf-connecting-ip': '203.0.113.7' },
  { 'CF-Ray': '1' },
  { 'cdn-loop': 'proxy' },
  { 'x-remote-addr': '203.0.113.7' },
  { 'x-azure-clientip': '203.0.113.7' },
  { 'x-envoy-external-address': '203.0.113.7' },
  { 'x-original-host': 'notes.example' },
]

describe('a request without a token (QE-017)', () => {
  it.each([{}, { host: 'localhost:7411' }, { 'x-request-id': 'a', 'accept-encoding': 'gzip', 'x-zip': '1' }])(
    'is the local owner’s where it names this machine: %j',
    async headers => {
      expect(await status(headers)).toBe(200)
    },
  )

  it.each(PROXIED)('is nobody’s where a proxy handed it on: %j', async headers => {
    expect(await status(headers)).toBe(401)
    expect(await statusOf(`${closed}/v1/status`, { ...headers, ...bearer('ana') })).toBe(200)
  })

  it('is nobody’s in HTTP/1.0, which proxies speak that add no header', async () => {
    const port = Number(new URL(open).port)
    const asked = (version: string) =>
      ask(port, `GET /v1/status HTTP/${version}\r\nhost: 127.0.0.1:${port}\r\nconnection: close\r\n\r\n`)
    expect((await asked('1.1')).status).toBe(200)
    expect((await asked('1.0')).status).toBe(401)
  })

  it.each(['/v1/status', '/v1/query', '/v1/watch', '/v1/ops', '/v1/ops/put', '/v1/ops/backup', '/mcp', '/metrics'])(
    'is refused on %s where there are tokens or one is required, and through a proxy',
    async path => {
      const method = /status|metrics|ops$/.test(path) ? 'GET' : 'POST'
      for (const url of [closed, required]) expect(await statusOf(url + path, {}, method)).toBe(401)
      for (const url of [closed, required]) {
        expect(await statusOf(url + path, { 'querent-viewer': 'owner' }, method)).toBe(401)
      }
      expect(await statusOf(open + path, { via: '1.1 proxy' }, method)).toBe(401)
    },
  )

  it('still gets the description of the operations', async () => {
    for (const path of ['/healthz', '/openapi.json']) {
      expect(await statusOf(closed + path, {})).toBe(200)
    }
  })
})

describe('a token of the owner (QE-017)', () => {
  it('makes a request the owner’s on this machine, with no limits of requesters', async () => {
    const as = (headers: Headers) => statusOf(`${closed}/metrics`, { ...bearer('owner'), ...headers })
    expect(await as({})).toBe(200)
    for (let at = 0; at < 60; at += 1) expect(await as({})).toBe(200)
    expect(await as({ 'querent-viewer': 'ana' })).toBe(403)
  })

  it.each(PROXIED)('is refused through a proxy: %j', async headers => {
    expect(await statusOf(`${closed}/v1/status`, { ...headers, ...bearer('owner') })).toBe(403)
  })
})

describe('a page of another origin (QE-017)', () => {
  it.each([
    'http://localhost:7999/',
    'http://127.0.0.1:7998',
    'http://localhost',
    'https://localhost:7998',
    'http://localhost.evil.example',
    'https://evil.example',
    'null',
    'file://',
  ])('gets nothing and writes nothing, whatever its port: %s', async origin => {
    for (const path of ['/v1/ops/put', '/v1/query', '/v1/watch', '/mcp', '/v1/nodes/query']) {
      expect(await statusOf(open + path, { origin }, 'POST')).toBe(403)
    }
    for (const path of ['/v1/status', '/', '/healthz', '/openapi.json']) {
      expect(await statusOf(open + path, { origin })).toBe(403)
    }
  })

  it('is answered where it is the server’s own page, or --cors names it', async () => {
    const { host, port } = new URL(open)
    expect(await status({ origin: open })).toBe(200)
    expect(await status({ host: `localhost:${port}`, origin: `http://localhost:${port}` })).toBe(200)
    expect(await status({ host: 'localhost:80', origin: 'http://localhost' })).toBe(200)
    expect(await status({ host, origin: `http://localhost:${port}` })).toBe(403)
    for (const origin of ['http://localhost:7999', 'https://notes.example']) expect(await status({ origin })).toBe(200)
  })

  it('loads nothing of the server as a part of itself, and a link on it can be followed', async () => {
    const fetched = (site: string, mode: string, dest: string, method = 'GET') =>
      statusOf(
        `${open}/v1/ops/${method === 'GET' ? 'query' : 'status'}`,
        { 'sec-fetch-site': site, 'sec-fetch-mode': mode, 'sec-fetch-dest': dest },
        method,
      )
    for (const site of ['same-site', 'cross-site']) {
      expect(await fetched(site, 'no-cors', 'image')).toBe(403)
      expect(await fetched(site, 'no-cors', 'empty')).toBe(403)
      expect(await fetched(site, 'navigate', 'iframe')).toBe(403)
      expect(await fetched(site, 'navigate', 'document', 'POST')).toBe(403)
      expect(await fetched(site, 'navigate', 'document')).toBe(200)
    }
    expect(await fetched('same-origin', 'cors', 'empty')).toBe(200)
    expect(await fetched('none', 'navigate', 'document')).toBe(200)
  })
})

describe('wrong tokens', () => {
  it('are refused for a while when an address has sent thirty, and right ones of the same address are not', async () => {
    const one = await openEngine({ store: 'memory', embedder: 'none', background: false, machineTime: () => now })
    let now = 0
    const server = await serveHere(one, { tokens: tokensOf('ana') })
    const sent = async (authorization: string) => {
      const response = await fetch(`${server.url}/v1/status`, { headers: { authorization } })
      return { status: response.status, wait: response.headers.get('retry-after') }
    }
    for (let at = 0; at < 30; at += 1) expect((await sent(`Bearer wrong-${at}`)).status).toBe(401)
    for (const wrong of ['Bearer wrong', 'Basic b2s=']) expect(await sent(wrong)).toEqual({ status: 429, wait: '2' })
    expect((await sent('Querent-Signature a b')).status).toBe(401)
    expect((await sent(bearer('ana').authorization)).status).toBe(200)
    expect((await fetch(`${server.url}/v1/status`)).status).toBe(401)
    now += 2_000
    expect((await sent('Bearer wrong')).status).toBe(401)
    expect((await sent('Bearer wrong')).status).toBe(429)
    await server[Symbol.asyncDispose]()
    await one.close()
  })
})
