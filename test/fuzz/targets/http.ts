/** The HTTP interface over a real socket: any method, path, header and body is answered in the one form there is, and never with 500. */
import { request } from 'node:http'
import fc from 'fast-check'
import type { Json, JsonObject } from '../../../src/base/canonical.ts'
import { serveHttp } from '../../../src/interfaces/http/server.ts'
import { mcpOverHttp } from '../../../src/interfaces/mcp/http.ts'
import { bearer, tokenOf, tokensOf } from '../../support/tokens.ts'
import { HIDER, REQUESTER, SECRET } from '../calls/call.ts'
import { SEED_CALLS } from '../calls/seed-calls.ts'
import { edited, isObject, jsonEdit, type Target, textEdit, wireText } from '../inputs.ts'
import { must } from '../oracles.ts'
import { openWorld } from '../world.ts'

interface Sent {
  readonly method: string
  readonly path: string
  readonly headers: JsonObject
  /** Sent as it is where it is a text. */
  readonly body: Json
}

const TOKENS = tokensOf(REQUESTER, HIDER)
const ANA = { ...bearer(REQUESTER), 'content-type': 'application/json' }
/** They work on files, or on whatever path is said. */
const LEFT_OUT = /^(add|backup|beliefs\.diagnostics)$/

const MCP: readonly JsonObject[] = [
  {
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'f', version: '1' } },
  },
  { method: 'tools/list', params: {} },
  { method: 'tools/call', params: { name: 'query', arguments: { text: 'fox' } } },
  { method: 'ping' },
].map(message => ({ jsonrpc: '2.0', id: 1, ...message }))

const SEEDS: readonly Sent[] = [
  ...SEED_CALLS.filter(({ operation }) => !LEFT_OUT.test(operation)).map(({ operation, input, streamed }) => ({
    method: 'POST',
    path: `/v1/ops/${operation}`,
    headers: streamed ? { ...ANA, accept: 'application/x-ndjson' } : ANA,
    body: input,
  })),
  ...['/v1/ops', '/v1/ops/query', '/healthz', '/v1/node', '/nowhere', '/v1/ops/%00', '/mcp'].map(path => ({
    ...{ method: 'GET', path, headers: ANA, body: '' },
  })),
  ...MCP.map(body => ({
    ...{ method: 'POST', path: '/mcp', body },
    headers: { ...ANA, accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-11-25' },
  })),
]
const NAMES = [
  ...'accept authorization content-type content-encoding last-event-id host origin'.split(' '),
  ...'x-forwarded-for querent-audience querent-timestamp querent-nonce prefer'.split(' '),
]
const VALUES = [
  ...'text/event-stream~application/x-ndjson~*/*~gzip~Bearer x~Querent-Signature a b~null'.split('~'),
  ...'text/plain; charset=utf-16~q=0~localhost'.split('~'),
]

function near(good: readonly Sent[]): fc.Arbitrary<Sent> {
  const header = fc.tuple(fc.constantFrom(...NAMES), fc.constantFrom(...VALUES), textEdit())
  return edited(
    good,
    fc.oneof(
      textEdit(['/v1/ops/', '%2e', '?', '#', '//']).map(edit => (sent: Sent) => ({
        ...sent,
        path: edit(sent.path).slice(0, 3000),
      })),
      fc
        .constantFrom('GET', 'POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS', 'PATCH')
        .map(method => (sent: Sent) => ({ ...sent, method })),
      header.map(([name, value, edit]) => (sent: Sent) => ({
        ...sent,
        headers: { ...sent.headers, [name]: edit(value) },
      })),
      textEdit(['{', '}', '"', '\\u0000', ',']).map(edit => (sent: Sent) => ({
        ...sent,
        body: edit(wireText(sent.body)),
      })),
      {
        weight: 6,
        arbitrary: jsonEdit(
          [],
          good.map(({ body }) => body),
        ).map(edit => (sent: Sent) => ({ ...sent, body: edit(sent.body) })),
      },
    ),
  )
}

export const http: Target<Sent> = {
  near,
  seeds: SEEDS,
  lifetime: 300,
  open: async () => {
    const world = await openWorld()
    const end = new AbortController()
    const bugs: string[] = []
    let served: Promise<void> = Promise.resolve()
    const url = await new Promise<string>((resolve, reject) => {
      const mcp = mcpOverHttp(world.engine, world.catalog)
      const options = { host: '127.0.0.1', port: 0, tokens: TOKENS, mcp, log: (text: string) => void bugs.push(text) }
      served = serveHttp(world.engine, world.catalog, options, end.signal, resolve)
      served.catch(reject)
    })
    return {
      try: sent => trySent(url, sent, bugs),
      async close() {
        end.abort()
        await served
        await world[Symbol.asyncDispose]()
      },
    }
  },
}

async function trySent(url: string, sent: Sent, bugs: string[]): Promise<void> {
  const answer = await send(url, sent)
  const [bug] = bugs.splice(0)
  if (bug !== undefined) throw asThrown(bug)
  if (answer === null) return // not to be sent, or Node has refused it before it came to us
  const { status, body, type } = answer
  must(status < 500 || [503, 504].includes(status), `${status}: ${body.slice(0, 300)}`)
  const requester = JSON.stringify(sent)
  if (!requester.includes(SECRET.slice(0, 4)) && requester.includes(tokenOf(REQUESTER)))
    must(!body.includes(SECRET), 'it tells what is hidden')
  if (status < 400 || !type.includes('json') || sent.path.startsWith('/mcp')) return
  const reported = JSON.parse(body) as Json
  must(isObject(reported) && isObject(reported['error']), `an error of another form: ${body.slice(0, 300)}`)
  must(reported['error']['code'] !== 'internal', body)
}

/** The log's own text of an error, with the place that it came from. */
function asThrown(bug: string): Error {
  const error = new Error(bug.split('\n', 1)[0])
  error.stack = bug
  return error
}

interface Answer {
  readonly status: number
  readonly body: string
  readonly type: string
}

/** Streams that never end are left. */
const MAX_WAIT_MS = 150

function send(url: string, { method, path, headers, body }: Sent): Promise<Answer | null> {
  const text = typeof body === 'string' ? body : wireText(body)
  return new Promise(resolve => {
    try {
      const fields = Object.entries(headers).map(([name, value]) => [name, String(value)])
      const sent = request(url + path, { method, headers: Object.fromEntries(fields) }, response => {
        let said = ''
        const { statusCode = 0, headers: received } = response
        const type = received['content-type'] ?? ''
        const done = () => resolve({ status: statusCode, body: said, type })
        if (/ndjson|event-stream/.test(type)) setTimeout(() => sent.destroy(), MAX_WAIT_MS)
        response.setEncoding('utf8').on('data', part => {
          said += part
        })
        response.once('close', done).on('error', done)
      })
      sent.on('error', () => resolve(null))
      sent.end(text)
    } catch {
      resolve(null)
    }
  })
}
