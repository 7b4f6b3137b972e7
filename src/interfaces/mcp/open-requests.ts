/** Requests of a client that have no answer yet. */
import {
  isJSONRPCErrorResponse,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type RequestId,
  type Transport,
} from '@modelcontextprotocol/server'
import { cancelledIn } from './live/connection-listeners.ts'

/**
 * Follows requests to their answers. The function resolves when none is open, or when the signal ends it. Subscriptions and
 * cancelled requests get no answer.
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
    // What was read last is delivered in a turn of the event loop.
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
