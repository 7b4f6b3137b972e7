/** Paths of operations, in the document: each under its name, and the readable ones of the route tables. */
import type { JsonObject } from '../../../base/canonical.ts'
import { isRecord } from '../../../base/record.ts'
import { type Catalog, type EngineOperation, findOperation } from '../../../ops/catalog.ts'
import { contextCall } from '../routes/context-call.ts'
import type { Route } from '../routes/route.ts'
import type { Components } from './components.ts'
import { type FailureForm, failuresOf, statusesOf } from './failures.ts'
import { requestParts } from './request-parts.ts'

export interface DescribedPath {
  /** With its parameters as `{name}`. */
  readonly path: string
  readonly method: string
  readonly item: JsonObject
}

export interface Describing {
  readonly components: Components
  /** The lens of an operation; `engine` for the engine's own. */
  lensOf(operation: string): string
}

/** `POST /v1/ops/<name>`. */
export function namedPath(operation: EngineOperation, describing: Describing): DescribedPath {
  const route: Route = { method: 'POST', path: `/v1/ops/${operation.name}`, operation: operation.name }
  const remark = operation.effect.ownerOnly === true ? ' Only for the local owner.' : ''
  return describe(route, operation, operation.name, `${operation.summary}.${remark}`, describing)
}

export function readablePath(route: Route, catalog: Catalog, describing: Describing): DescribedPath {
  const operation = route.operation === contextCall.name ? contextCall : findOperation(catalog, route.operation)
  const words = route.path
    .replace(/^\/(?:v1\/|[.])/, '')
    .replaceAll('/', '_')
    .replaceAll(':', 'by_')
    .replaceAll('-', '_')
  const remark = operation === contextCall ? '' : ` As the operation \`${operation.name}\`.`
  return describe(
    route,
    operation,
    `${route.method.toLowerCase()}_${words}`,
    `${operation.summary}.${remark}`,
    describing,
  )
}

function describe(
  route: Route,
  operation: EngineOperation,
  operationId: string,
  description: string,
  { components, lensOf }: Describing,
): DescribedPath {
  const { name, summary } = operation
  const input = components.add(operation.input, 'input', `${name}.input`)
  const says = route.says?.(components.resolve(input)) ?? input
  const { parameters, requestBody } = requestParts(route, says, components)
  const { properties } = components.resolve(input)
  const hasInput = isRecord(properties) && Object.keys(properties).length > 0
  const lens = lensOf(name)
  const item = {
    operationId,
    summary,
    description,
    tags: [lens],
    ...(route.open && { security: [{}] }),
    parameters: [...parameters, ...headersOf(route, operation)],
    ...(requestBody && { requestBody }),
    responses: {
      ...answers(route, operation, components),
      ...failuresOf(statusesOf(operation, hasInput), formOf(lens, route, operation)),
    },
  }
  return { path: route.path.replace(/:(\w+)/g, '{$1}'), method: route.method.toLowerCase(), item }
}

/** Families of errors stand in the readable routes of chroma; the codes of beliefs wherever its questions are asked. */
function formOf(lens: string, { path }: Route, { refusal }: EngineOperation): FailureForm {
  if (lens === 'chroma' && path.startsWith('/v1/chroma/')) return 'chroma'
  return lens === 'beliefs' && refusal !== undefined ? 'beliefs' : ''
}

function headersOf({ method, open }: Route, { resumeAt }: EngineOperation): readonly JsonObject[] {
  const names = open ? ['RequestId'] : ['Viewer', 'RequestId']
  if (method === 'GET' && !open) names.push('IfNoneMatch')
  if (resumeAt !== undefined) names.push('LastEventId')
  return names.map(name => ({ $ref: `#/components/parameters/${name}` }))
}

function answers(route: Route, operation: EngineOperation, components: Components): JsonObject {
  const { name, output, stream } = operation
  const document = { 'application/json': { schema: components.add(output, 'output', `${name}.output`) } }
  const streams = stream === undefined ? {} : STREAMS
  const isConditional = route.method === 'GET' && !route.open
  const found = {
    '200': {
      description: stream === undefined ? 'The answer' : 'The answer, whole or piece by piece: as `Accept` says',
      headers: {
        'x-request-id': { $ref: '#/components/headers/RequestId' },
        ...(isConditional && { etag: { $ref: '#/components/headers/ETag' } }),
      },
      content: { ...(route.streams === undefined && document), ...streams },
    },
  }
  return isConditional ? { ...found, '304': { $ref: '#/components/responses/NotModified' } } : found
}

const STREAMS: JsonObject = {
  'text/event-stream': {
    schema: {
      type: 'string',
      description:
        'Server-sent events: `data` is one JSON object, `event` its `type` (`chunk` where it has none, `error` for the last one of a ' +
        'stream that failed), `id` what `Last-Event-ID` takes where the stream can be gone on with',
    },
  },
  'application/x-ndjson': {
    schema: {
      type: 'string',
      description: 'Lines, each one JSON object; `{"error": …}` for the last one of a stream that failed',
    },
  },
}
