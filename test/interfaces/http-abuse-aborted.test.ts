/** Clients that go away at every stage of a request, of every kind; and what is left of it: nothing. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ask, get, isQuiet, post, RawClient, type Server, startServer, until } from './raw-http.ts'

let server: Server
beforeAll(async () => {
  server = await startServer()
  const entries = Array.from({ length: 400 }, (_, at) => ({
    id: `heron-${at}`,
    content: `A heron of the lake, number ${at}. ${'It stands still for a long time and waits for fish. '.repeat(20)}`,
    collection: 'birds',
  }))
  expect((await ask(server.port, post('/v1/ops/put', JSON.stringify({ entries })))).status).toBe(200)
})
afterAll(() => server.end())

const BATCH = 150
let batches = 0

/** A batch of a collection of its own. */
function put(): { readonly text: string; readonly collection: string } {
  batches += 1
  const collection = `batch-${batches}`
  const entries = Array.from({ length: BATCH }, (_, at) => ({
    id: `${collection}-${at}`,
    content: `A gull of the coast, number ${at}`,
    collection,
  }))
  return { text: post('/v1/ops/put', JSON.stringify({ entries })), collection }
}

const MANY = { text: 'heron', limit: 400, explain: true }
const SSE = ['accept: text/event-stream']
const MCP = ['content-type: application/json', 'accept: application/json, text/event-stream']
const CALL = { name: 'query', arguments: { text: 'heron', limit: 50 } }

const REQUESTS: Readonly<Record<string, () => string>> = {
  query: () => post('/v1/ops/query', JSON.stringify(MANY)),
  'query piece by piece': () => post('/v1/query', JSON.stringify(MANY), ['accept: application/x-ndjson']),
  'query as events': () => post('/v1/query', JSON.stringify(MANY), SSE),
  watch: () => post('/v1/ops/watch', '{"text":"heron"}', SSE),
  put: () => put().text,
  MCP: () => post('/mcp', JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: CALL }), MCP),
}

/** How a client goes: it closes, or its machine says that there is none. */
const GOES: Readonly<Record<string, (client: RawClient) => unknown>> = {
  closes: client => client.gone(),
  resets: client => client.socket.resetAndDestroy(),
}

/** Sends so much of the request, and waits for so much of the answer. */
const STAGES: Readonly<Record<string, (client: RawClient, text: string) => Promise<unknown>>> = {
  'before it sends anything': async client => opened(client),
  'in the head': async (client, text) => sent(client, text.slice(0, 40)),
  'at the end of the head': async (client, text) => sent(client, text.slice(0, text.indexOf('\r\n\r\n') + 4)),
  'in the body': async (client, text) => sent(client, text.slice(0, -7)),
  'while the answer is made': async (client, text) => sent(client, text),
  'in the answer': async (client, text) => {
    client.send(text)
    await client.until(answer => answer.length > 0)
  },
}

async function opened({ socket }: RawClient): Promise<void> {
  if (socket.connecting) await new Promise(resolve => socket.once('connect', resolve))
}

/** All of it has left this process. */
async function sent(client: RawClient, text: string): Promise<void> {
  await opened(client)
  await new Promise(resolve => client.socket.write(text, 'latin1', resolve))
}

async function entriesIn(collection: string): Promise<number> {
  const input = JSON.stringify({ filter: { collections: [collection] }, limit: 1 })
  const { body } = await ask(server.port, post('/v1/ops/list', input))
  return JSON.parse(body).total
}

describe.each(Object.keys(REQUESTS))('a client of %s that goes away', name => {
  it.each(Object.keys(STAGES))('%s leaves nothing behind', async stage => {
    for (const go of Object.values(GOES)) {
      const clients = Array.from({ length: 4 }, () => new RawClient(server.port))
      await Promise.all(
        clients.map(async client => {
          await STAGES[stage]?.(client, REQUESTS[name]?.() ?? '')
          go(client)
        }),
      )
    }
    await until(() => isQuiet(server.port))
    const { status, body } = await ask(server.port, post('/v1/ops/query', '{"text":"heron number 7","limit":3}'))
    expect([status, JSON.parse(body).items.length]).toEqual([200, 3])
    expect(server.said()).not.toContain('querent: bug')
  })
})

it('a batch whose client went away is there wholly, or not at all', async () => {
  const totals = await Promise.all(Array.from({ length: batches }, (_, at) => entriesIn(`batch-${at + 1}`)))
  expect(batches).toBeGreaterThan(40)
  expect(totals.filter(total => total !== 0 && total !== BATCH)).toEqual([])
  // Those that were sent to the end are among them, those that were not are not.
  expect(new Set(totals)).toEqual(new Set([0, BATCH]))
})

it('a batch that was not sent to the end is not there, however near the end it was', async () => {
  const { text, collection } = put()
  const client = new RawClient(server.port)
  await sent(client, text.slice(0, -1))
  client.gone()
  await until(() => isQuiet(server.port))
  expect(await entriesIn(collection)).toBe(0)
})

it('who says that it sends no more still gets its answer', async () => {
  const client = new RawClient(server.port)
  client.socket.allowHalfOpen = true
  client.socket.end(get('/healthz', ['connection: close']))
  expect(await client.closed()).toContain('{"ok":true}')
})
