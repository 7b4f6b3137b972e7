/**
 * The HTTP interface, put together: what every request passes through, then the routes. The viewer is whoever the token says;
 * nothing in a body changes it. Knows no operation by name.
 */
import { Hono } from 'hono'
import { cors } from 'hono/cors'
import { isRecord } from '../../base/record.ts'
import type { Engine } from '../../engine/engine.ts'
import { QuerentError } from '../../model/errors.ts'
import { isOwner, type Viewer } from '../../model/viewer.ts'
import { type Catalog, type EngineOperation, findOperation } from '../../ops/catalog.ts'
import { describeOperation } from '../../ops/schemas.ts'
import { answer, bodyInput, logBug } from './answer.ts'
import { MAX_BODY_BYTES, wholeRequest } from './body.ts'
import { compressed } from './compressed.ts'
import { conditional } from './conditional.ts'
import { serveDocsPage } from './docs-page.ts'
import { type App, type AppContext, type Env, viewerOf } from './env.ts'
import { serveExplorer } from './explorer.ts'
import { failureResponse } from './failure.ts'
import { checkHead, type Names } from './guard.ts'
import type { Metrics } from './metrics.ts'
import { noting, type RequestObserver } from './noted.ts'
import { serveOpenApi } from './openapi/serve-openapi.ts'
import { mountProbes } from './probes.ts'
import { requesterOf, VIEWER_HEADER } from './requester.ts'
import { mountOpenRoutes, mountRoutes } from './routes/mount.ts'
import { strangerView } from './stranger.ts'
import type { After } from './stream.ts'
import type { Authenticator } from './tokens.ts'

/** `remote`: whether the limits of requesters apply. */
export type McpHandler = (request: Request, viewer: Viewer, remote: boolean) => Promise<Response>

export interface AppOptions {
  readonly authenticator: Authenticator
  readonly names: Names
  /** Handles `/mcp`, when that interface is there too. */
  readonly mcp?: McpHandler | undefined
  /** A fresh id for each request. */
  readonly requestId: () => string
  /** Gets what is to be repaired here and told to nobody else. */
  readonly log: (text: string) => void
  /** Aborted when the server is to end. */
  readonly ending: AbortSignal
  /** Timers of streams; default: the machine's. */
  readonly after?: After | undefined
  /** Milliseconds that a whole answer may take; absent: as long as it takes. */
  readonly timeoutMs?: number | undefined
  /** The longest body that is read. Default 4 MiB. */
  readonly maxBodyBytes?: number | undefined
  /** Told of every request. */
  readonly observers?: readonly RequestObserver[] | undefined
  /** What `/metrics` shows; absent: there is none. */
  readonly metrics?: Metrics | undefined
}

/** Ids that clients may give their requests: what fits in a line of any log. */
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
  app.notFound(() => failureResponse(new QuerentError('not_found', 'there is no such route', {}), null))

  app.use(async (c, next) => {
    const given = c.req.header('x-request-id') ?? ''
    c.set('app', appContext)
    c.set('requestId', REQUEST_ID.test(given) ? given : options.requestId())
    await next()
    // Only now: a failure makes a response of its own, which should have them too. Not by the context, which would copy it.
    const { headers } = c.res
    headers.set('x-request-id', c.get('requestId'))
    if (!headers.has('cache-control')) headers.set('cache-control', 'no-store')
    headers.set('x-content-type-options', 'nosniff')
  })
  app.use(noting(options.observers ?? []))
  app.use((c, next) => {
    checkHead(c.req.raw, names)
    return next()
  })
  if (names.origins.length > 0) app.use(corsFor(names.origins))
  app.use(compressed())
  mountProbes(app, engine, ending)
  app.get('/v1/node', c => c.json({ did: engine.signedRequests.did() }))
  mountOpenRoutes(app, catalog)
  // Before it is asked who that is: a page holds nothing of the store.
  serveExplorer(app)
  serveDocsPage(app)
  const { authenticator, metrics, mcp } = options
  serveOpenApi(app, engine, catalog, { authenticator, metrics: metrics !== undefined, mcp: mcp !== undefined })
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

/** What a viewer may call: one who cannot export need not read how. */
function visible(catalog: Catalog, viewer: Viewer): readonly EngineOperation[] {
  return [...catalog.values()].filter(({ effect }) => effect.ownerOnly !== true || isOwner(viewer))
}

function afterMs(ms: number, then: () => void): () => void {
  const timer = setTimeout(then, ms)
  return () => clearTimeout(timer)
}
