/** BQ-193 over a real socket: caps on different questions, where settings switch them on. */
import { afterEach, expect, it } from 'vitest'
import { SettableClock } from '../../src/base/clock.ts'
import { openEngine } from '../../src/engine/open.ts'
import type { LimitSettings } from '../../src/engine/options.ts'
import { mcpOverHttp } from '../../src/interfaces/mcp/http.ts'
import { makeCatalog } from '../../src/ops/catalog.ts'
import { serveHere } from '../support/serve-here.ts'
import { bearer, tokensOf } from '../support/tokens.ts'

const HOUR = 3_600_000
const clock = new SettableClock(Date.UTC(2026, 5, 1, 12))
const ends: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

async function serve(limits: Partial<LimitSettings>) {
  const options = { store: 'memory', embedder: 'none', background: false } as const
  const engine = await openEngine({ ...options, clock, limits: { burst: 1_000, ...limits } })
  const catalog = makeCatalog(engine)
  const http = { tokens: tokensOf('ben', 'cyd'), mcp: mcpOverHttp(engine, catalog) }
  const server = await serveHere(engine, http, catalog)
  const { url } = server
  ends.push(async () => {
    await server[Symbol.asyncDispose]()
    await engine.close()
  })
  const post = async (path: string, input: object, by: string, accept = 'application/json') => {
    const headers = { 'content-type': 'application/json', accept, ...bearer(by || 'owner') }
    const response = await fetch(`${url}${path}`, { method: 'POST', body: JSON.stringify(input), headers })
    return { status: response.status, wait: response.headers.get('retry-after'), text: await response.text() }
  }
  const call = (name: string, input: object, by = 'ben') => post(`/v1/ops/${name}`, input, by)
  return { post, call }
}

it('a requester is refused more different questions a day, at all interfaces, and told until when', async () => {
  const { call, post } = await serve({ questionsPerDay: 3 })
  for (const text of ['rain', 'snow', 'rain']) expect((await call('query', { text })).status).toBe(200)
  expect((await call('beliefs.query', { semantic: 'wind' })).status).toBe(200)
  const refused = await call('beliefs.query', { semantic: 'hail' })
  expect(refused).toMatchObject({ status: 429, wait: String((12 * HOUR) / 1000) })
  expect(JSON.parse(refused.text)).toMatchObject({
    error: { code: 'RATE_LIMITED', retryable: true, details: { retry_after_ms: 12 * HOUR, limit: 3 } },
  })
  const message = {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'query', arguments: { text: 'hail' } },
  }
  expect((await post('/mcp', message, 'ben', 'application/json, text/event-stream')).text).toContain('rate_limited')
  const pieces = await post('/v1/ops/query', { text: 'hail' }, 'ben', 'application/x-ndjson')
  expect(pieces.status).toBe(429)
  // What is no question is not counted, and those who asked less are not touched.
  expect((await call('list', {})).status).toBe(200)
  expect((await call('query', { text: 'hail' }, 'cyd')).status).toBe(200)
  // Nor is the owner, who needs no token.
  for (const text of ['one', 'two', 'three', 'four', 'five']) {
    expect((await call('query', { text }, '')).status).toBe(200)
  }
})

it('queries of a batch are counted one by one, and fail one by one (BQ-175)', async () => {
  const { call } = await serve({ questionsPerDay: 3 })
  const queries = ['rain', 'snow', 'rain', 'wind', 'hail'].map(semantic => ({ semantic }))
  const { status, text } = await call('beliefs.batch', { queries })
  expect(status).toBe(200)
  expect(JSON.parse(text)).toMatchObject({ succeeded: 4, failed: 1 })
  expect(JSON.parse(text).results[4]).toMatchObject({ ok: false, error: { code: 'RATE_LIMITED' } })
})

it('a requester of nearly the same question again and again is refused, and others are not', async () => {
  const { call } = await serve({ alikePerHour: 5 })
  const probe = (least: number, by = 'ben') =>
    call('beliefs.count', { semantic: 'salary of bob', filters: { min_confidence: least } }, by)
  for (let at = 1; at <= 5; at++) expect((await probe(at / 8)).status).toBe(200)
  expect(await probe(6 / 8)).toMatchObject({ status: 429, wait: '3600' })
  expect((await probe(1 / 8)).status).toBe(200)
  expect((await call('beliefs.count', { semantic: 'rain in spain' })).status).toBe(200)
  expect((await probe(6 / 8, 'cyd')).status).toBe(200)
})

it('nothing is counted where no setting says so', async () => {
  const { call } = await serve({})
  for (let at = 0; at < 60; at++) expect((await call('query', { text: `rain ${at}` })).status).toBe(200)
})
