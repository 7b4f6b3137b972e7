/** What is noted of each request when it is over: for the log and for the metrics, which see the same and no more. */
import type { MiddlewareHandler } from 'hono'
import { matchedRoutes } from 'hono/route'
import { isRecord } from '../../base/record.ts'
import { toIso } from '../../model/instant.ts'
import { asQuerentError } from '../../model/reported-error.ts'
import type { HttpRequestLine } from '../../model/request-log.ts'
import type { Env, Notes, RequestContext } from './env.ts'

export interface RequestObserver {
  began(): void
  /** Of a stream: its head was sent, and now its pieces follow. */
  streams(): void
  ended(line: HttpRequestLine): void
}

const TRACEPARENT = /^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/

export function noting(observers: readonly RequestObserver[]): MiddlewareHandler<Env> {
  return async (c, next) => {
    const started = performance.now()
    const notes: Notes = { operation: null, results: null, stream: null }
    c.set('notes', notes)
    for (const observer of observers) observer.began()
    await next()
    const line = lineOf(c, notes)
    const report = (code: string | null): void => {
      const at = { at: toIso(Date.now()), duration_ms: Math.round((performance.now() - started) * 1000) / 1000 }
      for (const observer of observers) observer.ended({ ...at, ...line, code })
    }
    if (notes.stream === null) return report(codeOf(c))
    for (const observer of observers) observer.streams()
    void notes.stream.then(report)
  }
}

/** Length of the first list in an answer; null: it has none. */
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

/** The pattern of the route that answered. What all requests pass through is none, unless no other one matched. */
function routeOf(c: RequestContext): string {
  return matchedRoutes(c).find(({ path }) => !path.endsWith('*'))?.path ?? '/*'
}

function codeOf(c: RequestContext): string | null {
  if (c.error !== undefined) return asQuerentError(c.error).code
  return c.res.status === 404 ? 'not_found' : null
}
