/** Paths that stand for no operation, in the document: whether the server is well, what there is, MCP, and the pages. */
import type { JsonObject } from '../../../base/canonical.ts'
import { ALWAYS, failuresOf } from './failures.ts'
import type { DescribedPath } from './operation-paths.ts'

const TEXT = { type: 'string' }
const FLAG = { type: 'boolean' }
const ETAG = { etag: { $ref: '#/components/headers/ETag' } }
const NOT_MODIFIED = { '304': { $ref: '#/components/responses/NotModified' } }
const VIEWER = { $ref: '#/components/parameters/Viewer' }
const IF_NONE_MATCH = { $ref: '#/components/parameters/IfNoneMatch' }
/** Whoever asks: only the names in `Host` and `Origin` are looked at. */
const OPEN = failuresOf([400, 403, 408, 415, 431, 500, 501])
const NOBODY: readonly JsonObject[] = [{}]

export interface ServerParts {
  readonly metrics: boolean
  readonly mcp: boolean
  /** Whether the asker is the local owner, who alone sees figures of all. */
  readonly owner: boolean
}

export function serverPaths({ metrics, mcp, owner }: ServerParts): readonly DescribedPath[] {
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

const DESCRIPTION = { $ref: '#/components/schemas/OperationDescription' }

const CATALOG: readonly DescribedPath[] = [
  get('/v1/ops', 'operations', 'List the operations', 'Those that who asks may call, with their JSON Schemas.', {
    parameters: [VIEWER, IF_NONE_MATCH],
    responses: {
      '200': json('The operations', object({ operations: { type: 'array', items: DESCRIPTION } }), ETAG),
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
      responses: { '200': json('The operation', DESCRIPTION, ETAG), ...NOT_MODIFIED, ...failuresOf([...ALWAYS, 404]) },
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
