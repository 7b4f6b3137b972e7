/** MCP over standard input and output: one client, one viewer. Nothing but MCP may be written to standard output. */
import { PassThrough } from 'node:stream'
import type { Transport } from '@modelcontextprotocol/server'
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio'
import type { Engine } from '../../engine/engine.ts'
import type { Catalog } from '../../ops/catalog.ts'
import { takeSubscriptions } from './live/changes.ts'
import { listenOn } from './live/connection-listeners.ts'
import { nextTurn, openRequests } from './open-requests.ts'
import { makeServer } from './server.ts'
import type { ServerOptions } from './server-options.ts'
import { makeTools, type Tool, type ToolChoice } from './tools.ts'

/** Resolves when standard input has ended, or the signal has ended it. */
export async function serveMcp(
  engine: Engine,
  catalog: Catalog,
  choice: ToolChoice & Pick<ServerOptions, 'viewer' | 'concise'>,
  signal: AbortSignal,
): Promise<void> {
  const { viewer, concise, ...chosen } = choice
  const tools = makeTools(
    catalog,
    chosen,
    engine.lenses.map(lens => lens.name),
  )
  const options = { viewer, concise, lens: oneLens(chosen) }
  const ended = new Promise<void>(resolve => {
    process.stdin.once('close', resolve)
    process.stdin.once('end', resolve)
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
  // The transport closes with its input, and would answer nothing that it was given before.
  const input = process.stdin.pipe(new PassThrough(), { end: false })
  const transport = new StdioServerTransport(input)
  const connection = serveConnection(engine, tools, options, transport)
  const answered = openRequests(transport)
  await ended
  while (input.readableLength > 0 && !signal.aborted) await nextTurn()
  await answered(AbortSignal.any([signal, AbortSignal.timeout(MAX_ANSWERING_MS)]))
  await connection.close()
}

/** After the input has ended: a client that pipes its requests still reads the answers. */
const MAX_ANSWERING_MS = 30_000

/** Queries that name no lens go through the one that was chosen. */
export function oneLens({ lenses = [] }: ToolChoice): string | undefined {
  return lenses.length === 1 ? lenses[0] : undefined
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
