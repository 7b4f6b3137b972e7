/**
 * Makes an HTTP response from a failure: one JSON form, a status by the kind of error, and no internal information (no stack, no cause, no
 * file path).
 */

import { type ErrorKind, QuerentError } from '../../model/errors.ts'
import { reportedError } from '../../model/reported-error.ts'
import type { Viewer } from '../../model/viewer.ts'
import { CHROMA_ROUTES } from './routes.ts'

const STATUS_BY_KIND: Readonly<Record<ErrorKind, number>> = {
  usage: 400,
  not_found: 404,
  conflict: 409,
  denied: 403,
  busy: 503,
  limit: 429,
  unavailable: 503,
  broken: 500,
}

/**
 * HTTP status of errors by their code, where it differs from the status for the error's kind. 499 is nginx's status for a client that
 * disconnected.
 */
const STATUS_BY_CODE: Readonly<Partial<Record<string, number>>> = {
  unauthenticated: 401,
  unknown_operation: 404,
  too_large: 413,
  quota_exceeded: 507,
  deadline_exceeded: 504,
  cancelled: 499,
  TIMEOUT: 504,
}

/** HTTP status of errors by the part of the request that is wrong, where it differs from the status for the error's kind. */
const STATUS_BY_FIELD: Readonly<Partial<Record<string, number>>> = {
  method: 405,
  'content-encoding': 415,
  'transfer-encoding': 501,
}

export function statusOf(error: QuerentError): number {
  const { field } = error.details
  if (error.code === 'invalid_argument' && typeof field === 'string' && field in STATUS_BY_FIELD) {
    return STATUS_BY_FIELD[field] as number
  }
  // A lens may report a failed authentication with an error code of its own (BQ-184); the original error is then its cause and decides the
  // status.
  const own = error.cause instanceof QuerentError && error.cause.code === 'unauthenticated' ? error.cause : error
  return STATUS_BY_CODE[own.code] ?? STATUS_BY_KIND[error.kind]
}

/** The HTTP response for a failure. `viewer`: null if the requester is not authenticated. */
export function failureResponse(thrown: unknown, viewer: Viewer | null): Response {
  const error = reportedError(thrown, viewer, operation => {
    const route = CHROMA_ROUTES.find(each => each.operation === operation)
    return route === undefined ? `POST /v1/ops/${operation}` : `${route.method} ${route.path}`
  })
  const status = statusOf(error)
  const headers = new Headers({ 'content-type': 'application/json' })
  if (status === 401) headers.set('www-authenticate', 'Bearer')
  const wait = error.details['retry_after_ms']
  if (status === 503 && error.retryable) headers.set('retry-after', '1')
  if (status === 429 && typeof wait === 'number') headers.set('retry-after', String(Math.ceil(wait / 1000)))
  return new Response(JSON.stringify({ error }), { status, headers })
}
