/**
 * Every path of `/openapi.json`, asked of a server in a process of its own: what comes back is what the document declares, in
 * status and body; never 500; and the server stays up.
 */
import type { Json } from '../../../src/base/canonical.ts'
import { bearer } from '../../support/tokens.ts'
import { SEED_CALLS } from '../calls/seed-calls.ts'
import { SETUP } from '../calls/setup.ts'
import { fieldValues } from '../engine/schema.ts'
import type { Target } from '../engine/target.ts'
import { must } from '../oracles.ts'
import { inside } from '../world.ts'
import { type Described, Description } from './described.ts'
import { type Asked, askedKind } from './request.ts'
import { type Embedder, makeStore, type Served, serveCopy } from './served.ts'
import { newAgent, send } from './wire.ts'

/** Seconds of work whatever is asked, by design. */
const LEFT_OUT = /beliefs\.diagnostics$/

const OWNER = bearer('owner')
const MCP_HEADERS = {
  accept: 'application/json, text/event-stream',
  'content-type': 'application/json',
  'mcp-protocol-version': '2025-11-25',
}
const MCP_BODY = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }

/** How requests were answered. */
export interface Tally {
  /** Statuses, and how often each came. */
  readonly statuses: Map<number, number>
  /** Operations that were answered with what was asked for. */
  readonly answered: Set<string>
  /** All that the document has. */
  readonly described: number
}

export interface DescribedTarget extends AsyncDisposable {
  readonly target: Target<Asked>
  readonly tally: Tally
}

/** `embedder`: as `QUERENT_EMBEDDER` says it. */
export async function describedTarget(embedder: Embedder): Promise<DescribedTarget> {
  const store = await makeStore(embedder)
  const description = await readDescription(store, embedder)
  const all = description.all.filter(({ path }) => !LEFT_OUT.test(path))
  const known = fieldValues([...SEED_CALLS, ...SETUP].map(call => call.input))
  const tally: Tally = { statuses: new Map(), answered: new Set(), described: all.length }
  const byAddress = new Map(all.map(one => [`${one.method} ${one.path}`, one]))
  const target: Target<Asked> = {
    name: 'http-schema',
    kind: askedKind(all, known),
    seeds: goodRequests(all),
    tries: 30,
    lifetime: 500,
    open: async () => {
      const served = await serveCopy(store, embedder)
      const agent = newAgent()
      return {
        try: asked => tryAsked(asked, byAddress.get(`${asked.method} ${asked.path}`) as Described),
        close: async () => {
          agent.destroy()
          await served[Symbol.asyncDispose]()
        },
      }

      async function tryAsked(asked: Asked, described: Described): Promise<void> {
        const answered = await send(served.url, agent, within(asked, served))
        const said = served.said()
        const place = `${asked.method} ${asked.path}`
        must(served.isUp(), `${place}: the server has ended: ${said}`)
        must(!/bug in request/.test(said), `${place}: a bug: ${said}`)
        if (answered === null) return
        const { status, type, body, requestId } = answered
        must(status !== 500, `${place}: 500: ${body}`)
        must(requestId !== undefined, `${place}: an answer without a request id`)
        const problem = description.problemOf(described, status, type, body)
        must(problem === null, `${place}: ${problem}`)
        tally.statuses.set(status, (tally.statuses.get(status) ?? 0) + 1)
        if (status === 200) tally.answered.add(place)
      }
    },
  }
  return {
    target,
    tally,
    [Symbol.asyncDispose]: async () => store[Symbol.dispose](),
  }
}

async function readDescription(store: Parameters<typeof serveCopy>[0], embedder: Embedder): Promise<Description> {
  await using served = await serveCopy(store, embedder)
  return new Description((await (await fetch(`${served.url}/openapi.json`)).json()) as Record<string, Json>)
}

/** `add` and `backup` read and write wherever they are told to. */
function within(asked: Asked, { folder }: Served): Asked {
  const [, operation] = /^\/v1\/ops\/(add|backup)$/.exec(asked.path) ?? []
  if (operation === undefined) return asked
  return { ...asked, raw: null, body: inside(operation, asked.body, folder) as Json }
}

/** A good call of every operation, under its name; and what no call of an operation leads to. */
function goodRequests(all: readonly Described[]): readonly Asked[] {
  const paths = new Set(all.map(one => one.path))
  const named = {
    method: 'GET',
    path: '/v1/ops/{name}',
    params: { name: 'query' },
    query: {},
    headers: { ...OWNER },
    body: null,
  }
  const mcp = {
    method: 'POST',
    path: '/mcp',
    params: {},
    query: {},
    headers: { ...OWNER, ...MCP_HEADERS },
    body: MCP_BODY,
  }
  const calls = SEED_CALLS.flatMap(({ operation, viewer, input, streamed }) => {
    const path = `/v1/ops/${operation}`
    if (!paths.has(path)) return []
    const headers = {
      ...OWNER,
      ...(viewer !== 'owner' && { 'querent-viewer': viewer }),
      ...(streamed && { accept: 'application/x-ndjson' }),
      'content-type': 'application/json',
    }
    return { method: 'POST', path, params: {}, query: {}, headers, body: input, raw: null }
  })
  return [{ ...named, raw: null }, { ...mcp, raw: null }, ...calls]
}
