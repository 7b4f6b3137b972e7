/** MCP over standard input and output: one client, one viewer. Nothing but MCP may be written to standard output. */
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio'
import type { Engine } from '../../engine/engine.ts'
import type { Catalog } from '../../ops/catalog.ts'
import { makeServer } from './server.ts'
import type { ServerOptions } from './server-options.ts'
import { makeTools } from './tools/tools.ts'

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
  const server = serveStdio(() => makeServer(engine, tools, options), { transport: new StdioServerTransport() })
  await ended
  await server.close()
}
