/** Live queries of a real engine over a real socket: what a connection holds, and that it holds it no longer than it lasts. */
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { SettableClock } from '../../src/base/clock.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { openEngine } from '../../src/engine/open.ts'
import { makeApp } from '../../src/interfaces/http/app.ts'
import { Authenticator } from '../../src/interfaces/http/auth.ts'
import { namesOf } from '../../src/interfaces/http/guard.ts'
import { makeCatalog } from '../../src/ops/catalog.ts'
import { openMemoryStore } from '../../src/store/sqlite-store.ts'
import { ManualTimers } from '../support/manual-timers.ts'
import { type ServedHere, serveHere } from '../support/serve-here.ts'
import { bearer, tokensOf } from '../support/tokens.ts'

let engine: Engine
let url = ''
let server: ServedHere
/** Of apps without a server. */
const end = new AbortController()
const logged: string[] = []
beforeAll(async () => {
  engine = await openEngine({ store: 'memory', embedder: 'none', limits: { burst: 1000 } })
  await engine.put({ entries: [{ id: 'slate', content: 'Slate splits.', visibility: 'public' }] })
  server = await serveHere(engine, { tokens: tokensOf('ana', 'ben'), log: text => void logged.push(text) })
  url = server.url
})
afterAll(async () => {
  end.abort()
  await server[Symbol.asyncDispose]()
  await engine.close()
  expect(logged).toEqual([])
})

const INPUT = { text: 'slate', mode: 'words', debounce_ms: 0, max_events_per_minute: 600 } as const

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise(resolve => setTimeout(resolve, 5))
}

/** Asks over a socket of its own, which is paused: so nothing is read. */
async function asking(accept: string): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.pause()
  await new Promise<void>(resolve => socket.once('connect', () => resolve()))
  const body = JSON.stringify(INPUT)
  const fields = [
    `host: localhost`,
    `accept: ${accept}`,
    `authorization: ${bearer('ana').authorization}`,
    `content-length: ${body.length}`,
  ]
  socket.write(`POST /v1/ops/watch HTTP/1.1\r\n${fields.join('\r\n')}\r\n\r\n${body}`)
  return socket
}

it.each(['text/event-stream', 'application/x-ndjson'])(
  'BQ-154: a connection of %s that closes ends its subscription, however it closes',
  async accept => {
    for (const close of ['destroy', 'resetAndDestroy', 'end'] as const) {
      const socket = await asking(accept)
      await until(() => engine.live.count({ id: 'ana' }) === 1)
      socket[close]()
      socket.resume()
      await until(() => engine.live.count() === 0)
      socket.destroy()
    }
  },
)

it('what a request is refused for leaves no subscription behind', async () => {
  const headers = { accept: 'text/event-stream', ...bearer('ana'), 'last-event-id': 'nonsense' }
  const response = await fetch(`${url}/v1/ops/watch`, { method: 'POST', body: JSON.stringify(INPUT), headers })
  expect(response.status).toBe(400)
  expect(engine.live.count()).toBe(0)
})

it('BQ-167: a viewer has so many subscriptions and no more, and they are free again when connections close', async () => {
  const sockets = await Promise.all(Array.from({ length: 50 }, () => asking('text/event-stream')))
  await until(() => engine.live.count({ id: 'ana' }) === 50)
  const ask = (name: string) =>
    fetch(`${url}/v1/ops/watch`, {
      method: 'POST',
      body: JSON.stringify(INPUT),
      headers: { accept: 'text/event-stream', ...bearer(name) },
    })
  const refused = await ask('ana')
  expect({ status: refused.status, body: await refused.json() }).toMatchObject({
    status: 429,
    body: { error: { code: 'rate_limited', details: { limit: 50 } } },
  })
  const other = await ask('ben')
  expect(other.status).toBe(200)
  await other.body?.cancel()
  for (const socket of sockets) socket.destroy()
  await until(() => engine.live.count() === 0)
  const again = await ask('ana')
  expect(again.status).toBe(200)
  await again.body?.cancel()
  await until(() => engine.live.count() === 0)
})

it('BQ-153: nothing piles up for a client that does not read: of many changes it receives the last', async () => {
  const app = makeApp(engine, makeCatalog(engine), {
    authenticator: new Authenticator({ local: true }),
    names: namesOf(true, [], []),
    requestId: () => 'x',
    log: text => void logged.push(text),
    ending: end.signal,
  })
  const ids = Array.from({ length: 30 }, (_, at) => `marble-${at}`)
  const put = (what: string) => engine.put({ entries: ids.map(id => ({ id, content: `Marble, ${what}.` })) })
  await put('before')
  const headers = { host: 'localhost', accept: 'application/x-ndjson' }
  const body = JSON.stringify({ ...INPUT, text: 'marble', limit: 30 })
  const response = await app.request('/v1/ops/watch', { method: 'POST', headers, body })
  const lines = (response.body as ReadableStream<Uint8Array>).getReader()
  let text = ''
  const read = async (): Promise<void> => {
    text += new TextDecoder().decode((await lines.read()).value)
  }
  const reported = (what: string) => text.split('\n').filter(line => line.includes(`Marble, ${what}.`)).length
  while (reported('before') < 3) await read()
  for (let at = 0; at < 50; at += 1) {
    await put(`for the ${at}th time`)
    await new Promise(resolve => setImmediate(resolve)) // a watcher that reads would receive it
  }
  await put('after')
  while (reported('after') < ids.length) await read()
  // The answer as it was, perhaps what was on its way when reading ended, the answer as it is.
  expect(text.trim().split('\n').length).toBeLessThanOrEqual(1 + 3 * ids.length)
  await lines.cancel()
  await until(() => engine.live.count() === 0)
})

it('BQ-155: a query of beliefs is answered line by line where its options say so, and joined it is the whole answer', async () => {
  const beliefs = Array.from({ length: 7 }, (_, at) => ({ id: `b${at}`, content: `Basalt has ${at} sides.` }))
  const ask = async (name: string, input: unknown, headers: Readonly<Record<string, string>> = {}) => {
    const init = { method: 'POST', body: JSON.stringify(input), headers: { ...bearer('owner'), ...headers } }
    return (await fetch(`${url}/v1/ops/${name}`, init)).text()
  }
  await ask('beliefs.put', { beliefs })
  const query = { semantic: 'basalt', options: { dry_run: true } }
  const whole = JSON.parse(await ask('beliefs.query', query))
  const streamed = { ...query, options: { ...query.options, stream: true, chunk_size: 3 } }
  const chunks = (await ask('beliefs.query', streamed)).trim().split('\n')
  const parsed = chunks.map(line => JSON.parse(line))
  expect(parsed.map(chunk => chunk.beliefs.length)).toEqual([3, 3, 1])
  expect(parsed.map(({ done }) => done)).toEqual([false, false, true])
  const ids = (ranked: readonly { belief: { id: string } }[]) => ranked.map(({ belief }) => belief.id)
  expect(ids(parsed.flatMap(chunk => chunk.beliefs))).toEqual(ids(whole.beliefs))
  const events = await ask('beliefs.query', streamed, { accept: 'text/event-stream' })
  expect(events.match(/^event: chunk$/gm)).toHaveLength(3)
  expect(JSON.parse(await ask('beliefs.count', streamed))).toMatchObject({ error: { code: 'INVALID_QUERY' } })
})

it.each([
  ['text/event-stream', 'watch', INPUT],
  ['application/x-ndjson', 'watch', INPUT],
  ['text/event-stream', 'beliefs.watch', { query: { semantic: 'slate' }, options: { debounce_ms: 0 } }],
] as const)(
  'BQ-165: after an hour without a change a client of %s %s goes on within ten minutes, in another process',
  async (accept, operation, input) => {
    const store = openMemoryStore()
    const clock = new SettableClock(Date.UTC(2026, 2, 1))
    const opened = async () => {
      const timers = new ManualTimers()
      const one = await openEngine({ store, embedder: 'none', background: false, clock, live: { timers } })
      const app = makeApp(one, makeCatalog(one), {
        authenticator: new Authenticator({ local: true }),
        names: namesOf(true, [], []),
        requestId: () => 'x',
        log: text => void logged.push(text),
        ending: end.signal,
      })
      const ask = async (headers: Readonly<Record<string, string>>, more: object = {}) => {
        const body = JSON.stringify({ ...input, ...more })
        const all = { host: 'localhost', accept, ...headers }
        const response = await app.request(`/v1/ops/${operation}`, { method: 'POST', headers: all, body })
        expect(response.status).toBe(200)
        return (response.body as ReadableStream<Uint8Array>).getReader()
      }
      return { one, timers, ask }
    }
    const first = await opened()
    const reader = await first.ask({})
    let found = ''
    const read = async () => {
      found = await pieceOf(reader)
      return found
    }
    while (!(await read()).includes('subscribed'));
    for (let minute = 0; minute < 60; minute++) {
      const next = read()
      clock.set(clock.now() + 60_000)
      await first.timers.pass(60_000)
      expect(await next).toContain('"type":"alive"')
    }
    const isSse = accept === 'text/event-stream'
    const token = (isSse ? /^event: alive\nid: (\S+)\ndata: / : /"resume_token":"([^"]+)"/).exec(found)?.[1] ?? ''
    expect(token).not.toBe('')
    await reader.cancel()
    clock.set(clock.now() + 10 * 60_000)
    const second = await opened()
    const again = await (isSse ? second.ask({ 'last-event-id': token }) : second.ask({}, { resume_token: token }))
    let head = ''
    while (!head.includes('"began"')) head += await pieceOf(again)
    expect(head).toContain('"began":"continued"')
    await again.cancel()
    // Which closes the store for both.
    await second.one.close()
  },
)

/** Throws at the end: who waits for something would wait for ever. */
async function pieceOf(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<string> {
  const { done, value } = await reader.read()
  if (done) throw new Error('the stream has ended')
  return new TextDecoder().decode(value)
}
