/**
 * Functions shared by all operations of the beliefs lens: determining the requester, charging the request, and converting errors to the
 * seven codes of the lens.
 */
import { z } from 'zod'
import type { JsonObject } from '../../../base/canonical.ts'
import { ERROR_CODES, type ErrorCode, QuerentError } from '../../../model/errors.ts'
import type { CallContext } from '../../../model/operation.ts'
import { AGENTS } from '../../../store/core-tables.ts'
import type { LensHost } from '../../lens.ts'
import type { NamedOperation } from '../../lens-operation.ts'
import type { Writing } from '../agents/federations.ts'
import { type BeliefsCode, BeliefsError, type Fault, faulty } from '../errors.ts'
import type { Call } from '../query/evaluation.ts'
import { faultsOf } from '../schema/faults.ts'
import type { Requester } from '../schema/filters.ts'
import { type BeliefOptions, DEFAULT_LIMIT } from '../schema/query.ts'
import type { Value } from '../schema/values.ts'
import { type BeliefsState, countersOf, stateOf } from '../state.ts'

/** Maximum bytes of an HTTP request with a query (BQ-191). */
export const BODY_LIMIT: number = 256 * 1024

const FEDERATED = 2
const NETWORK = 4
const EXPLANATION = 1
const DIVERSITY = 1
/** Number of results covered by one unit of a query's cost. */
const RESULTS = 100

/**
 * Cost of a query in units, 1 or more (BQ-190). It is computed from the request alone, so that it reveals nothing about stored beliefs. A
 * query answered as a stream costs as much as one answered as a page.
 */
export function costOf(options: BeliefOptions = {}): number {
  const { scope, diversity, limit = DEFAULT_LIMIT, max_derivation_depth: depth = 5 } = options
  return (
    1 +
    (scope?.federated === true ? FEDERATED : 0) +
    (scope?.network === true ? NETWORK : 0) +
    (options.include_explanation === true ? EXPLANATION : 0) +
    (options.include_derivation === true ? depth : 0) +
    (diversity?.enabled === true ? DIVERSITY : 0) +
    Math.max(0, Math.ceil(limit / RESULTS) - 1)
  )
}

/**
 * Converts an error of the engine or an interface to an error with one of the seven codes of the lens (BQ-183 to BQ-185). The original
 * error is attached as the cause for the operator's log, but the reported text is fixed. `input`: input of the failed request.
 */
function asBeliefsError(thrown: unknown, input?: unknown): BeliefsError {
  if (thrown instanceof BeliefsError) return thrown
  if (thrown instanceof QuerentError && thrown.cause instanceof z.ZodError)
    return faulty(faultsOf(thrown.cause.issues, input ?? {}))
  if (!(thrown instanceof QuerentError && thrown.code in ERROR_CODES)) return fixed('INTERNAL_ERROR', thrown)
  const code = CODES[thrown.code as ErrorCode]
  const { message, details } = thrown
  switch (code) {
    case 'INVALID_QUERY':
      return invalid(thrown)
    // For RATE_LIMITED the message and details of the original error are kept: which limit was reached and how long to wait are about the
    // requester's own requests, so they reveal nothing about others.
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

/** Converts an error about invalid input to a fault in the form of this lens: path of the field, what would be accepted, and the reason. */
function invalid(error: QuerentError): BeliefsError {
  const { code, message, details } = error
  const { field, expected, value, ...rest } = details
  const path = typeof field === 'string' ? field : 'input'
  const constraint = typeof expected === 'string' ? expected : (CONSTRAINTS[code] ?? message.replace(`${path}: `, ''))
  const shown = typeof value === 'string' ? value : null
  const fault: Fault = { code: 'INVALID_QUERY', path, constraint, reason: code, value: shown }
  // The input was larger than an interface reads (BQ-191).
  if (code === 'too_large') return faulty([{ ...fault, reason: 'too_complex', value: null }])
  const allDetails = { ...rest, path, constraint, reason: code, all: [{ ...fault }] }
  return new BeliefsError('INVALID_QUERY', message, allDetails, { cause: error })
}

/** Details of a timeout: the time limit, also reported as the elapsed time. */
function elapsed({ timeout_ms: timeout }: JsonObject): JsonObject {
  return typeof timeout === 'number' ? { elapsed_ms: timeout, timeout_ms: timeout } : {}
}

function fixed(code: keyof typeof MESSAGES, cause: unknown, details: JsonObject = {}): BeliefsError {
  return new BeliefsError(code, MESSAGES[code], details, { cause })
}

/** Descriptions of accepted input, by error code, for errors that do not contain one. */
const CONSTRAINTS: Readonly<Partial<Record<string, string>>> = {
  invalid_json: 'a JSON document',
  resume_invalid: 'the resume token of an event of a subscription to this query',
}

const MESSAGES: Readonly<Record<Exclude<BeliefsCode, 'INVALID_QUERY' | 'RATE_LIMITED'>, string>> = {
  INVALID_FILTERS: 'the filters are not valid',
  UNAUTHORIZED: 'the request is not authorised for this identity',
  TIMEOUT: 'the request was ended before there was an answer',
  NODE_UNAVAILABLE: 'no source could answer; try again',
  INTERNAL_ERROR: 'an internal error occurred; the request was not its cause',
}

/** By error code of the engine, the error code of the beliefs lens. */
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

export interface BeliefsCall extends Call {
  readonly state: BeliefsState
  readonly host: LensHost
  readonly agent: Requester
  readonly context: CallContext
}

interface Definition<N extends string, I extends z.ZodType, O extends z.ZodType>
  extends Omit<NamedOperation<N, I, O>, 'run' | 'cost' | 'questions'> {
  run(call: BeliefsCall, input: Value<I>): Promise<Value<O>> | Value<O>
  cost?(input: Value<I>): number
  questions?(input: Value<I>): readonly unknown[]
}

/**
 * Defines an operation. Its input is checked against its schema before it runs, and the type of its answer follows from its output schema.
 */
export function operation<const N extends string, I extends z.ZodType, O extends z.ZodType>(
  given: Definition<N, I, O>,
): NamedOperation<N, I, O> {
  // The cast is safe: the types differ only in readonly modifiers.
  const { run, ...rest } = given as unknown as Omit<NamedOperation<N, I, O>, 'run'> & Pick<Definition<N, I, O>, 'run'>
  return {
    ...rest,
    run: (host, input, context) => inCall(host, context, call => run(call, input as never) as Promise<z.output<O>>),
  }
}

/** Defines a read operation whose input contains a query over beliefs. */
export function question<const N extends string, I extends z.ZodType, O extends z.ZodType>(
  given: Omit<Definition<N, I, O>, 'effect' | 'bodyLimit'>,
): NamedOperation<N, I, O> {
  return operation({ ...given, effect: { kind: 'read', idempotent: true }, bodyLimit: BODY_LIMIT })
}

/** Runs the work of an operation's call; any error is converted to one with a code of the lens (BQ-183). */
export async function inCall<T>(
  host: LensHost,
  context: CallContext,
  work: (call: BeliefsCall) => Promise<T> | T,
): Promise<T> {
  try {
    const { viewer, signal } = context
    const agent = requesterWith(host, viewer.id)
    return await work({ state: stateOf(host), host, agent, context, requester: viewer.id, signal })
  } catch (thrown) {
    throw failureIn(host, thrown)
  }
}

/** Runs a write transaction for an operation's call, with the caller as the writing agent. */
export function writing<T>({ host, agent }: BeliefsCall, act: (write: Writing) => T): Promise<T> {
  const now = host.clock.now()
  const random = (bytes: number) => host.random(bytes)
  return host.store.writeWhenFree(now, writer => act({ writer, viewer: agent.id, now, random }))
}

/** Converts an error to one of the lens and gives it a new request id. `input`: input of the request, if it was rejected. */
export function failureIn(host: LensHost, thrown: unknown, input?: unknown): BeliefsError {
  const error = asBeliefsError(thrown, input)
  countersOf(host).countError(error.code)
  error.requestId = newRequestId(host)
  return error
}

const REQUEST_ID_BYTES = 12

function newRequestId(host: LensHost): string {
  return Buffer.from(host.random(REQUEST_ID_BYTES)).toString('hex')
}

function requesterWith({ store }: LensHost, id: string): Requester {
  const row = store.table(AGENTS).get({ id })
  return { id, trustGraph: (row?.['trust_graph'] as string | null | undefined) ?? null }
}
