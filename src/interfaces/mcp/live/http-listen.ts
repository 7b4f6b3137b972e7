/** `subscriptions/listen` over HTTP: a stream for one listener, with a bus of its own, for as long as it is connected. */
import {
  type AuthInfo,
  createMcpHandler,
  type McpServerFactory,
  type ServerEvent,
  type ServerEventBus,
} from '@modelcontextprotocol/server'
import type { Engine } from '../../../engine/engine.ts'
import { protocolError, type ServerOptions } from '../server-options.ts'
import { type ListenMessage, listenMessage, listenTo } from './changes.ts'

/** Whether the request says that it listens: its header must say what its body does, or it is refused later. */
export function isListening({ method, headers }: Request): boolean {
  return method === 'POST' && headers.get('mcp-method') === 'subscriptions/listen'
}

/** Answers any request, and lets one that listens to questions hear of their changes. */
export async function listenOverHttp(
  engine: Engine,
  factory: McpServerFactory,
  request: Request,
  options: ServerOptions,
  authInfo: AuthInfo,
): Promise<Response> {
  const left = new AbortController()
  const bus = new OneListener(() => left.abort())
  const handler = createMcpHandler(factory, { bus })
  const message = listenMessage(await bodyOf(request))
  try {
    if (message !== null) {
      const listener = {
        changed: (uri: string) => bus.publish({ kind: 'resource_updated', uri }),
        ended: () => void handler.close(),
      }
      await listenTo(engine, message.uris, options, AbortSignal.any([left.signal, request.signal]), listener)
    }
    const response = await handler.fetch(request, { authInfo })
    if (!bus.isHeard) left.abort()
    return response
  } catch (thrown) {
    left.abort()
    return refusal(message, thrown, options)
  }
}

/** Null: no JSON, which the handler says better. */
async function bodyOf(request: Request): Promise<unknown> {
  try {
    return await request.clone().json()
  } catch {
    return null
  }
}

function refusal(message: ListenMessage | null, thrown: unknown, { viewer }: ServerOptions): Response {
  const { code, message: text, data } = protocolError(thrown, viewer)
  return Response.json({ jsonrpc: '2.0', id: message?.id ?? null, error: { code, message: text, data } })
}

/** Holds what happens until it is heard, so that nothing is missed between standing and hearing. */
class OneListener implements ServerEventBus {
  readonly #left: () => void
  readonly #missed: ServerEvent[] = []
  #listener: ((event: ServerEvent) => void) | null = null

  constructor(left: () => void) {
    this.#left = left
  }

  get isHeard(): boolean {
    return this.#listener !== null
  }

  publish(event: ServerEvent): void {
    if (this.#listener === null) this.#missed.push(event)
    else this.#listener(event)
  }

  subscribe(listener: (event: ServerEvent) => void): () => void {
    this.#listener = listener
    for (const event of this.#missed.splice(0)) listener(event)
    return this.#left
  }
}
