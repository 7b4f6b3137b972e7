/** What a set of tools costs an agent before its first thought: everything that the server says of them, as it says it. */
import { InMemoryTransport, type JSONRPCMessage } from '@modelcontextprotocol/server'
import type { JsonObject } from '../../base/canonical.ts'
import type { Engine } from '../../engine/engine.ts'
import { LOCAL_OWNER } from '../../model/viewer.ts'
import type { Catalog } from '../../ops/catalog.ts'
import { isObject } from './brief.ts'
import { makeServer } from './server.ts'
import { makeTools, type ToolChoice } from './tools.ts'

export interface ToolCost {
  readonly name: string
  readonly title: string
  readonly description: string
  /** An estimate, of all that the server says of it: a quarter of the bytes. */
  readonly tokens: number
}

/** In the order of the list. Throws as `makeTools`. */
export async function toolCosts(engine: Engine, catalog: Catalog, choice: ToolChoice): Promise<readonly ToolCost[]> {
  const lenses = engine.lenses.map(({ name }) => name)
  const server = makeServer(engine, makeTools(catalog, choice, lenses), { viewer: LOCAL_OWNER, lens: undefined })
  const [near, far] = InMemoryTransport.createLinkedPair()
  await server.connect(far)
  try {
    return (await listed(near)).map(tool => ({
      name: String(tool['name']),
      title: String(tool['title']),
      description: String(tool['description']),
      tokens: Math.ceil(Buffer.byteLength(JSON.stringify(tool)) / 4),
    }))
  } finally {
    await server.close()
  }
}

async function listed(transport: InMemoryTransport): Promise<readonly JsonObject[]> {
  const answer = Promise.withResolvers<JSONRPCMessage>()
  transport.onmessage = message => {
    if ('id' in message && message.id === 2) answer.resolve(message)
  }
  await transport.start()
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'querent', version: '0' } }
  await transport.send({ jsonrpc: '2.0', id: 1, method: 'initialize', params })
  await transport.send({ jsonrpc: '2.0', method: 'notifications/initialized' })
  await transport.send({ jsonrpc: '2.0', id: 2, method: 'tools/list' })
  const message = await answer.promise
  const tools = 'result' in message ? message.result['tools'] : undefined
  if (!Array.isArray(tools)) throw new Error('invariant broken: a server that lists no tools')
  return tools.filter(isObject)
}
