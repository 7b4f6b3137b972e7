/** What the engine and the doors fail with, as one of the seven codes of the lens (BQ-183 to BQ-185). */
import { z } from 'zod'
import type { JsonObject } from '../../../base/canonical.ts'
import { ERROR_CODES, type ErrorCode, QuerentError } from '../../../model/errors.ts'
import { type BeliefsCode, BeliefsError, type Fault, faulty } from '../errors.ts'
import { faultsOf } from '../schema/faults.ts'

/** The cause stays with the error for the log of whoever runs the node; what is reported is fixed. `input`: of the request. */
export function asBeliefsError(thrown: unknown, input?: unknown): BeliefsError {
  if (thrown instanceof BeliefsError) return thrown
  if (thrown instanceof QuerentError && thrown.cause instanceof z.ZodError)
    return faulty(faultsOf(thrown.cause.issues, input ?? {}))
  if (!(thrown instanceof QuerentError && thrown.code in ERROR_CODES)) return fixed('INTERNAL_ERROR', thrown)
  const code = CODES[thrown.code as ErrorCode]
  const { message, details } = thrown
  switch (code) {
    case 'INVALID_QUERY':
      return invalid(thrown)
    // What there is too much of, and how long to wait, is the requester's own affair, and the only one that tells more.
    case 'RATE_LIMITED':
      return new BeliefsError(code, message, details, { cause: thrown })
    case 'TIMEOUT':
      return fixed(code, thrown, elapsed(details))
    case 'INTERNAL_ERROR':
      return fixed(code, thrown, thrown.code === 'store_corrupt' ? { reason: thrown.code } : {})
    default:
      return fixed(code, thrown)
  }
}

/** As what the lens finds wrong itself: where, what would be accepted, and why it is not. */
function invalid(error: QuerentError): BeliefsError {
  const { code, message, details } = error
  const { field, expected, value, ...rest } = details
  const path = typeof field === 'string' ? field : 'input'
  const constraint = typeof expected === 'string' ? expected : (CONSTRAINTS[code] ?? message.replace(`${path}: `, ''))
  const shown = typeof value === 'string' ? value : null
  const fault: Fault = { code: 'INVALID_QUERY', path, constraint, reason: code, value: shown }
  // What a door would not even read (BQ-191).
  if (code === 'too_large') return faulty([{ ...fault, reason: 'too_complex', value: null }])
  const told = { ...rest, path, constraint, reason: code, all: [{ ...fault }] }
  return new BeliefsError('INVALID_QUERY', message, told, { cause: error })
}

/** Of what ended because its time was over, all of that has gone. */
function elapsed({ timeout_ms: timeout }: JsonObject): JsonObject {
  return typeof timeout === 'number' ? { elapsed_ms: timeout, timeout_ms: timeout } : {}
}

function fixed(code: keyof typeof MESSAGES, cause: unknown, details: JsonObject = {}): BeliefsError {
  return new BeliefsError(code, MESSAGES[code], details, { cause })
}

/** Of errors that do not say it themselves. */
const CONSTRAINTS: Readonly<Partial<Record<string, string>>> = {
  invalid_json: 'a JSON document',
  resume_invalid: 'the resume token of an event of a subscription to this query',
}

const MESSAGES: Readonly<Record<Exclude<BeliefsCode, 'INVALID_QUERY' | 'RATE_LIMITED'>, string>> = {
  INVALID_FILTERS: 'the filters are not valid',
  UNAUTHORIZED: 'the request is not authorised for this identity',
  TIMEOUT: 'the request was ended before there was an answer',
  NODE_UNAVAILABLE: 'no source could answer; try again',
  INTERNAL_ERROR: 'something went wrong here; it was not the request',
}

/** What the engine's own errors are here. */
const CODES: Readonly<Record<ErrorCode, BeliefsCode>> = {
  invalid_argument: 'INVALID_QUERY',
  unknown_field: 'INVALID_QUERY',
  query_syntax: 'INVALID_QUERY',
  unknown_lens: 'INVALID_QUERY',
  unknown_operation: 'INVALID_QUERY',
  invalid_json: 'INVALID_QUERY',
  cursor_invalid: 'INVALID_QUERY',
  cursor_mismatch: 'INVALID_QUERY',
  cursor_expired: 'INVALID_QUERY',
  resume_invalid: 'INVALID_QUERY',
  not_found: 'INVALID_QUERY',
  too_large: 'INVALID_QUERY',
  conflict: 'INVALID_QUERY',
  denied: 'UNAUTHORIZED',
  unauthenticated: 'UNAUTHORIZED',
  deadline_exceeded: 'TIMEOUT',
  cancelled: 'TIMEOUT',
  rate_limited: 'RATE_LIMITED',
  quota_exceeded: 'RATE_LIMITED',
  store_locked: 'NODE_UNAVAILABLE',
  provider_failed: 'NODE_UNAVAILABLE',
  embedder_failed: 'NODE_UNAVAILABLE',
  store_missing: 'INTERNAL_ERROR',
  store_readonly: 'INTERNAL_ERROR',
  store_corrupt: 'INTERNAL_ERROR',
  store_newer: 'INTERNAL_ERROR',
  io_failed: 'INTERNAL_ERROR',
  model_invalid: 'INTERNAL_ERROR',
  internal: 'INTERNAL_ERROR',
}
