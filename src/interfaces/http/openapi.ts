/** The HTTP interface described in OpenAPI 3.1, made from the catalog and the route tables: there is no second list of either. */
import type { JsonObject } from '../../base/canonical.ts'
import type { Engine } from '../../engine/engine.ts'
import { VERSION } from '../../engine/version.ts'
import { QuerentError } from '../../model/errors.ts'
import { isOwner } from '../../model/viewer.ts'
import type { Catalog } from '../../ops/catalog.ts'
import { type Authenticator, requesterOf, VIEWER_HEADER } from './auth.ts'
import type { App, RequestContext } from './env.ts'
import { conditional, ROUTES } from './mount.ts'
import {
  ALWAYS,
  Components,
  type DescribedPath,
  type Describing,
  FAILURE_SCHEMAS,
  failureResponses,
  failuresOf,
  namedPath,
  readablePath,
} from './openapi-paths.ts'
import { CALL_ROUTE, contextCall, type Route } from './routes.ts'

// Paths that stand for no operation, in the document: whether the server is well, what there is, MCP, and the pages.

const TEXT = { type: 'string' }
const FLAG = { type: 'boolean' }
const ETAG = { etag: { $ref: '#/components/headers/ETag' } }
const NOT_MODIFIED = { '304': { $ref: '#/components/responses/NotModified' } }
const VIEWER = { $ref: '#/components/parameters/Viewer' }
const IF_NONE_MATCH = { $ref: '#/components/parameters/IfNoneMatch' }
/** For every requester: only the names in `Host` and `Origin` are looked at. */
const OPEN = failuresOf([400, 403, 408, 415, 431, 500, 501])
const NOBODY: readonly JsonObject[] = [{}]

interface ServerParts {
  readonly metrics: boolean
  readonly mcp: boolean
  /** Whether the requester is the local owner, who alone sees figures of all. */
  readonly owner: boolean
}

function serverPaths({ metrics, mcp, owner }: ServerParts): readonly DescribedPath[] {
  return [...PROBES, ...CATALOG, ...(metrics && owner ? [METRICS] : []), ...(mcp ? MCP : []), ...PAGES]
}

/** `of` adds to, and overrides, what is the same everywhere. */
function get(path: string, operationId: string, summary: string, description: string, of: JsonObject): DescribedPath {
  return { path, method: 'get', item: { operationId, summary, description, tags: ['server'], ...of } }
}

function json(description: string, schema: JsonObject, headers: JsonObject = {}): JsonObject {
  return { description, headers, content: { 'application/json': { schema } } }
}

function object(properties: JsonObject): JsonObject {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false }
}

const READY = object({ ready: FLAG, failing: { enum: ['store', 'indexes', 'ending', null] } })

const PROBES: readonly DescribedPath[] = [
  get('/healthz', 'healthz', 'Say whether the process is alive', 'For whoever runs it; answers anybody.', {
    security: NOBODY,
    responses: { '200': json('It is', object({ ok: FLAG })), ...OPEN },
  }),
  get('/readyz', 'readyz', 'Say whether requests can be sent', 'For whoever runs it; answers anybody.', {
    security: NOBODY,
    responses: {
      '200': json('Store and indexes answer', READY),
      ...OPEN,
      '503': json('`failing` says what does not', READY),
    },
  }),
  get('/v1/node', 'node', 'Read the name of this node', 'What signed requests to it name as their audience.', {
    security: NOBODY,
    responses: { '200': json('Its DID', object({ did: TEXT })), ...OPEN },
  }),
]

const OPERATION_SCHEMA = { $ref: '#/components/schemas/OperationDescription' }

const CATALOG: readonly DescribedPath[] = [
  get('/v1/ops', 'operations', 'List the operations', 'Those that the requester may call, with their JSON Schemas.', {
    parameters: [VIEWER, IF_NONE_MATCH],
    responses: {
      '200': json('The operations', object({ operations: { type: 'array', items: OPERATION_SCHEMA } }), ETAG),
      ...NOT_MODIFIED,
      ...failuresOf(ALWAYS),
    },
  }),
  get(
    '/v1/ops/{name}',
    'operation',
    'Read what one operation takes and answers',
    'To call it, POST its input to the same address.',
    {
      parameters: [{ name: 'name', in: 'path', required: true, schema: TEXT }, VIEWER, IF_NONE_MATCH],
      responses: {
        '200': json('The operation', OPERATION_SCHEMA, ETAG),
        ...NOT_MODIFIED,
        ...failuresOf([...ALWAYS, 404]),
      },
    },
  ),
  get(
    '/openapi.json',
    'openapi',
    'Read this document',
    'Answers anybody: it holds nothing of the store. Operations of the local owner stand in it for the local owner alone.',
    {
      security: [{}, { token: [] }, { signature: [] }],
      parameters: [VIEWER, IF_NONE_MATCH],
      responses: {
        '200': json('OpenAPI 3.1', { type: 'object' }, ETAG),
        ...NOT_MODIFIED,
        ...failuresOf(ALWAYS),
      },
    },
  ),
]

const METRICS: DescribedPath = get(
  '/metrics',
  'metrics',
  'Read figures of process and store',
  'In the Prometheus text format. Only for the local owner.',
  {
    parameters: [VIEWER],
    responses: {
      '200': { description: 'The figures', content: { 'text/plain': { schema: TEXT } } },
      ...failuresOf(ALWAYS),
    },
  },
)

const CHOICE = [
  { name: 'lens', in: 'query', description: 'Offer the tools of this lens; may occur several times', schema: TEXT },
  { name: 'tools', in: 'query', description: 'Offer these tools, with commas between', schema: TEXT },
  { name: 'detail', in: 'query', description: 'concise: answers are where a call does not say', schema: TEXT },
]

/** What its messages are is for MCP to say. */
const MCP: readonly DescribedPath[] = [
  {
    path: '/mcp',
    method: 'post',
    item: {
      operationId: 'mcp',
      summary: 'Send a message of the Model Context Protocol',
      description: 'Streamable HTTP, without sessions.',
      tags: ['server'],
      parameters: [VIEWER, ...CHOICE],
      requestBody: { required: true, content: { 'application/json': { schema: { type: ['object', 'array'] } } } },
      responses: {
        '200': {
          description: 'A JSON-RPC response, or a stream that ends with it',
          content: {
            'application/json': { schema: { type: ['object', 'array'] } },
            'text/event-stream': { schema: TEXT },
          },
        },
        '202': { description: 'A notification was taken' },
        default: {
          description: 'A JSON-RPC error, or a failure as everywhere',
          content: { 'application/json': { schema: { type: 'object' } } },
        },
      },
    },
  },
]

const PAGES: readonly DescribedPath[] = [
  get('/', 'explorer', 'Open the explorer', 'A page for people. It holds nothing of the store.', page('The page')),
  get(
    '/docs',
    'docs',
    'Open this document as a page',
    'To be read and tried. It holds nothing of the store.',
    page('The page'),
  ),
]

function page(description: string): JsonObject {
  return {
    security: NOBODY,
    parameters: [IF_NONE_MATCH],
    responses: {
      '200': { description, headers: ETAG, content: { 'text/html': { schema: TEXT } } },
      ...NOT_MODIFIED,
      ...OPEN,
      '503': { description: 'It is not built', content: { 'text/plain': { schema: TEXT } } },
    },
  }
}

interface DocumentOptions extends ServerParts {
  readonly version: string
  /** Readable routes, of the lenses that are open. */
  readonly routes: readonly Route[]
  /** The lens of each operation that is not the engine's own. */
  readonly lenses: ReadonlyMap<string, string>
}

const ENGINE = 'engine'

const TAGS: Readonly<Record<string, string>> = {
  [ENGINE]: 'Questions over everything, and the entries that answer them',
  chroma: 'Knowledge in colour space, where its hashtags pull it',
  collections: 'Items and their analyses, with a day filter, as Markdown',
  context: 'A code base as concepts, links and lines',
  beliefs: 'Statements of many agents, ranked by trust',
  c64: 'A lens that knows a domain',
  server: 'The server itself',
}

const DESCRIPTION = `Every operation is called by \`POST /v1/ops/<name>\`; the main ones have readable paths as well, which answer the same.

- **The requester** is identified by a token or a signature. On its own machine a server without tokens answers the local owner without either; where there are tokens, a token can stand for the owner. The owner may look at things as somebody else with \`${VIEWER_HEADER}\`.
- **Answers** show what the requester may see. What exists and may not be seen is \`not_found\`, like what does not exist.
- **Failures** have one shape: \`{"error": {"code", "message", "details"}}\`. Programs decide by \`code\`.
- **Reads** bear an \`ETag\`; with \`If-None-Match\` an answer that has not changed is 304.
- **Streams** come where \`Accept\` is \`text/event-stream\` or \`application/x-ndjson\`, for operations that have them.
- Query strings: lists as several fields of one name, objects as JSON. Bodies are JSON in UTF-8, whatever \`Content-Type\` says.`

/** `catalog`: what the requester may call. */
function openApiDocument(catalog: Catalog, options: DocumentOptions): JsonObject {
  const { version, routes, lenses } = options
  const components = new Components()
  const describing: Describing = { components, lensOf: name => lenses.get(name) ?? ENGINE }
  const failures = Object.entries(FAILURE_SCHEMAS)
  for (const [name, schema] of [...failures, ['OperationDescription', OPERATION] as const]) components.set(name, schema)
  const described = [
    ...routes.filter(route => isThere(route, catalog)).map(route => readablePath(route, catalog, describing)),
    ...[...catalog.values()].map(operation => namedPath(operation, describing)),
    ...serverPaths(options),
  ]
  const used = new Set([ENGINE, ...lenses.values(), 'server'])
  return {
    openapi: '3.1.0',
    info: {
      title: 'Querent',
      version,
      description: DESCRIPTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    security: [{}, { token: [] }, { signature: [] }],
    tags: [...used].map(name => ({ name, description: TAGS[name] ?? `The lens ${name}` })),
    paths: pathsOf(described),
    components: {
      schemas: components.toJSON(),
      responses: { ...failureResponses(), NotModified: { description: 'What the client has is what there is' } },
      parameters: PARAMETERS,
      headers: HEADERS,
      securitySchemes: SECURITY,
    },
  }
}

function isThere({ operation }: Route, catalog: Catalog): boolean {
  return catalog.has(operation === contextCall.name ? 'context.query' : operation)
}

function pathsOf(described: readonly DescribedPath[]): JsonObject {
  const paths: Record<string, JsonObject> = {}
  for (const { path, method, item } of described) paths[path] = { ...paths[path], [method]: item }
  return paths
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
    input: { type: 'object', description: 'JSON Schema of what it takes' },
    output: { type: 'object', description: 'JSON Schema of what it answers' },
  },
  required: ['name', 'summary', 'effect', 'streams', 'input', 'output'],
  additionalProperties: false,
}

function header(name: string, description: string, schema: JsonObject = { type: 'string' }): JsonObject {
  return { name, in: 'header', description, schema }
}

const PARAMETERS: JsonObject = {
  Viewer: header(VIEWER_HEADER, 'Ask as this viewer. Only for the local owner.', {
    type: 'string',
    minLength: 1,
    maxLength: 200,
  }),
  RequestId: header('x-request-id', 'A name for this request in logs. Default: a fresh one.', {
    type: 'string',
    pattern: '^[\\w.:=-]{1,128}$',
  }),
  IfNoneMatch: header('if-none-match', 'The `ETag` of the answer that the client has.'),
  LastEventId: header('last-event-id', 'Go on with a stream after the event of this id.'),
}

const HEADERS: JsonObject = {
  ETag: { description: 'Changes with what is answered', schema: { type: 'string' } },
  RequestId: { description: 'The name of the request in logs', schema: { type: 'string' } },
  RetryAfter: { description: 'Seconds to wait', schema: { type: 'string', pattern: '^\\d+$' } },
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

// `GET /openapi.json`. It answers also those who have not said who they are: it tells of operations, nothing of a store, and
// programs and the page want it before they have a token. What only the local owner may call is in it for that one alone.

interface OpenApiOptions {
  readonly authenticator: Authenticator
  readonly metrics: boolean
  readonly mcp: boolean
}

export function serveOpenApi(
  app: App,
  engine: Pick<Engine, 'lensOperations'>,
  catalog: Catalog,
  options: OpenApiOptions,
): void {
  const made = new Map<boolean, string>()
  const documentFor = (owner: boolean): string => {
    const document = made.get(owner) ?? JSON.stringify(describedTo(owner, engine, catalog, options))
    made.set(owner, document)
    return document
  }
  app.get('/openapi.json', async c => {
    const document = documentFor(await isAskedByOwner(c, options.authenticator))
    return conditional(c, c.body(document, 200, { 'content-type': 'application/json' }))
  })
}

function describedTo(
  owner: boolean,
  engine: Pick<Engine, 'lensOperations'>,
  catalog: Catalog,
  { metrics, mcp }: OpenApiOptions,
): object {
  const lenses = new Map(engine.lensOperations.map(({ lens, operation }) => [operation.name, lens]))
  return openApiDocument(new Map([...catalog].filter(([, { effect }]) => owner || effect.ownerOnly !== true)), {
    version: VERSION,
    routes: [...ROUTES, CALL_ROUTE],
    lenses: lenses.has('context.query') ? lenses.set(CALL_ROUTE.operation, 'context') : lenses,
    metrics,
    mcp,
    owner,
  })
}

/** Nobody is not the owner; a token that is none is refused as everywhere. */
async function isAskedByOwner(c: RequestContext, authenticator: Authenticator): Promise<boolean> {
  try {
    return isOwner((await requesterOf(c, authenticator)).viewer)
  } catch (thrown) {
    const isUnsaid = c.req.header('authorization') === undefined
    if (isUnsaid && thrown instanceof QuerentError && thrown.code === 'unauthenticated') return false
    throw thrown
  }
}
