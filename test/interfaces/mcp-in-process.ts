/** The official client and a server of ours in one process: on a connection that lasts, and over HTTP. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { InMemoryTransport } from '@modelcontextprotocol/server'
import { expect } from 'vitest'
import type { Engine } from '../../src/engine/engine.ts'
import { mcpOverHttp } from '../../src/interfaces/mcp/http.ts'
import { serveConnection } from '../../src/interfaces/mcp/stdio.ts'
import { makeTools } from '../../src/interfaces/mcp/tools.ts'
import { makeCatalog } from '../../src/ops/catalog.ts'

export interface Asking {
  readonly viewer: string
  readonly lens?: string
  /** On a connection alone: tools by name. */
  readonly tools?: readonly string[]
}

/** Connects, as somebody. */
export type Connect = (engine: Engine, client: Client, asking: Asking) => Promise<void>

/** As over standard input and output. The server ends with its client. */
export const onConnection: Connect = async (engine, client, { viewer: id, lens, tools = [] }) => {
  const [near, far] = InMemoryTransport.createLinkedPair()
  const lenses = engine.lenses.map(({ name }) => name)
  const choice = { lenses: lens === undefined ? [] : [lens], tools }
  serveConnection(engine, makeTools(makeCatalog(engine), choice, lenses), { viewer: { id }, lens }, far)
  await client.connect(near)
}

export const overHttp: Connect = async (engine, client, { viewer: id, lens }) => {
  const serve = mcpOverHttp(engine, makeCatalog(engine))
  const url = new URL(`http://localhost/mcp${lens === undefined ? '' : `?lens=${lens}`}`)
  const transport = new StreamableHTTPClientTransport(url, {
    fetch: (address, init) => serve(new Request(address, init as RequestInit), { id }, false),
  })
  await client.connect(transport)
}

export function newClient(revision: '2026-07-28' | '2025-11-25'): Client {
  const options = revision === '2025-11-25' ? {} : { versionNegotiation: { mode: 'auto' as const } }
  return new Client({ name: 'test', version: '1' }, options)
}

export async function connected(
  engine: Engine,
  connect: Connect,
  revision: '2026-07-28' | '2025-11-25',
  asking: Asking,
): Promise<Client> {
  const client = newClient(revision)
  await connect(engine, client, asking)
  expect(client.getNegotiatedProtocolVersion()).toBe(revision)
  return client
}
