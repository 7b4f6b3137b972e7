/** Routes of the engine's own operations. */
import type { JsonObject } from '../../../base/canonical.ts'
import { isRecord } from '../../../base/record.ts'
import type { Given, Route } from './route.ts'

export const MAIN_ROUTES: readonly Route[] = [
  { method: 'POST', path: '/v1/query', operation: 'query' },
  { method: 'POST', path: '/v1/explain', operation: 'explain' },
  { method: 'POST', path: '/v1/watch', operation: 'watch', streams: 'sse' },
  { method: 'GET', path: '/v1/entries', operation: 'list' },
  { method: 'POST', path: '/v1/entries', operation: 'put' },
  { method: 'GET', path: '/v1/entries/:id', operation: 'get' },
  { method: 'PUT', path: '/v1/entries/:id', operation: 'put', input: oneEntry, says: saysEntry },
  { method: 'DELETE', path: '/v1/entries/:id', operation: 'delete', input: oneId, says: saysId },
  { method: 'GET', path: '/v1/entries/:id/similar', operation: 'similar' },
  { method: 'GET', path: '/v1/suggest', operation: 'suggest' },
  { method: 'GET', path: '/v1/status', operation: 'status' },
  { method: 'GET', path: '/v1/lenses', operation: 'lenses' },
]

/** The body is the entry; its id is that of the path. */
function oneEntry({ params, body }: Given): unknown {
  return { entries: [isRecord(body) ? { ...body, ...params } : body] }
}

function oneId({ params: { id }, query }: Given): unknown {
  return { ...query, ids: [id] }
}

/** One of the entries, whose id is said. */
function saysEntry(input: JsonObject): JsonObject {
  return itemOf(input, 'entries')
}

function saysId(input: JsonObject): JsonObject {
  return { ...input, properties: { id: itemOf(input, 'ids') }, required: ['id'] }
}

function itemOf({ properties }: JsonObject, list: string): JsonObject {
  const { items } = ((properties as JsonObject)[list] ?? {}) as JsonObject
  return items as JsonObject
}
