/** MCP over standard input and output: one client, one viewer. Nothing but MCP may be written to standard output. */
import type { Transport } from '@modelcontextprotocol/server'
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio'
import type { Engine } from '../../engine/engine.ts'
import type { Catalog } from '../../ops/catalog.ts'
import { listenOn } from './live/connection-listeners.ts'
import { takeSubscriptions } from './live/subscribe-requests.ts'
import { makeServer } from './server.ts'
import type { ServerOptions } from './server-options.ts'
import { makeTools, type Tool } from './tools/tools.ts'

/** Resolves when standard input has ended, or the signal has ended it. */
export async function serveMcp(
  engine: Engine,
  catalog: Catalog,
  options: ServerOptions,
  signal: AbortSignal,
): Promise<void> {
  const lenses = engine.lenses.map(lens => lens.name)
  const tools = makeTools(catalog, options.lens, lenses)
  const ended = new Promise<void>(resolve => {
    process.stdin.once('close', resolve)
    process.stdin.once('end', resolve)
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
  const connection = serveConnection(engine, tools, options, new StdioServerTransport())
  await ended
  await connection.close()
}

/** Serves one client for as long as its transport lasts. */
export function serveConnection(
  engine: Engine,
  tools: readonly Tool[],
  options: ServerOptions,
  transport: Transport,
): { close(): Promise<void> } {
  const over = new AbortController()
  const settings = { capabilities: { resources: { subscribe: true } } }
  const connection = serveStdio(
    ({ era }) => {
      const server = makeServer(engine, tools, options, settings)
      if (era === 'legacy') takeSubscriptions(server, engine, options, over.signal)
      return server
    },
    { transport },
  )
  listenOn(transport, engine, options, over.signal)
  const closed = transport.onclose?.bind(transport)
  transport.onclose = () => {
    over.abort()
    closed?.()
  }
  return {
    close: async () => {
      over.abort()
      await connection.close()
    },
  }
}
