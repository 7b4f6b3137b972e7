/**
 * The readable routes, such as `GET /v1/entries/:id`: the operation that each route calls, and how a request becomes the operation's input.
 */

import { z } from 'zod'
import type { JsonObject } from '../../base/canonical.ts'
import { isRecord } from '../../base/record.ts'
import { contextOf } from '../../openings/context.ts'
import type { EngineOperation } from '../../ops/catalog.ts'
import { withValueAt } from './body.ts'
import type { StreamForm } from './stream.ts'

/** The parts of a request from which the operation's input is made, before any check. */
export interface Given {
  /** Parameters in the URL path, with percent-escapes decoded. */
  readonly params: Readonly<Record<string, string>>
  /** Values of the query string, converted to the types of the fields in the operation's input. */
  readonly query: Readonly<Record<string, unknown>>
  /** Body of the request, parsed as JSON; null: there was none. */
  readonly body: unknown
}

export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** URL path with its parameters as `:name`; the name of a parameter is also the name of the input field that it sets. */
  readonly path: string
  /** Name of the operation that the route calls. */
  readonly operation: string
  /**
   * Makes the operation's input from the request. Default: the body (for GET and DELETE the query string) together with the parameters of
   * the path.
   */
  readonly input?: ((given: Given) => unknown) | undefined
  /**
   * Makes the JSON Schema of the request (all fields in path, query string and body) from the schema of the operation's input. Default: the
   * input's schema itself.
   */
  readonly says?: ((input: JsonObject) => JsonObject) | undefined
  /** Whether the route needs no bearer token, because requests carry a signature of their own or everybody gets the same answer. */
  readonly open?: true | undefined
  /**
   * Form of the stream in which this route answers, unless the client accepts another form; absent: the route answers with a document
   * unless the client asks for a stream.
   */
  readonly streams?: StreamForm | undefined
  /** Name of a boolean field of the answer that is false if nothing was found; the response is then the error `not_found`. */
  readonly found?: string | undefined
  /**
   * Only for routes with `found`: name of an operation that looks up what the request's ids name. It is run for a request that gives only
   * ids and so changes nothing, to see whether they exist.
   */
  readonly reads?: string | undefined
}

// Routes of the engine's own operations.

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

/** Input for storing one entry: the entry is in the body of the request, and its id in the path. */
function oneEntry({ params, body }: Given): unknown {
  return { entries: [isRecord(body) ? { ...body, ...params } : body] }
}

function oneId({ params: { id }, query }: Given): unknown {
  return { ...query, ids: [id] }
}

/** Schema of a request with one entry: that of one element of the field `entries`; the id is in the path. */
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

// Routes of the lenses whose contracts define no routes: one for each of their main queries.

export const LENS_ROUTES: readonly Route[] = [
  { method: 'POST', path: '/v1/collections/query', operation: 'collections.query' },
  { method: 'POST', path: '/v1/collections/format', operation: 'collections.format' },
  { method: 'POST', path: '/v1/c64/query', operation: 'c64.query' },
  { method: 'POST', path: '/v1/c64/enrich', operation: 'c64.enrich' },
  { method: 'POST', path: '/v1/conversations/remember', operation: 'conversations.remember' },
  { method: 'POST', path: '/v1/conversations/query', operation: 'conversations.query' },
  { method: 'POST', path: '/v1/context/query', operation: 'context.query' },
  { method: 'GET', path: '/v1/context/definition', operation: 'context.definition' },
  { method: 'GET', path: '/v1/context/references', operation: 'context.references' },
  { method: 'GET', path: '/v1/context/callers', operation: 'context.callers' },
]

// Routes of the lens chroma (CQ-119).

export const CHROMA_ROUTES: readonly Route[] = [
  { method: 'POST', path: '/v1/chroma/query', operation: 'chroma.query' },
  { method: 'POST', path: '/v1/chroma/batch-query', operation: 'chroma.batch_query' },
  { method: 'POST', path: '/v1/chroma/nodes', operation: 'chroma.store' },
  { method: 'GET', path: '/v1/chroma/nodes/:entry_id', operation: 'chroma.get' },
  {
    method: 'PATCH',
    path: '/v1/chroma/nodes/:entry_id',
    operation: 'chroma.update',
    found: 'updated',
    reads: 'chroma.get',
  },
  { method: 'DELETE', path: '/v1/chroma/nodes/:entry_id', operation: 'chroma.delete', found: 'deleted' },
  { method: 'POST', path: '/v1/chroma/suggest-hashtags', operation: 'chroma.suggest_hashtags' },
  { method: 'GET', path: '/v1/chroma/hashtags', operation: 'chroma.hashtags' },
  { method: 'POST', path: '/v1/chroma/hashtags', operation: 'chroma.assign' },
  { method: 'GET', path: '/v1/chroma/statistics', operation: 'chroma.statistics' },
]

// Routes of the lens beliefs (BQ-198).

export const BELIEFS_ROUTES: readonly Route[] = [
  { method: 'POST', path: '/v1/beliefs/query', operation: 'beliefs.query' },
  {
    method: 'POST',
    path: '/v1/beliefs/stream',
    operation: 'beliefs.query',
    input: ({ body }) => withValueAt(body, 'options.stream', true),
    streams: 'ndjson',
  },
  { method: 'POST', path: '/v1/beliefs/events', operation: 'beliefs.watch', streams: 'ndjson' },
  { method: 'POST', path: '/v1/beliefs/count', operation: 'beliefs.count' },
  { method: 'POST', path: '/v1/beliefs/facets', operation: 'beliefs.facets' },
  { method: 'POST', path: '/v1/beliefs/batch', operation: 'beliefs.batch' },
  { method: 'POST', path: '/v1/beliefs/context', operation: 'beliefs.context_query' },
  { method: 'GET', path: '/v1/beliefs/:belief_id/similar', operation: 'beliefs.similar' },
  { method: 'GET', path: '/v1/beliefs/:belief_id/contradictions', operation: 'beliefs.contradictions' },
  { method: 'GET', path: '/v1/beliefs/:belief_id/derivation', operation: 'beliefs.derivation' },
  { method: 'GET', path: '/v1/beliefs/:belief_id/explain', operation: 'beliefs.explain' },
]

// Routes for communication between nodes. They need no bearer token: requests carry a signature of their own, or everybody gets the same
// answer.

export const NODE_ROUTES: readonly Route[] = [
  { method: 'POST', path: '/v1/nodes/query', operation: 'nodes.query', open: true },
  { method: 'POST', path: '/v1/nodes/changes', operation: 'nodes.changes', open: true },
  { method: 'GET', path: '/.well-known/querent', operation: 'peers.about', open: true },
]

// `POST /v1/call`: calls the lens context by a path such as `/context/query`, and answers with that lens's own JSON envelope.

const input = z.strictObject({ path: z.string(), params: z.unknown().optional() })

/** The operation behind `POST /v1/call`. Errors in the path or its parameters are reported in the envelope, not as an HTTP error. */
export const contextCall: EngineOperation = {
  name: 'context.call',
  summary: 'Call the lens context by a path, such as /context/query',
  input,
  output: z.looseObject({ status: z.enum(['success', 'error']), result: z.unknown(), errors: z.unknown() }),
  effect: { kind: 'write', idempotent: false },
  run: (engine, given, { viewer, signal }) => {
    const { path, params } = given as z.output<typeof input>
    return contextOf(engine, viewer).call(path, params ?? null, undefined, signal)
  },
}

export const CALL_ROUTE: Route = { method: 'POST', path: '/v1/call', operation: contextCall.name }
