/** How many answers one requester can have under way piece by piece, over real sockets and with the limits of a usual engine. */
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Engine } from '../../src/engine/engine.ts'
import { openEngine } from '../../src/engine/open.ts'
import { makeCatalog } from '../../src/ops/catalog.ts'
import { operation } from '../support/operations.ts'
import { type ServedHere, serveHere } from '../support/serve-here.ts'
import { bearer, tokenOf, tokensOf } from '../support/tokens.ts'

const PAD = 'x'.repeat(64 * 1024)
const MOST = 16

/** More than any socket takes: open until the client has gone. */
const endless = operation('endless', () => ({}), {
  async *stream() {
    for (let at = 1; ; at += 1) yield { at, PAD }
  },
})

let engine: Engine
let server: ServedHere
let url = ''

beforeAll(async () => {
  // Units enough: streams are what is short here.
  const limits = { unitsPerMinute: 100_000, burst: 10_000 }
  engine = await openEngine({ store: 'memory', embedder: 'none', background: false, limits })
  const catalog = new Map([...makeCatalog(engine), ['endless', endless] as const])
  server = await serveHere(engine, { tokens: tokensOf('ben', 'ann') }, catalog)
  url = server.url
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
  await engine.close()
})

interface Opened {
  readonly status: number
  readonly socket: Socket
}

/** A client that reads the head of the answer, and then no more. */
async function open(token: string, name = 'endless'): Promise<Opened> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  const authorization = `authorization: Bearer ${token}\r\n`
  const head = `POST /v1/ops/${name} HTTP/1.1\r\nhost: ${hostname}\r\n${authorization}accept: application/x-ndjson\r\n`
  socket.write(`${head}content-length: 2\r\n\r\n{}`)
  const first = await new Promise<Buffer>(resolve => socket.once('data', resolve))
  socket.pause()
  return { status: Number(first.toString('latin1').slice(9, 12)), socket }
}

async function refusal(token: string, name: string, input: unknown): Promise<{ status: number; error: unknown }> {
  const headers = { authorization: `Bearer ${token}`, accept: 'application/x-ndjson' }
  const response = await fetch(`${url}/v1/ops/${name}`, { method: 'POST', headers, body: JSON.stringify(input) })
  const body = (await response.json()) as { error?: unknown }
  return { status: response.status, error: body.error }
}

it('sixteen at a time; the next receives the limit in the error of the lens; others, and the owner, are not affected', async () => {
  const bens: Opened[] = []
  for (let at = 0; at < MOST; at++) bens.push(await open(tokenOf('ben')))
  expect(bens.map(({ status }) => status)).toEqual(bens.map(() => 200))
  expect(await refusal(tokenOf('ben'), 'query', { text: 'fox' })).toMatchObject({
    ...{ status: 429, error: { code: 'rate_limited', details: { limit: MOST } } },
  })
  const beliefs = await refusal(tokenOf('ben'), 'beliefs.query', { semantic: 'fox', options: {} })
  expect(beliefs).toMatchObject({ status: 429, error: { code: 'RATE_LIMITED', details: { limit: MOST } } })
  // What is whole is answered as ever.
  const whole = await fetch(`${url}/v1/ops/query`, {
    ...{ method: 'POST', headers: bearer('ben'), body: '{"text":"fox"}' },
  })
  expect(whole.status).toBe(200)
  const others = [
    await open(tokenOf('ann')),
    ...(await Promise.all(Array.from({ length: MOST + 2 }, () => open(tokenOf('owner'))))),
  ]
  expect(new Set(others.map(({ status }) => status))).toEqual(new Set([200]))
  // Who ends one has room for the next.
  bens[3]?.socket.destroy()
  let next = await open(tokenOf('ben'))
  for (; next.status === 429; next = await open(tokenOf('ben'))) next.socket.destroy()
  expect(next.status).toBe(200)
  expect((await open(tokenOf('ben'))).status).toBe(429)
  for (const { socket } of [...bens, ...others, next]) socket.destroy()
})
