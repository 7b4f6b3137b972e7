/** `resources/subscribe` and `resources/unsubscribe`, of the revision 2025-11-25, on a connection that lasts. */
import type { McpServer } from '@modelcontextprotocol/server'
import type { Engine } from '../../../engine/engine.ts'
import { protocolError } from '../protocol-error.ts'
import type { ServerOptions } from '../server-options.ts'
import { listenTo } from './changes.ts'

/** All end with the signal. */
export function takeSubscriptions(
  { server }: McpServer,
  engine: Engine,
  options: ServerOptions,
  signal: AbortSignal,
): void {
  const listening = new Map<string, AbortController>()
  const end = (uri: string): void => {
    listening.get(uri)?.abort()
    listening.delete(uri)
  }
  server.setRequestHandler('resources/subscribe', async ({ params: { uri } }) => {
    if (listening.has(uri)) return {}
    const left = new AbortController()
    listening.set(uri, left)
    const changed = (): void => void server.sendResourceUpdated({ uri }).catch(() => end(uri))
    try {
      await listenTo(engine, [uri], options, AbortSignal.any([left.signal, signal]), { changed, ended: () => end(uri) })
    } catch (thrown) {
      end(uri)
      throw protocolError(thrown, options.viewer)
    }
    return {}
  })
  server.setRequestHandler('resources/unsubscribe', ({ params: { uri } }) => {
    end(uri)
    return {}
  })
}
