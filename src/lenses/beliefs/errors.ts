/**
 * The errors of the beliefs lens. Its operations report only seven codes (BQ-183 to BQ-185), and error messages and details mention only
 * the request and what the requester may see.
 */
import type { JsonObject } from '../../base/canonical.ts'
import { didYouMean } from '../../base/near-names.ts'
import { type ErrorKind, type LensCode, QuerentError } from '../../model/errors.ts'
import type { BeliefSource } from './model.ts'

export type BeliefsCode =
  | 'INVALID_QUERY'
  | 'INVALID_FILTERS'
  | 'UNAUTHORIZED'
  | 'TIMEOUT'
  | 'RATE_LIMITED'
  | 'NODE_UNAVAILABLE'
  | 'INTERNAL_ERROR'

export const BELIEFS_CODES: Readonly<Record<BeliefsCode, LensCode>> = {
  INVALID_QUERY: row('INVALID_QUERY', 'usage', false, 'Correct the field that the message begins with (details.path).'),
  INVALID_FILTERS: row('INVALID_FILTERS', 'usage', false, 'Correct the filter that details.path names.'),
  UNAUTHORIZED: row('UNAUTHORIZED', 'denied', false, 'Send the request as the agent that it names.'),
  TIMEOUT: row('TIMEOUT', 'limit', true, 'Allow more time (options.timeout_ms) or narrow the query.'),
  RATE_LIMITED: row('RATE_LIMITED', 'limit', true, 'Wait for details.retry_after_ms.'),
  NODE_UNAVAILABLE: row('NODE_UNAVAILABLE', 'unavailable', true, 'Try again later, or ask other nodes.'),
  INTERNAL_ERROR: row('INTERNAL_ERROR', 'broken', true, 'Please report it with its request_id.'),
}

function row(code: BeliefsCode, kind: ErrorKind, retryable: boolean, help: string): LensCode {
  return { code, type: 'QueryError', kind, retryable, help }
}

export class BeliefsError extends QuerentError {
  override readonly name: string = 'BeliefsError'
  declare readonly code: BeliefsCode
  /** Id of the failed request; empty until the failed operation sets it. */
  requestId = ''
  /** The source (own, federated or network) whose failure caused the error; null if the error concerns no single source. */
  readonly source: BeliefSource | null

  constructor(
    code: BeliefsCode,
    message: string,
    details: JsonObject = {},
    { source = null, cause }: { readonly source?: BeliefSource | null; readonly cause?: unknown } = {},
  ) {
    super(BELIEFS_CODES[code], message, details, cause)
    this.source = source
  }

  override get isOpen(): boolean {
    return true
  }

  override toJSON(): {
    type: 'QueryError'
    code: BeliefsCode
    message: string
    details: JsonObject
    source?: BeliefSource
    retryable: boolean
    request_id: string
  } {
    const { code, message, details, source, retryable, requestId } = this
    return {
      type: 'QueryError',
      code,
      message,
      details,
      ...(source === null ? {} : { source }),
      retryable,
      request_id: requestId,
    }
  }
}

/** One fault in the input of a request. Several faults are reported together, in the order in which they occur in the input (BQ-186). */
export interface Fault {
  readonly code: 'INVALID_QUERY' | 'INVALID_FILTERS'
  /** Path of the faulty field in the request, such as `options.scope.local` or `filters[1].valid_at`. */
  readonly path: string
  /** Description of the values that would be accepted in place of the faulty one. */
  readonly constraint: string
  /** Kind of fault, as a stable code: `required`, `type`, `range`, `unknown_field`, `empty_scope`, `too_complex`, … */
  readonly reason: string
  /** The faulty value as shortened text; null if there is no value to show. */
  readonly value: string | null
}

const MAX_FAULTS = 20

/** Makes the error for a request with faults: it has the code and message of the first fault, and up to twenty faults in `details.all`. */
export function faulty(faults: readonly [Fault, ...Fault[]]): BeliefsError {
  const [{ code, path, constraint, reason, value }] = faults
  const shown = value === null ? '' : `, got ${value}`
  const all = faults.slice(0, MAX_FAULTS).map(fault => ({ ...fault }))
  return new BeliefsError(code, `${path}: expected ${constraint}${shown}`, { path, constraint, reason, all })
}

/** Makes the error for a request with a single invalid value. */
export function wrong(path: string, constraint: string, reason: string, value: string | null = null): BeliefsError {
  return faulty([{ code: 'INVALID_QUERY', path, constraint, reason, value }])
}

/**
 * The error for an id that belongs to no belief that the requester may see or change. `near`: similar ids of beliefs that the requester may
 * see or change.
 */
export function noSuchBelief(path: string, constraint: string, near: readonly string[]): BeliefsError {
  const error = wrong(path, constraint, 'not_found')
  if (near.length === 0) return error
  return new BeliefsError('INVALID_QUERY', `${error.message}${didYouMean(near)}`, { ...error.details, near })
}

/** The error for queries of other nodes if the setting `answer_nodes` is off; equal for all senders. */
export function answersNobody(): BeliefsError {
  return new BeliefsError('UNAUTHORIZED', 'this node answers no other nodes', { reason: 'answers_nobody' })
}

/** The error for a signed message whose nonce (number used once) this node has seen before (BQ-120). */
export function replayed(): BeliefsError {
  return new BeliefsError('UNAUTHORIZED', 'this message was received before', { reason: 'replay' })
}

/** The error for a request that is not permitted; it gives no reason (BQ-185). */
export function unauthorized(): BeliefsError {
  return new BeliefsError('UNAUTHORIZED', 'the request is not authorised for this identity')
}
