/** `subscriptions/listen` on a connection that lasts: each is a listener of its own, until it is cancelled. */
import {
  isJSONRPCErrorResponse,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  type RequestId,
  SUBSCRIPTION_ID_META_KEY,
  type Transport,
} from '@modelcontextprotocol/server'
import type { Engine } from '../../../engine/engine.ts'
import { isObject } from '../brief.ts'
import { protocolError, type ServerOptions } from '../server-options.ts'
import { type ListenMessage, listenMessage, listenTo } from './changes.ts'

/**
 * Is between a transport and the SDK's server on it: what asks to listen is passed on once its questions stand, and the
 * changes go out beside the server, which knows no listeners apart. Call it when the server has been set on the transport.
 */
export function listenOn(transport: Transport, engine: Engine, options: ServerOptions, signal: AbortSignal): void {
  const listeners = new Map<RequestId, AbortController>()
  const end = (id: RequestId): void => {
    listeners.get(id)?.abort()
    listeners.delete(id)
  }
  const deliver = transport.onmessage?.bind(transport)
  const send = transport.send.bind(transport)

  const begin = async (message: ListenMessage, pass: () => void): Promise<void> => {
    const { id, uris } = message
    end(id)
    const left = new AbortController()
    listeners.set(id, left)
    const changed = (uri: string): void => {
      const params = { uri, _meta: { [SUBSCRIPTION_ID_META_KEY]: id } }
      void send({ jsonrpc: '2.0', method: 'notifications/resources/updated', params }).catch(() => end(id))
    }
    const ended = (): void => {
      end(id)
      // The server forgets it without a word; this is the word.
      deliver?.({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } })
      const _meta = { [SUBSCRIPTION_ID_META_KEY]: id }
      void send({ jsonrpc: '2.0', id, result: { resultType: 'complete', _meta } }).catch(() => {})
    }
    try {
      await listenTo(engine, uris, options, AbortSignal.any([left.signal, signal]), { changed, ended })
      if (!left.signal.aborted) pass()
    } catch (thrown) {
      // Who has cancelled it waits for no answer.
      if (left.signal.aborted) return
      end(id)
      const { code, message: text, data } = protocolError(thrown, options.viewer)
      await send({ jsonrpc: '2.0', id, error: { code, message: text, data } }).catch(() => {})
    }
  }

  transport.onmessage = (message, extra) => {
    const listen = listenMessage(message)
    if (listen !== null) return void begin(listen, () => deliver?.(message, extra))
    const cancelled = cancelledIn(message)
    if (cancelled !== undefined) end(cancelled)
    deliver?.(message, extra)
  }
  transport.send = async (message, sending) => {
    // The answer to a request that listens is its end: refused, or over.
    if (isJSONRPCErrorResponse(message) || isJSONRPCResultResponse(message)) {
      if (message.id !== undefined) end(message.id)
    }
    await send(message, sending)
  }
}

/** The request that a message cancels. */
export function cancelledIn(message: JSONRPCMessage): RequestId | undefined {
  if (!('method' in message) || message.method !== 'notifications/cancelled') return undefined
  const { params } = message
  const id = isObject(params) ? params['requestId'] : undefined
  return typeof id === 'string' || typeof id === 'number' ? id : undefined
}
