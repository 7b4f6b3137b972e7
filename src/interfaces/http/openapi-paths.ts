/** Paths of operations, in the document: each under its name, and the readable ones of the route tables. */

import { z } from 'zod'
import { canonicalJson, type Json, type JsonObject } from '../../base/canonical.ts'
import { isRecord } from '../../base/record.ts'
import { ERROR_CODES, QuerentError } from '../../model/errors.ts'
import { jsonObject } from '../../model/page.ts'
import { type Catalog, type EngineOperation, findOperation } from '../../ops/catalog.ts'
import { jsonSchema } from '../../ops/schemas.ts'
import { statusOf } from './failure.ts'
import { typesIn } from './mount.ts'
import { contextCall, type Route } from './routes.ts'

// Schemas of operations as components of the document: each once, under a name, with references between them.

/** A value of any form, as each of zod's own schemas of it tells it again. */
const ANY_JSON = z.toJSONSchema(jsonObject) as unknown as { readonly $defs: JsonObject }

function isAnyJson(schema: Json, def: string): boolean {
  return Object.entries(ANY_JSON.$defs).some(
    ([known, json]) => canonicalJson(json).replaceAll(`/${known}"`, `/${def}"`) === canonicalJson(schema),
  )
}

const PREFIX = '#/components/schemas/'

export class Components {
  readonly #schemas = new Map<string, JsonObject>()

  /** A reference to it; `name` is its own where it has none in zod's registry. */
  add(schema: z.ZodType, io: 'input' | 'output', name: string): JsonObject {
    const { $schema: _, $defs = {}, ...root } = jsonSchema(schema, io, 'named')
    const nameOf = (def: string): string => {
      if (!def.startsWith('__schema')) return def
      return isAnyJson(($defs as JsonObject)[def] as Json, def) ? 'Json' : `${name}.${def.slice(8)}`
    }
    const moved = (value: Json): JsonObject =>
      withRefs(value, ref => `${PREFIX}${ref === '#' ? name : nameOf(ref.slice(8))}`)
    for (const [def, inner] of Object.entries($defs as JsonObject)) this.#schemas.set(nameOf(def), moved(inner))
    const own = moved(root)
    if (typeof own['$ref'] === 'string') return own
    return this.set(name, own)
  }

  /** A reference to it. */
  set(name: string, schema: JsonObject): JsonObject {
    this.#schemas.set(name, schema)
    return { $ref: `${PREFIX}${name}` }
  }

  /** What a reference stands for. */
  resolve(schema: Json | undefined): JsonObject {
    const { $ref: ref, ...own } = isRecord(schema) ? (schema as JsonObject) : {}
    return typeof ref === 'string' ? { ...this.#schemas.get(ref.slice(PREFIX.length)), ...own } : own
  }

  toJSON(): JsonObject {
    return Object.fromEntries([...this.#schemas].sort(([a], [b]) => (a < b ? -1 : 1)))
  }
}

function withRefs(value: Json, moved: (ref: string) => string): JsonObject {
  const walk = (inner: Json): Json => {
    if (Array.isArray(inner)) return inner.map(walk)
    if (!isRecord(inner)) return inner as Json
    return Object.fromEntries(
      Object.entries(inner as JsonObject).map(([key, member]) => [
        key,
        key === '$ref' && typeof member === 'string' ? moved(member) : walk(member),
      ]),
    )
  }
  return walk(value) as JsonObject
}

// How requests fail, in the document: one shape, more of it where the contract of a lens says more, and when which status comes.

const TEXT = { type: 'string' }
const ERROR_FIELDS = {
  code: { type: 'string', description: 'Stable: what programs decide by' },
  message: { type: 'string', description: 'Names the field, its value and what was expected' },
  details: { type: 'object', description: 'What the message says, for programs' },
}

/** `type`: whether the contract of the lens has families of errors. */
function failure(description: string, more: JsonObject, required: readonly string[]): JsonObject {
  const error = { type: 'object', properties: { ...ERROR_FIELDS, ...more }, required: [...required] }
  return { type: 'object', description, properties: { error }, required: ['error'], additionalProperties: false }
}

const PLAIN_FIELDS = ['code', 'message', 'details']

export const FAILURE_SCHEMAS: Readonly<Record<string, JsonObject>> = {
  Failure: failure('What every refused or failed request is answered with', { type: TEXT }, PLAIN_FIELDS),
  ChromaFailure: failure(
    'Of the lens chroma: `type` is the family of the error',
    {
      type: { type: 'string', description: 'Such as ValidationError, UnknownHashtagError, QueryError, DatabaseError' },
    },
    ['type', ...PLAIN_FIELDS],
  ),
  BeliefsFailure: failure(
    'Of the lens beliefs: one of seven codes',
    {
      type: { const: 'QueryError' },
      code: {
        enum: [
          'INVALID_QUERY',
          'INVALID_FILTERS',
          'UNAUTHORIZED',
          'TIMEOUT',
          'RATE_LIMITED',
          'NODE_UNAVAILABLE',
          'INTERNAL_ERROR',
        ],
      },
      source: { type: 'object', description: 'Which source failed, where one did' },
      retryable: { type: 'boolean' },
      request_id: TEXT,
    },
    ['type', ...PLAIN_FIELDS, 'retryable', 'request_id'],
  ),
}

const MEANINGS: Readonly<Record<number, string>> = {
  400: 'The request is wrong: correct what the message names',
  401: 'No valid token or signature came with it, and one is needed',
  403: 'The requester may not do this, or the names in `Host` and `Origin` are not answered',
  404: 'There is no such thing, or none that the requester may see',
  408: 'The request was not whole in time',
  409: 'The state does not allow this change',
  413: 'Something is longer than its limit',
  415: 'Its body is compressed, and must not be',
  429: 'The requester has used up its limit: wait as long as `Retry-After` says',
  431: 'Its headers, or its address, are too long',
  500: 'The service is broken: its log says more',
  501: 'Its body is sent in a way that is not known here',
  503: 'The service cannot do this now',
  504: 'There was no answer within the time allowed',
}
/** Of requests that are not read, or not to their end. */
const UNREAD: Readonly<Record<number, readonly (keyof typeof ERROR_CODES)[]>> = {
  408: ['deadline_exceeded'],
  415: ['invalid_argument'],
  431: ['too_large'],
  501: ['invalid_argument'],
}
const WAITS = new Set([429, 503])

/** The contracts whose errors say more; `` stands for all others. */
type FailureForm = '' | 'chroma' | 'beliefs'

/** The codes of ours that are answered with it. */
function codesOf(status: number): readonly string[] {
  const unread = UNREAD[status]
  if (unread !== undefined) return unread
  const codes = Object.keys(ERROR_CODES) as (keyof typeof ERROR_CODES)[]
  return codes.filter(code => statusOf(new QuerentError(code, '')) === status)
}

/** As `components.responses`: by form and status. */
export function failureResponses(): JsonObject {
  const forms: readonly FailureForm[] = ['', 'chroma', 'beliefs']
  return Object.fromEntries(
    forms.flatMap(form => Object.keys(MEANINGS).map(status => [`${form}${status}`, response(form, Number(status))])),
  )
}

function response(form: FailureForm, status: number): JsonObject {
  const plain = { $ref: '#/components/schemas/Failure' }
  const own = { chroma: 'ChromaFailure', beliefs: 'BeliefsFailure', '': null }[form]
  const schema = own === null ? plain : { anyOf: [{ $ref: `#/components/schemas/${own}` }, plain] }
  const codes = codesOf(status).map(code => `\`${code}\``)
  return {
    description: `${MEANINGS[status]}. Codes: ${codes.join(', ')}${own === null ? '' : ', or one of the lens'}.`,
    headers: {
      'x-request-id': { $ref: '#/components/headers/RequestId' },
      ...(WAITS.has(status) && { 'retry-after': { $ref: '#/components/headers/RetryAfter' } }),
    },
    content: { 'application/json': { schema } },
  }
}

/** References to those that it may be answered with. */
export function failuresOf(statuses: readonly number[], form: FailureForm = ''): JsonObject {
  return Object.fromEntries(
    statuses.map(status => [String(status), { $ref: `#/components/responses/${form}${status}` }]),
  )
}

/** Failures of every request whose requester is identified. */
export const ALWAYS: readonly number[] = [400, 401, 403, 408, 415, 431, 500, 501, 503]

/** Of an operation: `hasInput`: whether there is anything in the request to be wrong about. */
export function statusesOf({ effect }: Pick<EngineOperation, 'effect'>, hasInput: boolean): readonly number[] {
  return [...ALWAYS, 429, 504, ...(hasInput ? [404, 413] : []), ...(effect.kind === 'read' ? [] : [409])].sort()
}

// A short input to begin with: the first example of the schema, else what it asks for and nothing that may be left out.

function exampleOf(schema: Json | undefined, components: Components): Json {
  const { type, anyOf, oneOf, const: only, examples, enum: values, ...rest } = components.resolve(schema)
  if (Array.isArray(examples) && examples.length > 0) return examples[0] as Json
  if (Array.isArray(values)) return values[0] as Json
  if (only !== undefined) return only
  const choices = anyOf ?? oneOf
  if (Array.isArray(choices) && type === undefined) return exampleOf(choices[0] as Json, components)
  const { default: usual, minimum = 1, minItems = 0 } = rest
  if (usual !== undefined) return usual
  switch (Array.isArray(type) ? type[0] : type) {
    case 'object':
      return objectOf(rest, components)
    case 'array':
      return Number(minItems) > 0 ? [exampleOf(rest['items'], components)] : []
    case 'integer':
    case 'number':
      return Math.max(Number(minimum), 0)
    case 'boolean':
      return false
    case 'string':
      return 'text'
    default:
      return null
  }
}

function objectOf({ properties, required }: JsonObject, components: Components): JsonObject {
  const fields = isRecord(properties) ? (properties as JsonObject) : {}
  const needed = Array.isArray(required) ? (required as readonly string[]) : []
  return Object.fromEntries(needed.map(name => [name, exampleOf(fields[name], components)]))
}

// What a request for an operation is made of, in the document: parameters of path and query, headers, a body.

/** `says`: schema of all that the request says, wherever it says it. */
function requestParts(
  { method, path }: Pick<Route, 'method' | 'path'>,
  says: JsonObject,
  components: Components,
): { readonly parameters: readonly JsonObject[]; readonly requestBody?: JsonObject } {
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name as string)
  const schema = components.resolve(says)
  const { properties = {}, required = [] } = schema
  const fields = isRecord(properties) ? (properties as JsonObject) : {}
  const needed = new Set(Array.isArray(required) ? required : [])
  const parameters: JsonObject[] = inPath.map(name => ({
    name,
    in: 'path',
    required: true,
    schema: fields[name] ?? { type: 'string' },
  }))
  const rest = Object.entries(fields).filter(([name]) => !inPath.includes(name))
  if (method === 'GET' || method === 'DELETE') {
    for (const [name, field] of rest) parameters.push(queryParameter(name, field, needed.has(name), components))
    return { parameters }
  }
  const stillNeeded = [...needed].filter(name => !inPath.includes(name as string))
  const body = inPath.length === 0 ? says : { ...schema, properties: Object.fromEntries(rest), required: stillNeeded }
  return {
    parameters,
    requestBody: {
      required: stillNeeded.length > 0,
      content: { 'application/json': { schema: body, example: exampleOf(body, components) } },
    },
  }
}

/** Texts and numbers stand as they are, lists as several of one name, objects as JSON. */
function queryParameter(name: string, field: Json, required: boolean, components: Components): JsonObject {
  const schema = components.resolve(field)
  const { description } = schema
  const isObject = typesIn(schema).has('object')
  return {
    name,
    in: 'query',
    required,
    ...(typeof description === 'string' && { description }),
    ...(isObject
      ? { content: { 'application/json': { schema: field, example: exampleOf(field, components) } } }
      : { schema: field }),
  }
}

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
