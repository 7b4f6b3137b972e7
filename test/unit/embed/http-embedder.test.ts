import type { ServerResponse } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import { isRefusal } from '../../../src/embed/embedder.ts'
import { type HttpEmbedderOptions, openHttpEmbedder } from '../../../src/embed/http-embedder.ts'
import { type Loopback, type LoopbackRequest, sendJson, startLoopback } from '../../support/loopback.ts'

const KEY = 'sk-secret-4711'
const servers: Loopback[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})

type Answer = (response: ServerResponse, request: LoopbackRequest) => void

/** Answers request after request; the last answer stays. */
async function serve(...answers: readonly Answer[]): Promise<Loopback> {
  const server = await startLoopback((request, response) => {
    answers[Math.min(server.requests.length, answers.length) - 1]?.(response, request)
  })
  servers.push(server)
  return server
}

/** A vector (length, first character code) a text. */
const good: Answer = (response, request) => {
  const input: string[] = JSON.parse(request.body).input
  const data = input.map((text, index) => ({ index, embedding: [text.length, text.charCodeAt(0)] }))
  sendJson(response, 200, { data: data.reverse(), model: 'm', usage: { total_tokens: 1 } })
}
const status =
  (code: number, headers: object = {}, body: unknown = ''): Answer =>
  response =>
    sendJson(response, code, body, headers)

function open(server: Loopback, options: Partial<HttpEmbedderOptions> = {}) {
  const pauses: number[] = []
  const sleep = async (ms: number) => void pauses.push(ms)
  const embedder = openHttpEmbedder({
    provider: 'openai',
    model: 'm',
    baseUrl: `${server.url}/v1`,
    apiKey: KEY,
    dimensions: 2,
    sleep,
    ...options,
  })
  return { embedder, pauses }
}

async function failure(server: Loopback, options: Partial<HttpEmbedderOptions> = {}) {
  const { embedder, pauses } = open(server, options)
  const error = await (await embedder).embed(['text'], 'query').catch(error => error)
  expect(JSON.stringify(error) + error.message + String(error.cause?.message)).not.toContain(KEY)
  return { error, pauses }
}

describe('an OpenAI-compatible provider', () => {
  it('is asked as its documentation says', async () => {
    const server = await serve(good)
    const embedder = await open(server).embedder
    await embedder.embed(['one'], 'passage')
    expect(server.requests[0]).toMatchObject({ method: 'POST', path: '/v1/embeddings' })
    expect(server.requests[0]?.headers).toMatchObject({
      authorization: `Bearer ${KEY}`,
      'content-type': 'application/json',
    })
    expect(JSON.parse(server.requests[0]?.body ?? '')).toEqual({
      model: 'm',
      input: ['one'],
      encoding_format: 'float',
      dimensions: 2,
    })
  })

  it('gives unit vectors in the order of the texts, whatever the order of the answer', async () => {
    const embedder = await open(await serve(good)).embedder
    const [a, bbb] = await embedder.embed(['a', 'bbb'], 'passage')
    expect(a?.[0]).toBeCloseTo(1 / Math.hypot(1, 97), 6)
    expect(bbb?.[0]).toBeCloseTo(3 / Math.hypot(3, 98), 6)
  })

  it('is asked for at most 64 texts at once', async () => {
    const server = await serve(good)
    const embedder = await open(server).embedder
    const vectors = await embedder.embed(Array(150).fill('x'), 'passage')
    expect(vectors.length).toBe(150)
    expect(server.requests.map(request => JSON.parse(request.body).input.length)).toEqual([64, 64, 22])
  })

  it('tells its dimensions when they are not set, and is then not asked for any', async () => {
    const server = await serve(good)
    const embedder = await open(server, { dimensions: undefined, apiKey: undefined }).embedder
    expect(embedder.model.dimensions).toBe(2)
    expect(JSON.parse(server.requests[0]?.body ?? '')).not.toHaveProperty('dimensions')
    expect(server.requests[0]?.headers).not.toHaveProperty('authorization')
  })

  it('gets prefixes, and no more text than the model takes', async () => {
    const server = await serve(good)
    const prefixes = { query: 'search_query: ', passage: 'search_document: ' }
    const embedder = await open(server, { prefixes, maxTokens: 10 }).embedder
    await embedder.embed(['one'], 'query')
    await embedder.embed(['one two three'], 'passage')
    expect(server.requests.map(request => JSON.parse(request.body).input)).toEqual([
      ['search_query: one'],
      ['search_document: one'],
    ])
  })

  it('has one model key whatever its address, another for another model or other prefixes', async () => {
    const [one, two] = [await serve(good), await serve(good)]
    const hash = async (server: Loopback, options = {}) => (await open(server, options).embedder).model.hash
    expect(await hash(one)).toBe(await hash(two, { apiKey: 'other', cosineScale: 2 }))
    expect(await hash(one, { model: 'n' })).not.toBe(await hash(one))
    expect(await hash(one, { prefixes: { query: 'q', passage: '' } })).not.toBe(await hash(one))
  })
})

describe('Ollama', () => {
  it('is asked at /api/embed and answers with `embeddings`', async () => {
    const server = await serve(response => sendJson(response, 200, { embeddings: [[0, 2]] }))
    const embedder = await open(server, { provider: 'ollama', baseUrl: server.url, apiKey: undefined }).embedder
    expect(await embedder.embed(['one'], 'query')).toEqual([Float32Array.of(0, 1)])
    expect(server.requests[0]).toMatchObject({ method: 'POST', path: '/api/embed' })
    expect(JSON.parse(server.requests[0]?.body ?? '')).toEqual({ model: 'm', input: ['one'], truncate: true })
  })
})

describe('a provider that is busy', () => {
  it('is asked again after the pause that it names', async () => {
    const server = await serve(status(429, { 'retry-after': '7' }), good)
    const { embedder, pauses } = open(server)
    expect((await (await embedder).embed(['text'], 'query')).length).toBe(1)
    expect(pauses).toEqual([7000])
  })

  it('may name the pause as a date, by its own clock', async () => {
    const headers = { date: 'Sun, 06 Nov 1994 08:49:37 GMT', 'retry-after': 'Sun, 06 Nov 1994 08:49:41 GMT' }
    const { embedder, pauses } = open(await serve(status(503, headers), good))
    await (await embedder).embed(['text'], 'query')
    expect(pauses).toEqual([4000])
  })

  it('is asked again with growing pauses, and given up after the last try', async () => {
    const server = await serve(status(500, {}, { error: { message: 'overloaded' } }))
    const { error, pauses } = await failure(server)
    expect(error).toMatchObject({ code: 'provider_failed', details: { provider: 'openai', status: 500 } })
    expect(error.message).toContain('overloaded')
    expect(pauses).toEqual([500, 1000, 2000])
    expect(server.requests.length).toBe(4)
  })

  it('is given up at once when the pause would be long', async () => {
    const { error, pauses } = await failure(await serve(status(429, { 'retry-after': '3600' })))
    expect(error).toMatchObject({ code: 'provider_failed', details: { status: 429 } })
    expect(pauses).toEqual([])
  })

  it('is not waited for when the caller stops', async () => {
    const controller = new AbortController()
    const sleep = async (_: number, signal: AbortSignal | undefined) => {
      controller.abort()
      signal?.throwIfAborted()
    }
    const embedder = await open(await serve(status(429)), { sleep }).embedder
    await expect(embedder.embed(['text'], 'query', controller.signal)).rejects.toMatchObject({ code: 'cancelled' })
  })

  it('is really waited for with the default pause, which the caller can end', async () => {
    const server = await serve(status(429, { 'retry-after': '20' }))
    const embedder = await open(server, { sleep: undefined }).embedder
    const controller = new AbortController()
    const pending = embedder.embed(['text'], 'query', controller.signal)
    while (server.requests.length === 0) await new Promise(resolve => setTimeout(resolve, 5))
    setTimeout(() => controller.abort(), 50)
    await expect(pending).rejects.toMatchObject({ code: 'cancelled' })
    expect(server.requests.length).toBe(1)
  })
})

describe('a provider that fails', () => {
  it.each([
    [401, { error: { message: `Incorrect API key provided: ${KEY}` } }, 'does not accept the key'],
    [403, `no access for ${KEY.slice(0, 9)}****`, 'does not accept the key'],
    [400, { error: { message: `bad input from ${KEY}` } }, 'bad input from ***'],
    [404, '', 'answered 404'],
  ])('with %i is not asked again, and the key is not shown', async (code, body, part) => {
    const server = await serve(status(code, {}, body))
    const { error } = await failure(server)
    expect(error).toMatchObject({ code: 'provider_failed', details: { provider: 'openai', status: code } })
    expect(error.message).toContain(part)
    expect(error.message).not.toContain('sk-')
    expect(server.requests.length).toBe(1)
  })

  it.each([400, 413, 422, 404, 401])('with %i says whether it is the text that it refuses', async code => {
    const { error } = await failure(await serve(status(code)))
    expect(isRefusal(error)).toBe([400, 413, 422].includes(code))
  })

  it('by being slow is left after the time limit', async () => {
    const { error } = await failure(await serve(() => {}), { timeoutMs: 50 })
    expect(error).toMatchObject({ code: 'provider_failed', details: { status: null } })
    expect(error.message).toContain('no answer within 50 ms')
  })

  it('by stopping in the middle of its answer is left after the time limit', async () => {
    const half: Answer = response => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.write('{"data": [')
    }
    const { error } = await failure(await serve(half), { timeoutMs: 200 })
    expect(error.message).toContain('no answer within 200 ms')
  })

  it('by being dead is tried again, then reported without a status', async () => {
    const server = await serve(good)
    await server.close()
    const { error, pauses } = await failure(server)
    expect(error).toMatchObject({ code: 'provider_failed', details: { provider: 'openai', status: null } })
    expect(error.message).toContain('ECONNREFUSED')
    expect(pauses.length).toBe(3)
  })

  it.each([
    ['other dimensions', { data: [{ index: 0, embedding: [1, 2, 3] }] }, 'expected vectors of 2 dimensions, found 3'],
    ['what is not JSON', '<html>', 'not JSON'],
    ['another shape', { vectors: [[1, 2]] }, 'a form without vectors'],
    ['numbers as text', { data: [{ embedding: ['1', '2'] }] }, 'a form without vectors'],
    ['too few vectors', { data: [] }, 'expected 1 vectors, found 0'],
    ['a vector of zeros', { data: [{ embedding: [0, 0] }] }, 'zero'],
    ['numbers out of range', '{"data":[{"embedding":[1e999,1]}]}', 'a form without vectors'],
  ])('by answering with %s is reported', async (_, body, part) => {
    const { error } = await failure(await serve(status(200, {}, body)))
    expect(error).toMatchObject({ code: 'provider_failed', details: { provider: 'openai', status: 200 } })
    expect(error.message).toContain(part)
  })

  it('when its dimensions are asked for is not opened', async () => {
    const { embedder } = open(await serve(status(401)), { dimensions: undefined })
    await expect(embedder).rejects.toMatchObject({ code: 'provider_failed', details: { status: 401 } })
  })
})

describe('wrong options', () => {
  it.each(['localhost:8080', 'ftp://host/v1', 'http://host/v1?key=1', 'not an address'])(
    'baseUrl %s',
    async baseUrl => {
      const options = { provider: 'openai', model: 'm', dimensions: 2, baseUrl } as const
      await expect(openHttpEmbedder(options)).rejects.toMatchObject({
        code: 'invalid_argument',
        details: { field: 'baseUrl' },
      })
    },
  )

  it.each([{ apiKey: 'sk-secret\nx-evil: 1' }, { baseUrl: 'https://user:sk-secret@host/v1' }])(
    'with a secret in them are refused without showing it: %#',
    async wrong => {
      const options = { provider: 'openai', model: 'm', dimensions: 2, ...wrong } as const
      const error = await openHttpEmbedder(options).catch(error => error)
      expect(error.code).toBe('invalid_argument')
      expect(JSON.stringify(error)).not.toContain('sk-secret')
    },
  )
})
