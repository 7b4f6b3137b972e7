/** Answers piece by piece over a real socket: their forms, failures, slow and vanished clients, heartbeats, the end. */
import { connect, type Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { After } from '../../src/interfaces/http/stream.ts'
import { QuerentError } from '../../src/model/errors.ts'
import type { CallContext } from '../../src/model/operation.ts'
import type { Catalog, EngineOperation } from '../../src/ops/catalog.ts'
import { catalogOf, echo, noEngine, operation } from '../support/operations.ts'
import { type ServedHere, serveHere } from '../support/serve-here.ts'
import { bearer, tokensOf } from '../support/tokens.ts'

type Pieces = ReturnType<NonNullable<EngineOperation['stream']>>
type Input = Readonly<Record<string, unknown>>

/** What a stream of a test has done, for the test to look at. */
interface Run {
  asked: number
  ended: boolean
  readonly input: Input
  readonly context: CallContext
}
const runs: Run[] = []

function streamed(
  name: string,
  body: (run: Run) => AsyncGenerator<unknown>,
  more: Partial<EngineOperation> = {},
): EngineOperation {
  const stream = async function* (_engine: unknown, input: unknown, context: CallContext) {
    const run: Run = { asked: 0, ended: false, input: input as Input, context }
    runs.push(run)
    try {
      for await (const piece of body(run)) {
        run.asked += 1
        yield piece
      }
    } finally {
      run.ended = true
    }
  }
  return operation(name, () => ({ whole: true }), { stream: stream as unknown as () => Pieces, ...more })
}

const PAD = 'x'.repeat(64 * 1024)
const silence = ({ context: { signal } }: Run): Promise<never> =>
  new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }))

const catalog: Catalog = catalogOf(
  echo,
  streamed(
    'count',
    async function* ({ input }) {
      const to = Number(input['to'] ?? 3)
      for (let at = 1; at <= to; at += 1) yield { at, done: at === to }
    },
    { streamAt: 'options.stream' },
  ),
  streamed('fail_first', async function* () {
    yield* []
    throw new QuerentError('conflict', '/home/me/x: it is taken', { path: '/home/me/x' })
  }),
  streamed('fail_later', async function* () {
    yield { at: 1 }
    throw new QuerentError('conflict', '/home/me/x: it is taken', { path: '/home/me/x' })
  }),
  streamed('bug_later', async function* () {
    yield { at: 1 }
    throw new TypeError('secret words of the inside')
  }),
  streamed('endless', async function* () {
    for (let at = 1; ; at += 1) yield { at, PAD }
  }),
  streamed(
    'watch',
    async function* (run) {
      yield { type: 'added', id: 'a', text: 'two\nlines', resume_token: 'token-1' }
      await silence(run)
    },
    { resumeAt: 'options.resume_token' },
  ),
  streamed(
    'flood',
    async function* () {
      for (let at = 1; ; at += 1) yield { type: 'flood', PAD, resume_token: `t${at}` }
    },
    { resumeAt: 'resume_token' },
  ),
  streamed('silent', async function* (run) {
    yield* []
    await silence(run)
  }),
  streamed('owners', async function* () {}, { effect: { kind: 'read', idempotent: true, ownerOnly: true } }),
)

/** Timers that pass when the test says so. */
class HandTimers {
  readonly #waiting = new Set<{ readonly ms: number; readonly then: () => void }>()
  readonly after: After = (ms, then) => {
    const timer = { ms, then }
    this.#waiting.add(timer)
    return () => this.#waiting.delete(timer)
  }

  count(ms: number): number {
    return [...this.#waiting].filter(timer => timer.ms === ms).length
  }

  pass(ms: number): void {
    for (const timer of [...this.#waiting].filter(waiting => waiting.ms === ms)) {
      this.#waiting.delete(timer)
      timer.then()
    }
  }
}

const logged: string[] = []
const timers = new HandTimers()
const NDJSON = { accept: 'application/x-ndjson' }
const SSE = { accept: 'text/event-stream' }

function serving(after?: After): Promise<ServedHere> {
  const log = (text: string) => void logged.push(text)
  return serveHere(noEngine, { tokens: tokensOf('ana'), after, log }, catalog)
}

let server: ServedHere
beforeAll(async () => {
  server = await serving(timers.after)
})
afterAll(() => server[Symbol.asyncDispose]())
beforeEach(() => {
  runs.length = 0
  logged.length = 0
})
afterEach(() => {
  expect(logged.filter(text => !text.includes('secret words of the inside'))).toEqual([])
})

function post(name: string, headers: Record<string, string>, input: unknown = {}, init: RequestInit = {}) {
  return fetch(`${server.url}/v1/ops/${name}`, {
    method: 'POST',
    body: JSON.stringify(input),
    headers: { ...bearer('owner'), ...headers },
    ...init,
  })
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise(resolve => setTimeout(resolve, 5))
}

/** How many pieces it has made when it makes no more. */
async function still(run: Run): Promise<number> {
  let before = -1
  while (run.asked !== before) {
    before = run.asked
    await new Promise(resolve => setTimeout(resolve, 100))
  }
  return before
}

/** What has come when it holds the text. */
async function readUntil(reader: ReadableStreamDefaultReader<Uint8Array>, text: string): Promise<string> {
  const decoder = new TextDecoder()
  let read = ''
  while (!read.includes(text)) {
    const { done, value } = await reader.read()
    if (done) throw new Error(`ended with ${read}`)
    read += decoder.decode(value, { stream: true })
  }
  return read
}

function readerOf(response: Response): ReadableStreamDefaultReader<Uint8Array> {
  if (response.body === null) throw new Error('no body')
  return response.body.getReader()
}

/** A client that has asked and reads nothing. */
async function asking(name: string, accept: string): Promise<Socket> {
  const { hostname, port } = new URL(server.url)
  const socket = connect(Number(port), hostname)
  socket.pause()
  await new Promise<void>(resolve => socket.once('connect', () => resolve()))
  const own = `host: ${hostname}\r\nauthorization: ${bearer('owner').authorization}\r\naccept: ${accept}`
  const head = `POST /v1/ops/${name} HTTP/1.1\r\n${own}\r\ncontent-length: 2\r\n\r\n`
  socket.write(`${head}{}`)
  await until(() => runs.length > 0)
  return socket
}

describe('the form of an answer', () => {
  it('is one document, unless the client would rather have a stream', async () => {
    for (const headers of [{}, { accept: '*/*' }, { accept: 'application/json, application/x-ndjson;q=0.5' }]) {
      expect(await (await post('count', headers)).json()).toEqual({ whole: true })
    }
    for (const accept of ['application/x-ndjson', 'Application/X-NDJSON; q=0.9, */*;q=0.1']) {
      expect((await post('count', { accept })).headers.get('content-type')).toBe('application/x-ndjson')
    }
    for (const accept of ['text/event-stream', 'application/json;q=0.2, text/event-stream']) {
      expect((await post('count', { accept })).headers.get('content-type')).toBe('text/event-stream')
    }
  })

  it('is a JSON object a line', async () => {
    const response = await post('count', NDJSON)
    expect(await response.text()).toBe('{"at":1,"done":false}\n{"at":2,"done":false}\n{"at":3,"done":true}\n')
    expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(await (await post('count', NDJSON, { to: 0 })).text()).toBe('')
  })

  it('is an event a piece: its type, what to go on with, its data on one line', async () => {
    const events = await (await post('count', SSE, { to: 2 })).text()
    const chunks = ['{"at":1,"done":false}', '{"at":2,"done":true}'].map(data => `event: chunk\ndata: ${data}\n\n`)
    expect(events).toBe(`retry: 3000\n\n${chunks.join('')}`)
    const gone = new AbortController()
    const reader = readerOf(await post('watch', SSE, {}, { signal: gone.signal }))
    const data = '{"type":"added","id":"a","text":"two\\nlines","resume_token":"token-1"}'
    expect(await readUntil(reader, 'data')).toBe(`retry: 3000\n\nevent: added\nid: token-1\ndata: ${data}\n\n`)
    gone.abort()
  })

  it('BQ-155: is a stream of lines where the input says so, or of events where these are accepted too', async () => {
    const asked = { to: 1, options: { stream: true } }
    expect(await (await post('count', {}, asked)).text()).toBe('{"at":1,"done":true}\n')
    expect(await (await post('count', { accept: 'application/json' }, asked)).text()).toBe('{"at":1,"done":true}\n')
    const accept = 'application/json, text/event-stream;q=0.1'
    expect((await post('count', { accept }, asked)).headers.get('content-type')).toBe('text/event-stream')
    expect(await (await post('count', {}, { options: { stream: false } })).json()).toEqual({ whole: true })
    expect(await (await post('echo', {}, asked)).json()).toMatchObject({ input: asked })
  })

  it('is refused as a stream where there is none, unless a document will do', async () => {
    const refused = await post('echo', NDJSON)
    expect({ status: refused.status, body: await refused.json() }).toMatchObject({
      status: 400,
      body: { error: { code: 'invalid_argument', message: 'echo: it cannot be streamed' } },
    })
    expect((await post('echo', { accept: 'text/event-stream, */*;q=0.1' })).status).toBe(200)
    const { operations } = (await (await fetch(`${server.url}/v1/ops`, { headers: bearer('owner') })).json()) as {
      operations: { name: string }[]
    }
    expect(operations).toContainEqual(expect.objectContaining({ name: 'echo', streams: false }))
    expect(operations).toContainEqual(expect.objectContaining({ name: 'count', streams: true }))
  })
})

describe('a failure', () => {
  it('before the first piece is an ordinary one', async () => {
    for (const headers of [NDJSON, SSE]) {
      const response = await post('fail_first', { ...headers, ...bearer('ana') })
      expect(response.headers.get('content-type')).toBe('application/json')
      expect({ status: response.status, body: await response.json() }).toEqual({
        status: 409,
        body: { error: { code: 'conflict', message: 'it is taken', details: {} } },
      })
    }
    expect(runs.map(({ ended }) => ended)).toEqual([true, true])
    const { status } = await post('owners', { ...SSE, ...bearer('ana') })
    expect(status).toBe(403)
    expect((await post('nope', SSE)).status).toBe(404)
  })

  it('later is the last line, or event, without what is not for the client', async () => {
    const error = '{"error":{"code":"conflict","message":"it is taken","details":{}}}'
    const ana = bearer('ana')
    expect(await (await post('fail_later', { ...NDJSON, ...ana })).text()).toBe(`{"at":1}\n${error}\n`)
    const events = await (await post('fail_later', { ...SSE, ...ana })).text()
    expect(events).toBe(`retry: 3000\n\nevent: chunk\ndata: {"at":1}\n\nevent: error\ndata: ${error}\n\n`)
  })

  it('of ours is logged under the id that the client has', async () => {
    const response = await post('bug_later', NDJSON)
    const reported = '{"error":{"code":"internal","message":"internal error","details":{}}}'
    expect(await response.text()).toBe(`{"at":1}\n${reported}\n`)
    expect(logged).toEqual([expect.stringContaining(`${response.headers.get('x-request-id')}: TypeError: secret`)])
  })
})

describe('BQ-153: a client that stops reading', () => {
  it('stops the engine: what the socket does not take is not made', async () => {
    const socket = await asking('endless', 'application/x-ndjson')
    const [run] = runs as [Run]
    const made = await still(run)
    // What lies in the buffers of the sockets: on Linux at most 4 MiB to send and 6 to receive by default.
    expect(made * PAD.length).toBeLessThan(32 * 1024 * 1024)
    socket.resume()
    await until(() => run.asked > made + 100)
    socket.pause()
    expect(run.ended).toBe(false)
    expect(timers.count(60_000)).toBe(0)
    socket.destroy()
    await until(() => run.ended)
  })

  it('loses its connection after two minutes where it cannot go on, cut off so that nobody takes it for whole', async () => {
    const socket = await asking('endless', 'application/x-ndjson')
    const [run] = runs as [Run]
    await still(run)
    expect([timers.count(120_000), run.ended]).toEqual([1, false])
    timers.pass(120_000)
    await until(() => run.ended)
    expect(timers.count(120_000)).toBe(0)
    let rest = ''
    socket.on('data', part => {
      rest = `${rest}${part}`.slice(-16)
    })
    socket.on('error', () => {})
    const closed = new Promise(resolve => socket.once('close', resolve))
    socket.resume()
    await closed
    expect(rest).not.toMatch(/\r\n0\r\n\r\n$/)
  })

  it('loses after a while a stream that it can resume, and receives no error', async () => {
    const socket = await asking('flood', 'text/event-stream')
    const [run] = runs as [Run]
    await still(run)
    expect(timers.count(60_000)).toBe(1)
    timers.pass(60_000)
    await until(() => run.ended)
    let rest = ''
    socket.on('data', part => {
      rest = `${rest}${part}`.slice(-PAD.length * 2)
    })
    socket.resume()
    await until(() => rest.endsWith('\r\n0\r\n\r\n'))
    expect(rest).toMatch(/event: flood\nid: t\d+\ndata: [^\n]*\n\n\r\n0\r\n\r\n$/)
    socket.destroy()
  })
})

describe('BQ-154: a client that goes', () => {
  it.each(['watch', 'endless'])('ends the work of %s and frees it', async name => {
    const gone = new AbortController()
    const response = await post(name, SSE, {}, { signal: gone.signal })
    await readUntil(readerOf(response), 'data')
    const [run] = runs as [Run]
    expect(run.context.signal.aborted).toBe(false)
    const aborted = new Promise<void>(resolve => {
      run.context.signal.addEventListener('abort', () => resolve(), { once: true })
    })
    gone.abort()
    await aborted
    await until(() => run.ended)
    expect(timers.count(15_000)).toBe(0)
  })

  it('is noticed before anything was sent', async () => {
    const gone = new AbortController()
    const sent = post('silent', NDJSON, {}, { signal: gone.signal }).catch(() => 'gone')
    await until(() => runs.length === 1)
    gone.abort()
    expect(await sent).toBe('gone')
    await until(() => runs[0]?.ended === true)
  })
})

describe('BQ-168: a stream on which nothing comes', () => {
  it('has its head sent after a while, and a comment from time to time', async () => {
    const gone = new AbortController()
    const sent = post('silent', SSE, {}, { signal: gone.signal })
    await until(() => timers.count(1_000) === 1)
    timers.pass(1_000)
    const response = await sent
    expect(response.status).toBe(200)
    const reader = readerOf(response)
    expect(await readUntil(reader, 'retry')).toBe('retry: 3000\n\n')
    for (let beat = 0; beat < 3; beat += 1) {
      await until(() => timers.count(15_000) === 1)
      timers.pass(15_000)
      expect(await readUntil(reader, '\n\n')).toBe(':\n\n')
    }
    gone.abort()
    await until(() => runs[0]?.ended === true)
  })
})

describe('a client that comes back', () => {
  it('goes on after the event it names, whatever its input says', async () => {
    const given = { semantic: 'x', options: { resume_token: 'old', debounce_ms: 0 } }
    const inputs: unknown[] = []
    for (const [input, last] of [
      [given, 'token-1'],
      [undefined, 'token-2'],
      [given, undefined],
    ] as const) {
      const gone = new AbortController()
      const headers = { ...SSE, ...(last !== undefined && { 'last-event-id': last }) }
      await post('watch', headers, input, { signal: gone.signal })
      gone.abort()
      inputs.push(runs.at(-1)?.input)
    }
    expect(inputs).toEqual([
      { semantic: 'x', options: { resume_token: 'token-1', debounce_ms: 0 } },
      { options: { resume_token: 'token-2' } },
      given,
    ])
  })

  it('may name a long one; what takes none is not given any', async () => {
    const last = 'a'.repeat(16_000)
    const gone = new AbortController()
    const { status } = await post('watch', { ...SSE, 'last-event-id': last }, {}, { signal: gone.signal })
    gone.abort()
    expect(status).toBe(200)
    expect(runs[0]?.input).toEqual({ options: { resume_token: last } })
    await (await post('count', { ...SSE, 'last-event-id': 'x' }, { to: 1 })).text()
    expect(runs[1]?.input).toEqual({ to: 1 })
  })
})

describe('a server that ends', () => {
  it('ends at once what can be gone on with, and lets the rest finish', async () => {
    const hand = new HandTimers()
    const own = await serving(hand.after)
    const ask = (name: string) =>
      fetch(`${own.url}/v1/ops/${name}`, { method: 'POST', headers: { ...NDJSON, ...bearer('owner') } })
    const [watched, counted] = await Promise.all([ask('watch'), ask('count')])
    own.end()
    expect(await watched.text()).toMatch(/^\{"type":"added".*\}\n$/)
    expect((await counted.text()).trim().split('\n')).toHaveLength(3)
    await until(() => runs.every(({ ended }) => ended))
    await own.served
  })
})
