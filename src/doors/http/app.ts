/**
 * The HTTP door: every operation at `POST /v1/ops/<name>`, the catalog at `GET /v1/ops`. The viewer is whoever the token
 * says; nothing in a body changes it. Knows no operation by name. Those with a streamed form are streamed to clients that
 * ask for it.
 */
import { type Context, Hono } from 'hono'
import type { Engine } from '../../engine/engine.ts'
import { QuerentError } from '../../model/errors.ts'
import type { CallContext } from '../../model/operation.ts'
import { isOwner, type Viewer } from '../../model/viewer.ts'
import { unread } from '../../ops/admission.ts'
import { type Catalog, findOperation, runOperation, streamOperation } from '../../ops/catalog.ts'
import { describeOperation } from '../../ops/schemas.ts'
import { bugReport, toldError } from '../../ops/told-error.ts'
import { readBytes, readJson } from './body.ts'
import { failureResponse } from './failure.ts'
import { checkNames } from './guard.ts'
import { withValueAt } from './input-path.ts'
import { type After, streamResponse } from './stream.ts'
import { streamForm } from './stream-form.ts'
import type { Authenticator } from './tokens.ts'

export interface AppOptions {
  readonly authenticator: Authenticator
  /** Whether only this machine can connect. */
  readonly loopback: boolean
  /** Handles `/mcp`, when that door is there too. */
  readonly mcp?: ((request: Request, viewer: Viewer) => Promise<Response>) | undefined
  /** A fresh id for each request. */
  readonly requestId: () => string
  /** Gets what is to be mended here and told to nobody else. */
  readonly log: (text: string) => void
  /** Aborted when the server is to end. */
  readonly ending: AbortSignal
  /** Timers of streams; default: the machine's. */
  readonly after?: After | undefined
}

/** `outgoing`: Node's response, where there is a socket. */
type Env = {
  Variables: { viewer?: Viewer; requestId: string }
  Bindings: { outgoing?: { destroy(): void } }
}
type App = Hono<Env>
type OperationContext = Context<Env, '/v1/ops/:name'>

export function makeApp(engine: Engine, catalog: Catalog, options: AppOptions): App {
  const app: App = new Hono()
  app.onError((error, c) => {
    logBug(error, c.get('requestId'), options)
    return failureResponse(error, c.get('viewer') ?? null)
  })
  app.notFound(() => failureResponse(new QuerentError('not_found', 'there is no such route', {}), null))

  app.use(async (c, next) => {
    c.set('requestId', options.requestId())
    await next()
    // Only now: a failure makes a response of its own, which should have them too.
    c.header('x-request-id', c.get('requestId'))
    c.header('cache-control', 'no-store')
    c.header('x-content-type-options', 'nosniff')
  })
  app.use((c, next) => {
    checkNames(c.req.raw.headers, options.loopback)
    return next()
  })
  app.get('/healthz', c => c.json({ ok: true }))
  app.get('/v1/node', c => c.json({ did: engine.signedRequests.did() }))
  app.use(async (c, next) => {
    c.set(
      'viewer',
      (await signedViewer(engine, c)) ?? options.authenticator.viewerOf(c.req.header('authorization') ?? null),
    )
    await next()
  })

  app.get('/v1/ops', c => c.json({ operations: visible(catalog, viewerOf(c)).map(describeOperation) }))
  app.get('/v1/ops/:name', c => c.json(describeOperation(findOperation(catalog, c.req.param('name')))))
  app.post('/v1/ops/:name', c => answer(c, engine, catalog, options))
  const { mcp } = options
  if (mcp !== undefined) app.all('/mcp', c => mcp(c.req.raw, viewerOf(c)))
  return app
}

/** Runs the operation that the path names; as a stream, where it has that form and the client asks for it. */
async function answer(c: OperationContext, engine: Engine, catalog: Catalog, options: AppOptions): Promise<Response> {
  const context = contextOf(engine, c.req.raw, viewerOf(c))
  const operation = findOperation(catalog, c.req.param('name'))
  const input = await readJson(c.req.raw, operation.bodyLimit).catch((thrown: unknown) => {
    throw unread(operation, engine, thrown, context)
  })
  const form = streamForm(operation, c.req.header('accept'), input)
  if (form === null) return c.json((await runOperation(operation, engine, input, context)) as object)
  const { resumeAt } = operation
  const last = c.req.header('last-event-id')
  const given = last && resumeAt !== undefined ? withValueAt(input, resumeAt, last) : input
  return streamResponse(signal => streamOperation(operation, engine, given, { ...context, signal }), {
    form,
    resumable: resumeAt !== undefined,
    gone: context.signal,
    ending: options.ending,
    after: options.after ?? afterMs,
    drop: () => (c.env as Env['Bindings'] | undefined)?.outgoing?.destroy(),
    told: thrown => {
      logBug(thrown, c.get('requestId'), options)
      return toldError(thrown, context.viewer)
    },
  })
}

const SIGNED = /^querent-signature /i

/** Null: the request bears no signature. Its body, which the signature is over, can be read again. */
async function signedViewer(engine: Engine, c: Context<Env>): Promise<Viewer | null> {
  const { raw } = c.req
  if (!SIGNED.test(raw.headers.get('authorization') ?? '')) return null
  const body = await readBytes(raw)
  const { pathname, search } = new URL(raw.url)
  const facts = { method: raw.method, path: pathname + search, body }
  const viewer = engine.signedRequests.viewerOf(facts, name => raw.headers.get(name))
  const hasBody = raw.method !== 'GET' && raw.method !== 'HEAD'
  c.req.raw = new Request(raw.url, {
    method: raw.method,
    headers: raw.headers,
    signal: raw.signal,
    ...(hasBody ? { body } : {}),
  })
  return viewer
}

/** Set before any route that asks for it. */
function viewerOf(c: Context<Env>): Viewer {
  const viewer = c.get('viewer')
  if (viewer === undefined) throw new Error('invariant broken: a request without a viewer')
  return viewer
}

function logBug(thrown: unknown, requestId: string, { log }: AppOptions): void {
  const report = bugReport(thrown, requestId)
  if (report !== null) log(report)
}

/** What a viewer may call: one who cannot export need not read how. */
function visible(catalog: Catalog, viewer: Viewer): Parameters<typeof describeOperation>[0][] {
  return [...catalog.values()].filter(({ effect }) => effect.ownerOnly !== true || isOwner(viewer))
}

/** Ends with its connection: when the client gives up, or the server is made to end. Who shows a token or a signature is remote. */
function contextOf(engine: Engine, { headers, signal }: Request, viewer: Viewer): CallContext {
  const context = { viewer, signal, remote: headers.has('authorization') }
  if (!SIGNED.test(headers.get('authorization') ?? '')) return context
  return { ...context, isStillAllowed: engine.signedRequests.stillSpeaksFor(viewer, name => headers.get(name)) }
}

function afterMs(ms: number, then: () => void): () => void {
  const timer = setTimeout(then, ms)
  return () => clearTimeout(timer)
}
