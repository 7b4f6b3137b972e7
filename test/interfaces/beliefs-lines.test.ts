/** BQ-198: the stream of an answer, and events, are lines over HTTP; agent tools answer alike over HTTP as they do otherwise. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { SettableClock } from '../../src/base/clock.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { openEngine } from '../../src/engine/open.ts'
import { mcpOverHttp } from '../../src/interfaces/mcp/http.ts'
import { makeCatalog } from '../../src/ops/catalog.ts'
import { type ServedHere, serveHere } from '../support/serve-here.ts'
import { NOW } from './equal-everywhere.ts'
import { callHere } from './interfaces.ts'
import { comparable } from './run-scenario.ts'

const RAIN = { semantic: 'rain in spring' }
let engine: Engine
let server: ServedHere
let url = ''

beforeAll(async () => {
  const clock = new SettableClock(Date.parse(NOW))
  engine = await openEngine({ store: 'memory', embedder: 'none', background: false, clock })
  const catalog = makeCatalog(engine)
  server = await serveHere(engine, { mcp: mcpOverHttp(engine, catalog) }, catalog)
  url = server.url
  const texts = ['Rain is likely in spring', 'Rain is not likely in spring', 'Snow falls in winter']
  await callHere(engine, 'beliefs.put', { beliefs: texts.map((content, at) => ({ id: `b${at}`, content })) })
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
  await engine.close()
})

it('streams and events are lines (BQ-198)', async () => {
  const streamed = await fetch(`${url}/v1/beliefs/stream`, { method: 'POST', body: JSON.stringify(RAIN) })
  expect(streamed.headers.get('content-type')).toContain('application/x-ndjson')
  const lines = (await streamed.text()).trimEnd().split('\n')
  expect(lines.map(line => Object.keys(JSON.parse(line)).length > 0)).not.toContain(false)
  const gone = new AbortController()
  const body = JSON.stringify({ query: RAIN })
  const events = await fetch(`${url}/v1/beliefs/events`, { method: 'POST', body, signal: gone.signal })
  expect([events.status, events.headers.get('content-type')]).toEqual([200, 'application/x-ndjson'])
  gone.abort()
})

it.each([
  ['beliefs.query', RAIN],
  ['beliefs.facets', { query: RAIN, fields: ['holder_id'] }],
  ['beliefs.similar', { belief_id: 'none' }],
])('%s of %j is the same as a tool over HTTP (BQ-198)', async (name, input) => {
  const params = { name: name.replace('.', '_'), arguments: input }
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
  const text = await (await fetch(`${url}/mcp?lens=beliefs`, { method: 'POST', headers, body })).text()
  const { result } = JSON.parse(/^data: (\{.*)$/m.exec(text)?.[1] ?? text)
  const reported = result.isError ? JSON.parse(result.content[0].text) : { result: result.structuredContent }
  const here = await callHere(engine, name, input).then(
    found => ({ result: found }),
    error => ({ error }),
  )
  expect(comparable(reported, '/')).toEqual(comparable(here as Parameters<typeof comparable>[0], '/'))
})
