/** The interfaces as tests see them, HTTP twice: an operation and a viewer in, a result or an error out. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { afterEach, beforeEach, expect } from 'vitest'
import { SettableClock } from '../../src/base/clock.ts'
import { isRecord } from '../../src/base/record.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { openEngine } from '../../src/engine/open.ts'
import { QuerentError } from '../../src/model/errors.ts'
import { LOCAL_OWNER } from '../../src/model/viewer.ts'
import { callOperation, makeCatalog } from '../../src/ops/catalog.ts'
import { connectHere, querentHere, serveInProcess } from '../support/in-process.ts'
import { bearer, tokensOf } from '../support/tokens.ts'
import { byRoute, type PlainRequest } from './route-request.ts'
import type { Outcome } from './scenario.ts'

export interface Interface extends AsyncDisposable {
  call(operation: string, input: unknown, viewer?: string): Promise<Outcome>
}

/** Tokens are told apart by their holders; these are all who ask besides the local owner. */
const VIEWERS = ['ana', 'ben', 'cy', 'my-agent-uuid', 'contrarian']

export interface InterfaceOptions {
  readonly home: string
  readonly now: string
  readonly embedder: 'none' | 'local'
  /** Whose tools MCP offers; absent: the common ones. */
  readonly lens?: string | undefined
}

/** Tools that a contract names otherwise than their operations (CQ-118). */
const TOOLS_OF_OTHER_NAMES: Readonly<Record<string, string>> = {
  'chroma.get': 'chroma_get_node',
  'chroma.update': 'chroma_update_node',
  'chroma.delete': 'chroma_delete_node',
  'chroma.assign': 'chroma_assign_hashtag',
  'chroma.hashtags': 'chroma_list_hashtags',
  'conversations.remember': 'remember',
  'conversations.query': 'recall',
}

/** The tools of the engine itself, of which the default ones are a part. */
export const CORE_TOOLS: readonly string[] = ['query', 'explain', 'similar', 'get', 'list', 'put', 'delete', 'status']

/**
 * Nothing where the interface has presets for people and agents: a scenario compares the answers of the contract, whose
 * fields are then said outright.
 */
const CONTRACT: Readonly<Record<string, object>> = { 'context.query': { mode: null, rank: null, snippet: null } }

export const INTERFACES: Readonly<Record<string, (options: InterfaceOptions) => Promise<Interface>>> = {
  library: openLibrary,
  cli: openCli,
  http: openHttp,
  routes: openRoutes,
  mcp: openMcp,
}

/** The interface of this name over a home, opened for each test. `call` gives a result, `attempt` an error too. */
export function eachThrough(name: string, home: () => string) {
  let via: Interface
  beforeEach(async () => {
    const open = INTERFACES[name] as (typeof INTERFACES)[string]
    via = await open({ home: home(), now: '2026-03-01T12:00:00Z', embedder: 'none' })
  })
  afterEach(() => via[Symbol.asyncDispose]())
  const attempt = (operation: string, input: object): Promise<Outcome> => via.call(operation, input)
  const call = async (operation: string, input: object): Promise<Record<string, unknown>> => {
    const given = await attempt(operation, input)
    expect(given).toHaveProperty('result')
    return (given as { result: Record<string, unknown> }).result
  }
  return { call, attempt }
}

async function openLibrary(options: InterfaceOptions): Promise<Interface> {
  const engine = await openHere(options)
  const catalog = makeCatalog(engine)
  const signal = new AbortController().signal
  return {
    async call(operation, input, id) {
      const viewer = id === undefined ? LOCAL_OWNER : { id }
      try {
        return { result: wire(await callOperation(catalog, engine, operation, wire(input), { viewer, signal })) }
      } catch (error) {
        if (error instanceof QuerentError) return { error: wire(error) }
        throw error
      }
    },
    [Symbol.asyncDispose]: () => engine.close(),
  }
}

/** In this process. */
export function openHere({ home, now, embedder }: InterfaceOptions): Promise<Engine> {
  const clock = new SettableClock(Date.parse(now))
  return openEngine({ home, clock, background: false, embedder: embedder === 'none' ? 'none' : { provider: 'local' } })
}

/** As the local owner. */
export function callHere(engine: Engine, operation: string, input: unknown): Promise<unknown> {
  const context = { viewer: LOCAL_OWNER, signal: new AbortController().signal }
  return callOperation(makeCatalog(engine), engine, operation, input, context)
}

/** A command for every call, each in this process with an engine of its own. */
async function openCli(options: InterfaceOptions): Promise<Interface> {
  return {
    async call(operation, input, viewer) {
      const args = [
        'call',
        operation,
        '-',
        '--home',
        options.home,
        ...(viewer === undefined ? [] : ['--viewer', viewer]),
      ]
      const given = { cwd: '/', env: processEnv(options), stdin: text(input) }
      const { status, stdout, stderr } = await querentHere(args, given)
      if (stderr !== '') throw new Error(`querent call ${operation}: ${stderr}`)
      const answer = JSON.parse(stdout)
      if (status !== 0 && status !== 1) throw new Error(`querent call ${operation}: exit code ${status}`)
      return status === 0 ? { result: answer } : answer
    },
    async [Symbol.asyncDispose]() {},
  }
}

/** Every operation by its name, at one path. */
async function openHttp(options: InterfaceOptions): Promise<Interface> {
  const { ask, close } = await openServer(options)
  return { call: (operation, input, viewer) => ask(byName(operation, input), viewer), [Symbol.asyncDispose]: close }
}

/** The readable route of an operation, where there is one that can say the input. */
async function openRoutes(options: InterfaceOptions): Promise<Interface> {
  const { ask, close } = await openServer(options)
  return {
    call: (operation, input, viewer) => ask(byRoute(operation, input) ?? byName(operation, input), viewer),
    [Symbol.asyncDispose]: close,
  }
}

function byName(operation: string, input: unknown): PlainRequest {
  return { method: 'POST', path: `/v1/ops/${operation}`, body: text(byContract(operation, input)) }
}

interface Server {
  ask(request: PlainRequest, viewer: string | undefined): Promise<Outcome>
  close(): Promise<void>
}

/** One server for all viewers, told apart by their tokens. */
async function openServer(options: InterfaceOptions): Promise<Server> {
  const tokens = join(options.home, 'tokens.json')
  writeFileSync(tokens, JSON.stringify(tokensOf(...VIEWERS)), { mode: 0o600 })
  const args = ['serve', '--home', options.home, '--tokens', tokens]
  const { url, end } = await serveInProcess(args, '/', processEnv(options))
  return {
    async ask({ method, path, body }, viewer) {
      const response = await fetch(`${url}${path}`, {
        method,
        ...(body !== undefined && { body }),
        headers: bearer(viewer ?? 'owner'),
      })
      const answer = await response.json()
      return response.ok ? { result: answer } : (answer as Outcome)
    },
    async close() {
      await end()
    },
  }
}

/** A server for each viewer. What is no tool is done aside, on the same store. */
async function openMcp(options: InterfaceOptions): Promise<Interface> {
  const clients = new Map<string | undefined, { client: Client; tools: readonly string[] }>()
  return {
    async call(operation, input, viewer) {
      const known = clients.get(viewer) ?? (await connect(options, viewer))
      clients.set(viewer, known)
      const name = TOOLS_OF_OTHER_NAMES[operation] ?? operation.replaceAll('.', '_')
      // There it bounds the whole answer.
      const isBounded = isRecord(input) && input['max_tokens'] !== undefined
      if (!known.tools.includes(name) || isBounded) {
        await using aside = await openLibrary(options)
        return await aside.call(operation, input, viewer)
      }
      const answer = await known.client.callTool({
        name,
        arguments: byContract(operation, input) as Record<string, unknown>,
      })
      const texts = answer.content.flatMap(part => (part.type === 'text' ? [part.text] : []))
      const said = JSON.parse(texts.find(part => part.startsWith('{')) ?? 'null')
      // An error with structure is an answer that itself says what went wrong; a thrown one is text alone.
      if (answer.isError && answer.structuredContent === undefined) return said
      return { result: answer.structuredContent ?? said }
    },
    async [Symbol.asyncDispose]() {
      for (const { client } of clients.values()) await client.close()
    },
  }
}

async function connect(
  options: InterfaceOptions,
  viewer: string | undefined,
): Promise<{ client: Client; tools: readonly string[] }> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } })
  const args = [
    ...['--home', options.home],
    ...(options.lens === undefined ? ['--tools', CORE_TOOLS.join(',')] : ['--lens', options.lens]),
    ...(viewer === undefined ? [] : ['--viewer', viewer]),
  ]
  await connectHere(client, args, { cwd: '/', env: processEnv(options) })
  const { tools } = await client.listTools()
  return { client, tools: tools.map(tool => tool.name) }
}

function processEnv({ now, embedder }: InterfaceOptions): Record<string, string> {
  // No limits: a scenario asks more in a minute than anybody may by default.
  return { QUERENT_NOW: now, QUERENT_EMBEDDER: embedder, QUERENT_LIMITS: 'off' }
}

function byContract(operation: string, input: unknown): unknown {
  return isRecord(input) ? { ...CONTRACT[operation], ...input } : input
}

/** Half a surrogate pair cannot be sent as UTF-8; as an escape it can. */
function text(input: unknown): string {
  return JSON.stringify(input)
}

/** As it looks after a journey as JSON. */
function wire(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value))
}
