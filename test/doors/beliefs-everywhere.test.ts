/** BQ-198: one list of inputs through the library, readable routes, operations by name and agent tools. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { SettableClock } from '../../src/base/clock.ts'
import { serveHttp } from '../../src/doors/http/serve.ts'
import { mcpOverHttp } from '../../src/doors/mcp/http.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { openEngine } from '../../src/engine/open.ts'
import { LOCAL_OWNER } from '../../src/model/viewer.ts'
import { callOperation, makeCatalog } from '../../src/ops/catalog.ts'

type Input = Readonly<Record<string, unknown>>
const end = new AbortController()
let engine: Engine
let served: Promise<void>
let url = ''

beforeAll(async () => {
  const clock = new SettableClock(Date.UTC(2026, 5, 1, 12))
  engine = await openEngine({ store: 'memory', embedder: 'none', background: false, clock })
  const catalog = makeCatalog(engine)
  url = await new Promise<string>(resolve => {
    const http = { host: '127.0.0.1', port: 0, tokens: undefined, mcp: mcpOverHttp(engine, catalog) }
    served = serveHttp(engine, catalog, http, end.signal, resolve)
  })
  const beliefs = ['Rain is likely in spring', 'Rain is not likely in spring', 'Snow falls in winter']
  for (const [at, content] of beliefs.entries()) {
    const put = await library('beliefs.put', {
      id: `b${at}`,
      content,
      confidence: { source_reliability: 0.8 },
      wait: true,
    })
    expect(put).toMatchObject({ belief: { id: `b${at}` } })
  }
})
afterAll(async () => {
  end.abort()
  await served
  await engine.close()
})

async function library(name: string, input: Input): Promise<unknown> {
  const context = { viewer: LOCAL_OWNER, signal: new AbortController().signal }
  try {
    return await callOperation(makeCatalog(engine), engine, name, input, context)
  } catch (error) {
    return { error }
  }
}

async function fetched(method: string, path: string, body?: Input): Promise<unknown> {
  const headers = { 'content-type': 'application/json', accept: 'application/json' }
  const response = await fetch(`${url}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) })
  return response.json()
}

async function tool(name: string, input: Input): Promise<unknown> {
  const params = { name: name.replace('.', '_'), arguments: input }
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
  const response = await fetch(`${url}/mcp?lens=beliefs`, { method: 'POST', headers, body })
  const text = await response.text()
  const { result } = JSON.parse(/^data: (\{.*)$/m.exec(text)?.[1] ?? text)
  return result.isError ? JSON.parse(result.content[0].text) : result.structuredContent
}

const RAIN = { semantic: 'rain in spring' }
it.each<[string, Input, string, string]>([
  ['beliefs.query', RAIN, 'POST', 'query'],
  ['beliefs.query', { ...RAIN, filters: { min_confidence: 0.9 } }, 'POST', 'query'],
  ['beliefs.query', { ...RAIN, filters: { min_confidence: 9 } }, 'POST', 'query'],
  ['beliefs.query', {}, 'POST', 'query'],
  ['beliefs.query', { ...RAIN, foo: 1 }, 'POST', 'query'],
  ['beliefs.count', RAIN, 'POST', 'count'],
  ['beliefs.facets', { query: RAIN, fields: ['holder'] }, 'POST', 'facets'],
  ['beliefs.facets', { query: RAIN, fields: 3 }, 'POST', 'facets'],
  ['beliefs.batch', { queries: [RAIN, { semantic: 3 }] }, 'POST', 'batch'],
  ['beliefs.context_query', { ...RAIN, purpose: 'answer', max_tokens: 200 }, 'POST', 'context'],
  ['beliefs.similar', { belief_id: 'b0' }, 'GET', 'b0/similar'],
  ['beliefs.similar', { belief_id: 'none' }, 'GET', 'none/similar'],
  ['beliefs.contradictions', { belief_id: 'b0' }, 'GET', 'b0/contradictions'],
  ['beliefs.derivation', { belief_id: 'b0', max_depth: 2 }, 'GET', 'b0/derivation?max_depth=2'],
  ['beliefs.derivation', { belief_id: 'b0', max_depth: 'x' }, 'GET', 'b0/derivation?max_depth=x'],
  ['beliefs.explain', { belief_id: 'b0', query: RAIN }, 'GET', `b0/explain?query=${JSON.stringify(RAIN)}`],
])('%s of %j is one answer everywhere (BQ-198, BQ-184)', async (name, input, method, path) => {
  const expected = comparable(await library(name, input))
  if (input === RAIN) expect(expected).toMatchObject(name === 'beliefs.count' ? { total: 3 } : { total_count: 3 })
  const route =
    method === 'POST' ? fetched('POST', `/v1/beliefs/${path}`, input) : fetched('GET', `/v1/beliefs/${path}`)
  expect(comparable(await route)).toEqual(expected)
  expect(comparable(await fetched('POST', `/v1/ops/${name}`, input))).toEqual(expected)
  expect(comparable(await tool(name, input))).toEqual(expected)
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

/** Ids and durations of a request are its own. */
function comparable(answer: unknown): unknown {
  const text = JSON.stringify(answer, (key, value) =>
    /^(request_id|.*_ms|next_cursor)$/.test(key) ? undefined : value,
  )
  return JSON.parse(text)
}
