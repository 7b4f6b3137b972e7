/** What every operation of the lens does around its own work: who asks, and one family of errors. */
import { ERROR_CODES, type ErrorCode, QuerentError } from '../../../model/errors.ts'
import type { CallContext } from '../../../model/operation.ts'
import { AGENTS } from '../../../store/core-tables.ts'
import type { LensHost } from '../../lens.ts'
import type { Asker } from '../check/checked.ts'
import { countersOf } from '../counters.ts'
import { type BeliefsCode, BeliefsError, faulty } from '../errors.ts'
import type { Call } from '../query/call.ts'
import { type BeliefsState, stateOf } from '../state.ts'

export interface BeliefsCall extends Call {
  readonly state: BeliefsState
  readonly host: LensHost
  readonly asker: Asker
  readonly context: CallContext
}

/** Runs the work; whatever it fails with leaves as one of the seven codes (BQ-183). */
export async function inCall<T>(
  host: LensHost,
  context: CallContext,
  work: (call: BeliefsCall) => Promise<T> | T,
): Promise<T> {
  try {
    const { viewer, signal } = context
    const asker = askerOf(host, viewer.id)
    return await work({ state: stateOf(host), host, asker, context, requester: viewer.id, signal })
  } catch (thrown) {
    throw failureIn(host, thrown)
  }
}

/** What was thrown as an error of the lens, with an id of its own. */
export function failureIn(host: LensHost, thrown: unknown): BeliefsError {
  const error = asBeliefsError(thrown)
  countersOf(host).countError(error.code)
  error.requestId = newRequestId(host)
  return error
}

const REQUEST_ID_BYTES = 12

export function newRequestId(host: LensHost): string {
  return Buffer.from(host.random(REQUEST_ID_BYTES)).toString('hex')
}

function askerOf({ store }: LensHost, id: string): Asker {
  const row = store.table(AGENTS).get({ id })
  return { id, trustGraph: (row?.['trust_graph'] as string | null | undefined) ?? null }
}

/** The cause stays with the error for the log of whoever runs the node; what is told is fixed (BQ-185). */
function asBeliefsError(thrown: unknown): BeliefsError {
  if (thrown instanceof BeliefsError) return thrown
  const known = thrown instanceof QuerentError && thrown.code in ERROR_CODES ? CODES[thrown.code as ErrorCode] : null
  const code = known ?? 'INTERNAL_ERROR'
  if (known !== null && (thrown as QuerentError).code === 'too_large') return tooComplex(thrown as QuerentError)
  if (code === 'INVALID_QUERY') {
    const { message, details } = thrown as QuerentError
    return new BeliefsError(code, message, { ...details, reason: (thrown as QuerentError).code }, { cause: thrown })
  }
  // What there is too much of, and how long to wait, is the requester's own affair, and the only one that tells more.
  if (code === 'RATE_LIMITED') {
    const { message, details } = thrown as QuerentError
    return new BeliefsError(code, message, details, { cause: thrown })
  }
  return new BeliefsError(code, MESSAGES[code], {}, { cause: thrown })
}

/** What a door would not even read (BQ-191). */
function tooComplex({ details, message }: QuerentError): BeliefsError {
  const path = String(details['field'] ?? '')
  const constraint = message.replace(`${path}: `, '')
  return faulty([{ code: 'INVALID_QUERY', path, constraint, reason: 'too_complex', value: null }])
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
