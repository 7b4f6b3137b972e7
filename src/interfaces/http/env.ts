/** Types of the values that each HTTP request carries through the app, and the recording of completed requests. */
import type { Context, Hono, MiddlewareHandler } from 'hono'
import { matchedRoutes } from 'hono/route'
import { isRecord } from '../../base/record.ts'
import type { Engine } from '../../engine/engine.ts'
import { toIso } from '../../model/instant.ts'
import { asQuerentError } from '../../model/reported-error.ts'
import type { HttpRequestLine } from '../../model/request-log.ts'
import type { Viewer } from '../../model/viewer.ts'
import type { Catalog } from '../../ops/catalog.ts'
import type { After } from './stream.ts'

/** Values that are the same for all requests of one server. */
export interface AppContext {
  readonly engine: Engine
  readonly catalog: Catalog
  /** Signal that is aborted when the server shuts down. */
  readonly ending: AbortSignal
  /** Time limit in milliseconds of an answer that is not streamed; null: no limit. */
  readonly timeoutMs: number | null
  /** Maximum size of a request body in bytes; an operation may have a smaller limit of its own. */
  readonly maxBodyBytes: number
  /** Function that starts a timer, used by streams. */
  readonly after: After
  /** Called with a report of each internal error, which only the operator sees. */
  readonly log: (text: string) => void
}

/** What is noted about a request while it is answered, for the log and the metrics. */
export interface Notes {
  operation: string | null
  /** Input of the operation, not checked; null: no input was read. */
  input: unknown
  results: number | null
  /**
   * For a streamed answer, a promise that resolves when the last piece was sent: with null, or with the error code if the stream ended
   * early. null: the answer is not streamed.
   */
  stream: Promise<string | null> | null
}

/**
 * Types of the values in Hono's request context. `viewer`: absent until the request is authenticated. `remote`: whether the requester is
 * subject to limits; absent means no. `incoming`, `outgoing`: Node's request and response, if there is a socket.
 */
export type Env = {
  Variables: { app: AppContext; requestId: string; notes: Notes; viewer?: Viewer; remote?: boolean }
  Bindings: {
    incoming?: { httpVersion: string; socket: { remoteAddress?: string } }
    outgoing?: { destroy(): void }
  }
}
export type App = Hono<Env>
export type RequestContext = Context<Env>

/** The viewer of an authenticated request. Throws if the request has not been authenticated, which would be a bug. */
export function viewerOf(c: RequestContext): Viewer {
  const viewer = c.get('viewer')
  if (viewer === undefined) throw new Error('invariant broken: a request without a viewer')
  return viewer
}

/** Node's request and response objects; undefined if the app is called without a server, as in tests. */
export function serverOf(c: RequestContext): RequestContext['env'] | undefined {
  return c.env as RequestContext['env'] | undefined
}

// Records each completed request for the log and the metrics.

export interface RequestObserver {
  began(): void
  /** Called for a streamed answer when the head of the response was sent and the pieces follow. */
  streams(): void
  ended(line: HttpRequestLine): void
}

const TRACEPARENT = /^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/

/**
 * Middleware that reports each request to the observers. `queryDays`: number of days for which the log may keep the texts of belief
 * queries; absent: log lines contain no such texts.
 */
export function noting(observers: readonly RequestObserver[], queryDays?: number): MiddlewareHandler<Env> {
  return async (c, next) => {
    const started = performance.now()
    const notes: Notes = { operation: null, input: null, results: null, stream: null }
    c.set('notes', notes)
    for (const observer of observers) observer.began()
    await next()
    const line = { ...lineOf(c, notes), ...queryIn(notes.input, queryDays) }
    const report = (code: string | null): void => {
      const at = { at: toIso(Date.now()), duration_ms: Math.round((performance.now() - started) * 1000) / 1000 }
      for (const observer of observers) observer.ended({ ...at, ...line, code })
    }
    if (notes.stream === null) return report(codeOf(c))
    for (const observer of observers) observer.streams()
    void notes.stream.then(report)
  }
}

/**
 * The text of a belief query and the time until which it may be kept, for a log line; nothing if the operator does not want query texts in
 * the log (`days` undefined).
 */
function queryIn(input: unknown, days: number | undefined): Pick<HttpRequestLine, 'query' | 'keep_until'> {
  if (days === undefined || !isRecord(input)) return {}
  const { semantic } = isRecord(input['query']) ? input['query'] : input
  if (typeof semantic !== 'string') return {}
  return { query: semantic, keep_until: toIso(Date.now() + days * DAY_MS) }
}

const DAY_MS = 24 * 60 * 60 * 1000

/** Number of results in an answer: the length of its first list; null if it has no list. */
export function resultsIn(answer: unknown): number | null {
  if (!isRecord(answer)) return null
  const list = Object.values(answer).find(value => Array.isArray(value))
  return list === undefined ? null : (list as readonly unknown[]).length
}

function lineOf(c: RequestContext, notes: Notes): Omit<HttpRequestLine, 'at' | 'duration_ms' | 'code'> {
  const traceparent = c.req.header('traceparent') ?? ''
  return {
    request_id: c.get('requestId'),
    requester: c.get('viewer')?.id ?? '',
    method: c.req.method,
    route: routeOf(c),
    operation: notes.operation,
    status: c.res.status,
    streamed: notes.stream !== null,
    results: notes.results,
    ...(TRACEPARENT.test(traceparent) && { traceparent }),
  }
}

/**
 * Path pattern of the route that answered a request, for log and metrics. Patterns that match every request count only if no other one
 * matched.
 */
function routeOf(c: RequestContext): string {
  return matchedRoutes(c).find(({ path }) => !path.endsWith('*'))?.path ?? '/*'
}

function codeOf(c: RequestContext): string | null {
  if (c.error !== undefined) return asQuerentError(c.error).code
  return c.res.status === 404 ? 'not_found' : null
}
