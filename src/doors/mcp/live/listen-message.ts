/** What of a `subscriptions/listen` request we need ourselves; all else of it the SDK reads and checks. */
import type { RequestId } from '@modelcontextprotocol/server'
import { isObject } from '../brief.ts'

export interface ListenMessage {
  readonly id: RequestId
  /** Resources whose changes are to be told. */
  readonly uris: readonly string[]
}

/** Null: another message, or one that asks for no resource. */
export function listenMessage(message: unknown): ListenMessage | null {
  if (!isObject(message) || message['method'] !== 'subscriptions/listen') return null
  const { id, params } = message
  const filter = isObject(params) ? params['notifications'] : undefined
  const uris = isObject(filter) ? filter['resourceSubscriptions'] : undefined
  if ((typeof id !== 'string' && typeof id !== 'number') || !Array.isArray(uris)) return null
  const texts = uris.filter(uri => typeof uri === 'string')
  // What holds anything else is refused whole.
  return texts.length === 0 || texts.length < uris.length ? null : { id, uris: texts }
}
