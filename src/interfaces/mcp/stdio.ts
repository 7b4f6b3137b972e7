/** Serves MCP over standard input and output: one client, one viewer. Nothing except MCP messages may be written to standard output. */
import { PassThrough } from 'node:stream'
import {
  isJSONRPCErrorResponse,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type RequestId,
  type Transport,
} from '@modelcontextprotocol/server'
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio'
import type { Engine } from '../../engine/engine.ts'
import type { Catalog } from '../../ops/catalog.ts'
import { cancelledIn, listenOn, takeSubscriptions } from './live.ts'
import { makeServer } from './server.ts'
import type { ServerOptions } from './tool-call.ts'
import { makeTools, type Tool, type ToolChoice } from './tools.ts'

// Keeps track of a client's requests that have not been answered yet.

/**
 * Keeps track of open requests on a transport. The returned function resolves when no request is open, or when the signal is aborted.
 * Subscriptions and cancelled requests do not count, because they get no answer.
 */
export function openRequests(transport: Transport): (signal: AbortSignal) => Promise<void> {
  const open = new Set<RequestId>()
  let allAnswered = (): void => {}
  const close = (id: RequestId | undefined): void => {
    if (id !== undefined) open.delete(id)
    if (open.size === 0) allAnswered()
  }
  const deliver = transport.onmessage?.bind(transport)
  const send = transport.send.bind(transport)
  transport.onmessage = (message, extra) => {
    if (isJSONRPCRequest(message) && !message.method.startsWith('subscriptions/')) open.add(message.id)
    deliver?.(message, extra)
    close(cancelledIn(message))
  }
  transport.send = async (message, sending) => {
    await send(message, sending)
    if (isJSONRPCErrorResponse(message) || isJSONRPCResultResponse(message)) close(message.id)
  }
  return async signal => {
    // Waits one turn of the event loop, because a request that was read last is delivered only then.
    await nextTurn()
    if (open.size === 0 || signal.aborted) return
    await new Promise<void>(resolve => {
      allAnswered = resolve
      signal.addEventListener('abort', () => resolve(), { once: true })
    })
  }
}

export function nextTurn(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve))
}

/** Serves MCP on standard input and output until the input ends or the signal is aborted. */
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
  // The transport gets a copy of standard input that does not end with it: the transport would close at the end of its input and leave open
  // requests unanswered.
  const input = process.stdin.pipe(new PassThrough(), { end: false })
  const transport = new StdioServerTransport(input)
  const connection = serveConnection(engine, tools, options, transport)
  const answered = openRequests(transport)
  await ended
  while (input.readableLength > 0 && !signal.aborted) await nextTurn()
  await answered(AbortSignal.any([signal, AbortSignal.timeout(MAX_ANSWERING_MS)]))
  await connection.close()
}

/**
 * Milliseconds that open requests may still take after standard input has ended: a client that pipes its requests still reads the answers.
 */
const MAX_ANSWERING_MS = 30_000

/** Lens of a query that names none: the lens chosen for the server, if exactly one was chosen. */
export function oneLens({ lenses = [] }: ToolChoice): string | undefined {
  return lenses.length === 1 ? lenses[0] : undefined
}

/** Serves one MCP client on a transport until the transport closes. */
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
