/**
 * Builds the OpenAPI 3.1 description of the HTTP interface from the catalog of operations and the tables of routes, so that neither is
 * listed twice. `GET /openapi.json` needs no authentication: the document contains nothing from a store, and programs read it before they
 * have a token.
 */
import { z } from 'zod'
import { canonicalJson, type Json, type JsonObject } from '../../base/canonical.ts'
import { isRecord } from '../../base/record.ts'
import type { Engine } from '../../engine/engine.ts'
import { VERSION } from '../../engine/home.ts'
import { jsonObject } from '../../model/page.ts'
import { type Catalog, type EngineOperation, findOperation, jsonSchema } from '../../ops/catalog.ts'
import { VIEWER_HEADER } from './auth.ts'
import type { App } from './env.ts'
import { conditional, ROUTES, typesIn } from './mount.ts'
import { CALL_ROUTE, contextCall, type Route } from './routes.ts'

/** Which optional routes this server has, such as `/metrics` and `/mcp`. */
interface ServerParts {
  readonly metrics: boolean
  readonly mcp: boolean
}

export function serveOpenApi(
  app: App,
  engine: Pick<Engine, 'lensOperations'>,
  catalog: Catalog,
  parts: ServerParts,
): void {
  let made: string | undefined
  app.get('/openapi.json', c => {
    made ??= JSON.stringify(openApiDocument(engine, catalog, parts))
    return conditional(c, c.body(made, 200, { 'content-type': 'application/json' }))
  })
}

const ENGINE = 'engine'

const TAGS: Readonly<Record<string, string>> = {
  [ENGINE]: 'Queries over everything, and the entries that answer them',
  chroma: 'Knowledge in colour space, where its hashtags pull it',
  collections: 'Items and their analyses, with a day filter, as Markdown',
  context: 'A code base as concepts, links and lines',
  beliefs: 'Statements of many agents, ranked by trust',
  c64: 'A lens that knows a domain',
  server: 'The server itself',
}

const DESCRIPTION = `Every operation is called by \`POST /v1/ops/<name>\`; the main ones have readable paths as well, which answer the same.

- **The requester** is identified by a token or a signature. On its own machine a server without tokens answers the local owner without either; where there are tokens, a token can identify the owner. The owner can act as another viewer with \`${VIEWER_HEADER}\`.
- **Answers** show what the requester may see. What exists and may not be seen is \`not_found\`, like what does not exist.
- **Failures** have one shape: \`{"error": {"code", "message", "details"}}\`. Programs decide by \`code\`.
- **Reads** have an \`ETag\`; with \`If-None-Match\` an answer that has not changed is 304.
- **Streams** are sent if \`Accept\` is \`text/event-stream\` or \`application/x-ndjson\`, for operations that have them.
- Query strings: lists as several fields of one name, objects as JSON. Bodies are JSON in UTF-8, whatever \`Content-Type\` says.`

function openApiDocument(engine: Pick<Engine, 'lensOperations'>, catalog: Catalog, parts: ServerParts): JsonObject {
  const lenses = new Map(engine.lensOperations.map(({ lens, operation }) => [operation.name, lens]))
  if (lenses.has('context.query')) lenses.set(CALL_ROUTE.operation, 'context')
  const components = new Components()
  components.set('Failure', FAILURE)
  components.set('OperationDescription', OPERATION)
  const describing: Describing = { components, lensOf: name => lenses.get(name) ?? ENGINE }
  const described = [
    ...[...ROUTES, CALL_ROUTE]
      .filter(({ operation }) => catalog.has(operation === contextCall.name ? 'context.query' : operation))
      .map(route => readablePath(route, catalog, describing)),
    ...[...catalog.values()].map(operation => namedPath(operation, describing)),
    ...serverPaths(parts),
  ]
  const paths: Record<string, JsonObject> = {}
  for (const { path, method, item } of described) paths[path] = { ...paths[path], [method]: item }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Querent',
      version: VERSION,
      description: DESCRIPTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    security: [{}, { token: [] }, { signature: [] }],
    tags: [ENGINE, ...new Set(lenses.values()), 'server'].map(name => ({
      name,
      description: TAGS[name] ?? `The lens ${name}`,
    })),
    paths,
    components: {
      schemas: components.toJSON(),
      responses: {
        Failure: content('The request was refused or failed', 'application/json', {
          $ref: '#/components/schemas/Failure',
        }),
      },
      parameters: PARAMETERS,
      securitySchemes: SECURITY,
    },
  }
}

const TEXT = { type: 'string' }
const NOT_MODIFIED = { '304': { description: 'The copy of the client is current' } }
/** The description of responses with a status of 400 or more, the same for every path. */
const FAILURES = { default: { $ref: '#/components/responses/Failure' } }

function content(description: string, type: string, schema: JsonObject): JsonObject {
  return { description, content: { [type]: { schema } } }
}

/** Schema of the body of a failed request; lenses with error codes of their own extend it. */
const FAILURE: JsonObject = {
  type: 'object',
  properties: {
    error: {
      type: 'object',
      properties: {
        code: { type: 'string', description: 'Stable code, for programs' },
        message: { type: 'string', description: 'Names the field, its value and what was expected' },
        details: { type: 'object', description: 'Facts of the message, for programs' },
        type: { type: 'string', description: 'Family of the error; only of chroma and beliefs' },
        source: { type: 'object', description: 'Source that failed; only of beliefs' },
        retryable: { type: 'boolean', description: 'Whether a retry may help; only of beliefs' },
        request_id: { type: 'string', description: 'Id of the request in the log; only of beliefs' },
      },
      required: ['code', 'message', 'details'],
    },
  },
  required: ['error'],
  additionalProperties: false,
}

const OPERATION: JsonObject = {
  type: 'object',
  properties: {
    name: { type: 'string' },
    summary: { type: 'string' },
    effect: {
      type: 'object',
      properties: {
        kind: { enum: ['read', 'write', 'destroy'] },
        idempotent: { type: 'boolean' },
        owner_only: { type: 'boolean' },
      },
      required: ['kind', 'idempotent', 'owner_only'],
      additionalProperties: false,
    },
    streams: { type: 'boolean', description: 'Whether it has a streamed form' },
    input: { type: 'object', description: 'JSON Schema of its input' },
    output: { type: 'object', description: 'JSON Schema of its output' },
  },
  required: ['name', 'summary', 'effect', 'streams', 'input', 'output'],
  additionalProperties: false,
}

function header(name: string, description: string, schema: JsonObject = { type: 'string' }): JsonObject {
  return { name, in: 'header', description, schema }
}

const PARAMETERS: JsonObject = {
  Viewer: header(VIEWER_HEADER, 'Act as this viewer. Only for the local owner.', {
    type: 'string',
    minLength: 1,
    maxLength: 200,
  }),
  IfNoneMatch: header('if-none-match', 'The `ETag` of the answer that the client has.'),
  LastEventId: header('last-event-id', 'Continue a stream after the event with this id.'),
}

const SECURITY: JsonObject = {
  token: { type: 'http', scheme: 'bearer', description: 'One of the tokens that `querent serve --tokens` was given.' },
  signature: {
    type: 'apiKey',
    in: 'header',
    name: 'authorization',
    description:
      '`Querent-Signature <did> <signature>`, over method, path, body and the headers `querent-audience`, `querent-timestamp` and ' +
      '`querent-nonce` that go with it: by the key of an agent, to the node that `/v1/node` names.',
  },
}

// Paths of the document that do not call an operation: health, catalog, MCP, and the web pages.

interface DescribedPath {
  /** URL path with its parameters written as `{name}`. */
  readonly path: string
  readonly method: string
  readonly item: JsonObject
}

function object(properties: JsonObject): JsonObject {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false }
}

const JSON_TYPE = 'application/json'
const READY = object({ ready: { type: 'boolean' }, failing: { enum: ['store', 'indexes', 'ending', null] } })
const DESCRIBED_OPERATION = { $ref: '#/components/schemas/OperationDescription' }
const OPERATIONS = object({ operations: { type: 'array', items: DESCRIBED_OPERATION } })

/**
 * Description of a path that calls no operation: its id in the document, URL path, summary, and the media type and schema of the answer.
 */
type ServerPath = readonly [id: string, path: string, summary: string, type: string, schema: JsonObject]

/** Paths of the document that need no authentication. */
const OPEN_PATHS: readonly ServerPath[] = [
  ['healthz', '/healthz', 'Report whether the process is alive', JSON_TYPE, object({ ok: { type: 'boolean' } })],
  ['readyz', '/readyz', 'Report whether requests can be sent: 503 if not', JSON_TYPE, READY],
  ['node', '/v1/node', 'Read the name that signed requests to this node use', JSON_TYPE, object({ did: TEXT })],
  ['openapi', '/openapi.json', 'Read this document', JSON_TYPE, { type: 'object' }],
  ['explorer', '/', 'Open the explorer, a page for people', 'text/html', TEXT],
  ['docs', '/docs', 'Open this document as a page', 'text/html', TEXT],
]
const CATALOG_PATHS: readonly ServerPath[] = [
  ['operations', '/v1/ops', 'List the operations that the requester may call', JSON_TYPE, OPERATIONS],
  ['operation', '/v1/ops/{name}', 'Read the input and output of one operation', JSON_TYPE, DESCRIBED_OPERATION],
]
const METRICS: ServerPath = ['metrics', '/metrics', 'Read figures for Prometheus (owner only)', 'text/plain', TEXT]

function serverPaths({ metrics, mcp }: ServerParts): readonly DescribedPath[] {
  return [
    ...OPEN_PATHS.map(path => serverPath(path, { security: [{}] })),
    ...[...CATALOG_PATHS, ...(metrics ? [METRICS] : [])].map(path => serverPath(path, {})),
    ...(mcp ? [MCP] : []),
  ]
}

function serverPath([operationId, path, summary, type, schema]: ServerPath, more: JsonObject): DescribedPath {
  const inPath = path.includes('{name}') ? [{ name: 'name', in: 'path', required: true, schema: TEXT }] : []
  const responses = { '200': content(summary, type, schema), ...NOT_MODIFIED, ...FAILURES }
  const item = { operationId, summary, tags: ['server'], ...more, parameters: [...inPath, VIEWER], responses }
  return { path, method: 'get', item }
}

const VIEWER = { $ref: '#/components/parameters/Viewer' }
const MESSAGES = { type: ['object', 'array'] }
const CHOICES = {
  lens: 'Offer the tools of this lens; may occur several times',
  tools: 'Offer these tools, separated by commas',
  detail: 'concise: form of answers for calls that do not name one',
}

/** The path of the MCP endpoint, whose messages are defined by the MCP protocol itself. */
const MCP: DescribedPath = {
  path: '/mcp',
  method: 'post',
  item: {
    operationId: 'mcp',
    summary: 'Send a message of the Model Context Protocol',
    description: 'Streamable HTTP, without sessions.',
    tags: ['server'],
    parameters: [
      VIEWER,
      ...Object.entries(CHOICES).map(([name, description]) => ({ name, in: 'query', description, schema: TEXT })),
    ],
    requestBody: { required: true, content: { [JSON_TYPE]: { schema: MESSAGES } } },
    responses: {
      '200': {
        description: 'A JSON-RPC response, or a stream that ends with it',
        content: { [JSON_TYPE]: { schema: MESSAGES }, 'text/event-stream': { schema: TEXT } },
      },
      '202': { description: 'A notification was accepted' },
      default: content('A JSON-RPC error, or an error in the general form', JSON_TYPE, { type: 'object' }),
    },
  },
}

// Collects the schemas of operations as components of the OpenAPI document: each schema once, under a name, with references from everywhere
// else.

/**
 * Schema of any JSON value. The library zod repeats it within each schema that contains such a value; all these copies are replaced by one
 * component.
 */
const ANY_JSON = z.toJSONSchema(jsonObject) as unknown as { readonly $defs: JsonObject }

function isAnyJson(schema: Json, def: string): boolean {
  return Object.entries(ANY_JSON.$defs).some(
    ([known, json]) => canonicalJson(json).replaceAll(`/${known}"`, `/${def}"`) === canonicalJson(schema),
  )
}

const PREFIX = '#/components/schemas/'

class Components {
  readonly #schemas = new Map<string, JsonObject>()

  /**
   * Adds the schema of an operation's input or output as a component, and returns a reference to it. `name`: used if the schema has no name
   * in zod's registry.
   */
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

  /** Adds a JSON schema as a component under this name, and returns a reference to it. */
  set(name: string, schema: JsonObject): JsonObject {
    this.#schemas.set(name, schema)
    return { $ref: `${PREFIX}${name}` }
  }

  /** The schema itself, if the given one is a reference to a component. */
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

// Makes a short example of an input from its schema: the first example in the schema, otherwise an object with only the required fields.

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

// Describes the request of an operation in the OpenAPI document: parameters of path and query string, headers, body.

/** `says`: schema of all fields that the request contains, whether in the path, the query string or the body. */
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

/** Describes a parameter of the query string: texts and numbers are given as they are, lists as repeated parameters, objects as JSON. */
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

// The paths of operations in the OpenAPI document: `/v1/ops/<name>` for each operation, and the readable paths of the tables of routes.

interface Describing {
  readonly components: Components
  /** Name of the lens to which an operation belongs; `engine` for operations of the engine itself. */
  lensOf(operation: string): string
}

/** Describes the path `POST /v1/ops/<name>`, by which an operation is called, in the OpenAPI document. */
function namedPath(operation: EngineOperation, describing: Describing): DescribedPath {
  const { name, summary, effect } = operation
  const remark = effect.ownerOnly === true ? ' Only for the local owner.' : ''
  const route: Route = { method: 'POST', path: `/v1/ops/${name}`, operation: name }
  return describe(route, operation, name, `${summary}.${remark}`, describing)
}

function readablePath(route: Route, catalog: Catalog, describing: Describing): DescribedPath {
  const operation = route.operation === contextCall.name ? contextCall : findOperation(catalog, route.operation)
  const words = route.path
    .replace(/^\/(?:v1\/|[.])/, '')
    .replaceAll('/', '_')
    .replaceAll(':', 'by_')
    .replaceAll('-', '_')
  const remark = operation === contextCall ? '' : ` As the operation \`${operation.name}\`.`
  const id = `${route.method.toLowerCase()}_${words}`
  return describe(route, operation, id, `${operation.summary}.${remark}`, describing)
}

function describe(
  route: Route,
  { name, summary, input, output, stream, resumeAt }: EngineOperation,
  operationId: string,
  description: string,
  { components, lensOf }: Describing,
): DescribedPath {
  const given = components.add(input, 'input', `${name}.input`)
  const { parameters, requestBody } = requestParts(route, route.says?.(components.resolve(given)) ?? given, components)
  const answer = components.add(output, 'output', `${name}.output`)
  const isConditional = route.method === 'GET' && !route.open
  const headers = [
    ...(route.open ? [] : ['Viewer']),
    ...(isConditional ? ['IfNoneMatch'] : []),
    ...(resumeAt === undefined ? [] : ['LastEventId']),
  ]
  const item = {
    operationId,
    summary,
    description,
    tags: [lensOf(name)],
    ...(route.open && { security: [{}] }),
    parameters: [...parameters, ...headers.map(header => ({ $ref: `#/components/parameters/${header}` }))],
    ...(requestBody && { requestBody }),
    responses: {
      '200': {
        description: stream === undefined ? 'The answer' : 'The answer, as a whole or streamed, depending on `Accept`',
        content: {
          ...(route.streams === undefined && { [JSON_TYPE]: { schema: answer } }),
          ...(stream !== undefined && STREAMS),
        },
      },
      ...(isConditional && NOT_MODIFIED),
      ...FAILURES,
    },
  }
  return { path: route.path.replace(/:(\w+)/g, '{$1}'), method: route.method.toLowerCase(), item }
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
