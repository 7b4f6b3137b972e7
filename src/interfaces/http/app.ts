/**
 * Assembles the HTTP interface: first the checks that every request passes through, then the routes. The viewer is decided by the bearer
 * token or signature, never by anything in a body. This module names no operation.
 */
import { Hono, type MiddlewareHandler } from 'hono'
import { compress } from 'hono/compress'
import { cors } from 'hono/cors'
import { isRecord } from '../../base/record.ts'
import type { Engine } from '../../engine/engine.ts'
import { invalidArgument, QuerentError } from '../../model/errors.ts'
import { isOwner, type Viewer } from '../../model/viewer.ts'
import { type Catalog, describeOperation, type EngineOperation, findOperation } from '../../ops/catalog.ts'
import { answer, bodyInput, logBug } from './answer.ts'
import { type Authenticator, requesterOf, VIEWER_HEADER } from './auth.ts'
import { MAX_BODY_BYTES, wholeRequest } from './body.ts'
import { type App, type AppContext, type Env, noting, type RequestObserver, viewerOf } from './env.ts'
import { failureResponse } from './failure.ts'
import { serveDocsPage, serveExplorer } from './files.ts'
import { checkHead, type Names } from './guard.ts'
import type { Metrics } from './metrics.ts'
import { conditional, methodsAt, mountOpenRoutes, mountRoutes, strangerView } from './mount.ts'
import { serveOpenApi } from './openapi.ts'
import type { After } from './stream.ts'

// Compresses answers for clients that accept it. For other clients the compression middleware is bypassed, because it would copy every
// response to set a header, and a copy is sent as a stream.

const PACKED = /gzip|deflate|\*/i
const VARY = 'vary'

export function compressed(): MiddlewareHandler<Env> {
  const packing = compress()
  return async (c, next) => {
    if (PACKED.test(c.req.header('accept-encoding') ?? '')) return packing(c, next)
    await next()
    const varied = c.res.headers.get(VARY)
    // The response must name `Accept-Encoding` in the header `Vary`, so that a cache gives neither the compressed nor the uncompressed
    // answer to the wrong client.
    if (varied === null) c.res.headers.set(VARY, 'Accept-Encoding')
    else if (!/\*|accept-encoding/i.test(varied)) c.res.headers.set(VARY, `${varied}, Accept-Encoding`)
  }
}

// Routes for operators: `/healthz` says whether the process is alive, `/readyz` whether it should receive requests.

/** Id that is looked up to see whether the store can be read; it does not matter whether an entry with this id exists. */
const ANY_ID = 'readyz'

/** Adds the routes `/healthz` and `/readyz`. They need no authentication, because they reveal nothing about the store's contents. */
function mountProbes(app: App, engine: Engine, ending: AbortSignal): void {
  app.get('/healthz', c => c.json({ ok: true }))
  let areIndexesLoaded = false
  app.get('/readyz', async c => {
    const failing = ending.aborted ? 'ending' : await storeOrIndexes()
    return c.json({ ready: failing === null, failing }, failing === null ? 200 : 503)
  })

  async function storeOrIndexes(): Promise<'store' | 'indexes' | null> {
    if (!(await isStoreRead(engine))) return 'store'
    // Reading the engine's status loads all indexes and counts entries, which is slow. Loaded indexes stay loaded, so the status is read
    // only until this succeeds once.
    areIndexesLoaded ||= await engine.status().then(
      () => true,
      () => false,
    )
    return areIndexesLoaded ? null : 'indexes'
  }
}

async function isStoreRead(engine: Engine): Promise<boolean> {
  try {
    await engine.get({ id: ANY_ID })
    return true
  } catch (thrown) {
    return thrown instanceof QuerentError && thrown.kind === 'not_found'
  }
}

/** Function that answers requests to `/mcp`. `remote`: whether the requester is subject to limits. */
export type McpHandler = (request: Request, viewer: Viewer, remote: boolean) => Promise<Response>

interface AppOptions {
  readonly authenticator: Authenticator
  readonly names: Names
  /** Answers requests to `/mcp`; absent: the MCP interface is not served. */
  readonly mcp?: McpHandler | undefined
  /** Creates a new request id, used if the client did not choose one. */
  readonly requestId: () => string
  /** Called with a report of each internal error, which only the operator sees. */
  readonly log: (text: string) => void
  /** Signal that is aborted when the server shuts down. */
  readonly ending: AbortSignal
  /** Function that starts a timer, used by streams. Default: the machine's timers. */
  readonly after?: After | undefined
  /** Time limit in milliseconds of an answer that is not streamed; absent: no limit. */
  readonly timeoutMs?: number | undefined
  /** Maximum size of a request body in bytes. Default: 4 MiB. */
  readonly maxBodyBytes?: number | undefined
  /** Observers of requests, such as the request log and the metrics; called for every request. */
  readonly observers?: readonly RequestObserver[] | undefined
  /** Number of days for which the request log may keep the texts of belief queries; absent: the log contains no such texts. */
  readonly queryDays?: number | undefined
  /** Metrics that the route `/metrics` shows; absent: there is no such route. */
  readonly metrics?: Metrics | undefined
}

/** Request ids that a client may choose: only characters that are safe in a log line, at most 128 of them. */
const REQUEST_ID = /^[\w.:=-]{1,128}$/
const ALLOWED_HEADERS = ['authorization', 'content-type', 'if-none-match', 'last-event-id', 'traceparent']

export function makeApp(engine: Engine, catalog: Catalog, options: AppOptions): App {
  const app: App = new Hono<Env>()
  const { log, ending, names, after = afterMs, timeoutMs = null, maxBodyBytes = MAX_BODY_BYTES } = options
  const appContext: AppContext = { engine, catalog, ending, after, timeoutMs, maxBodyBytes, log }
  app.onError((error, c) => {
    logBug(c, error)
    return failureResponse(error, c.get('viewer') ?? null)
  })
  app.notFound(c => {
    const methods = methodsAt(catalog, c.req.path)
    if (methods.length === 0) {
      return failureResponse(
        new QuerentError('not_found', 'there is no such route; /openapi.json lists them', {}),
        null,
      )
    }
    const response = failureResponse(invalidArgument('method', c.req.method, methods.join(' or ')), null)
    response.headers.set('allow', methods.join(', '))
    return response
  })

  app.use(async (c, next) => {
    const given = c.req.header('x-request-id') ?? ''
    c.set('app', appContext)
    c.set('requestId', REQUEST_ID.test(given) ? given : options.requestId())
    await next()
    // Headers are set after the handlers have run, because a failure creates a new response, which needs these headers too. They are set on
    // the response itself, since setting them through the context would copy the response.
    const { headers } = c.res
    headers.set('x-request-id', c.get('requestId'))
    if (!headers.has('cache-control')) headers.set('cache-control', 'no-store')
    headers.set('x-content-type-options', 'nosniff')
  })
  app.use(noting(options.observers ?? [], options.queryDays))
  app.use((c, next) => {
    checkHead(c.req.raw, names)
    return next()
  })
  if (names.origins.length > 0) app.use(corsFor(names.origins))
  app.use(compressed())
  mountProbes(app, engine, ending)
  app.get('/v1/node', c => c.json({ did: engine.signedRequests.did() }))
  mountOpenRoutes(app, catalog)
  // The pages are added before authentication, because they contain nothing from the store.
  serveExplorer(app)
  serveDocsPage(app)
  const { authenticator, metrics, mcp } = options
  serveOpenApi(app, engine, catalog, { metrics: metrics !== undefined, mcp: mcp !== undefined })
  app.use(async (c, next) => {
    const requester = await requesterOf(c, authenticator).catch(thrown => Promise.reject(strangerView(c, thrown)))
    c.set('viewer', requester.viewer)
    c.set('remote', requester.remote)
    await next()
  })

  if (metrics !== undefined) mountMetrics(app, metrics)
  app.get('/v1/ops', c => {
    return conditional(c, c.json({ operations: visible(catalog, viewerOf(c)).map(describeOperation) }))
  })
  app.get('/v1/ops/:name', c => {
    return conditional(c, c.json(describeOperation(findOperation(catalog, c.req.param('name')))))
  })
  app.post('/v1/ops/:name', async c => {
    const operation = findOperation(catalog, c.req.param('name'))
    const input = await bodyInput(c, operation)
    return answer(c, operation, isRecord(input) ? { ...operation.preset, ...input } : (input ?? operation.preset))
  })
  mountRoutes(app, catalog)
  if (mcp !== undefined) {
    app.all('/mcp', async c => mcp(await wholeRequest(c.req.raw, maxBodyBytes), viewerOf(c), c.get('remote') === true))
  }
  return app
}

function mountMetrics(app: App, metrics: Metrics): void {
  app.get('/metrics', async c => {
    if (!isOwner(viewerOf(c))) throw new QuerentError('denied', 'metrics are for the local owner only', {})
    return c.body(await metrics.text(), 200, { 'content-type': metrics.contentType })
  })
}

function corsFor(origins: readonly string[]): ReturnType<typeof cors> {
  return cors({
    origin: [...origins],
    allowMethods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    allowHeaders: [...ALLOWED_HEADERS, VIEWER_HEADER, 'x-request-id'],
    exposeHeaders: ['etag', 'retry-after', 'x-request-id'],
    maxAge: 600,
  })
}

/**
 * Operations that the viewer may call; the others are not shown, because a viewer who may not export, for example, need not read how to.
 */
function visible(catalog: Catalog, viewer: Viewer): readonly EngineOperation[] {
  return [...catalog.values()].filter(({ effect }) => effect.ownerOnly !== true || isOwner(viewer))
}

function afterMs(ms: number, then: () => void): () => void {
  const timer = setTimeout(then, ms)
  return () => clearTimeout(timer)
}
