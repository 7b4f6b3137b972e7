/** The HTTP interface described in OpenAPI 3.1, made from the catalog and the route tables: there is no second list of either. */
import type { JsonObject } from '../../../base/canonical.ts'
import type { Catalog } from '../../../ops/catalog.ts'
import { VIEWER_HEADER } from '../requester.ts'
import { contextCall } from '../routes/context-call.ts'
import type { Route } from '../routes/route.ts'
import { Components } from './components.ts'
import { FAILURE_SCHEMAS, failureResponses } from './failures.ts'
import { type DescribedPath, type Describing, namedPath, readablePath } from './operation-paths.ts'
import { type ServerParts, serverPaths } from './server-paths.ts'

export interface DocumentOptions extends ServerParts {
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
export function openApiDocument(catalog: Catalog, options: DocumentOptions): JsonObject {
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
