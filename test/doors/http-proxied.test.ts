/** The local owner needs no token on this machine; whom a proxy on this machine speaks for is somebody else. */
import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { serveHttp } from '../../src/doors/http/serve.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { openEngine } from '../../src/engine/open.ts'
import { makeCatalog } from '../../src/ops/catalog.ts'

const end = new AbortController()
let engine: Engine
let served: Promise<void>
let url = ''

beforeAll(async () => {
  engine = await openEngine({ store: 'memory', embedder: 'none', background: false })
  const options = { host: '127.0.0.1', port: 0, tokens: { secret: 'ana' }, hosts: ['notes.example'] }
  url = await new Promise<string>(resolve => {
    served = serveHttp(engine, makeCatalog(engine), options, end.signal, resolve)
  })
})
afterAll(async () => {
  end.abort()
  await served
  await engine.close()
})

/** As it is sent: `fetch` would not let a test say which host it asks. */
function statusOf(headers: Readonly<Record<string, string>>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = request(`${url}/v1/status`, { headers, agent: false }, response => {
      response.resume()
      resolve(response.statusCode)
    })
    sent.once('error', reject)
    sent.end()
  })
}

describe('a request without a token', () => {
  it.each([{}, { host: 'localhost:7411' }])('is the local owner’s where it names this machine: %j', async headers => {
    expect(await statusOf(headers)).toBe(200)
  })

  it.each([
    { host: 'notes.example' },
    { 'x-forwarded-for': '203.0.113.7' },
    { 'x-real-ip': '203.0.113.7' },
    { forwarded: 'for=203.0.113.7' },
    { via: '1.1 proxy' },
    { 'x-forwarded-host': 'notes.example' },
    { 'x-forwarded-proto': 'https' },
  ])('is nobody’s where a proxy handed it on: %j', async headers => {
    expect(await statusOf(headers)).toBe(401)
    expect(await statusOf({ ...headers, authorization: 'Bearer secret' })).toBe(200)
  })
})
