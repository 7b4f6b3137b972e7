/** How requests fail, in the document: one shape, more of it where the contract of a lens says more, and when which status comes. */
import type { JsonObject } from '../../../base/canonical.ts'
import { ERROR_CODES, QuerentError } from '../../../model/errors.ts'
import type { EngineOperation } from '../../../ops/catalog.ts'
import { statusOf } from '../failure.ts'

const TEXT = { type: 'string' }
const ERROR_FIELDS = {
  code: { type: 'string', description: 'Stable: what programs decide by' },
  message: { type: 'string', description: 'Names the field, its value and what was expected' },
  details: { type: 'object', description: 'What the message says, for programs' },
}

/** `type`: whether the contract of the lens has families of errors. */
function failure(description: string, more: JsonObject, required: readonly string[]): JsonObject {
  const error = { type: 'object', properties: { ...ERROR_FIELDS, ...more }, required: [...required] }
  return { type: 'object', description, properties: { error }, required: ['error'], additionalProperties: false }
}

const PLAIN_FIELDS = ['code', 'message', 'details']

export const FAILURE_SCHEMAS: Readonly<Record<string, JsonObject>> = {
  Failure: failure('What every refused or failed request is answered with', { type: TEXT }, PLAIN_FIELDS),
  ChromaFailure: failure(
    'Of the lens chroma: `type` is the family of the error',
    {
      type: { type: 'string', description: 'Such as ValidationError, UnknownHashtagError, QueryError, DatabaseError' },
    },
    ['type', ...PLAIN_FIELDS],
  ),
  BeliefsFailure: failure(
    'Of the lens beliefs: one of seven codes',
    {
      type: { const: 'QueryError' },
      code: {
        enum: [
          'INVALID_QUERY',
          'INVALID_FILTERS',
          'UNAUTHORIZED',
          'TIMEOUT',
          'RATE_LIMITED',
          'NODE_UNAVAILABLE',
          'INTERNAL_ERROR',
        ],
      },
      source: { type: 'object', description: 'Which source failed, where one did' },
      retryable: { type: 'boolean' },
      request_id: TEXT,
    },
    ['type', ...PLAIN_FIELDS, 'retryable', 'request_id'],
  ),
}

const MEANINGS: Readonly<Record<number, string>> = {
  400: 'The request is wrong: correct what the message names',
  401: 'No valid token or signature came with it, and one is needed',
  403: 'The requester may not do this, or the names in `Host` and `Origin` are not answered',
  404: 'There is no such thing, or none that the requester may see',
  408: 'The request was not whole in time',
  409: 'The state does not allow this change',
  413: 'Something is longer than its limit',
  415: 'Its body is compressed, and must not be',
  429: 'The requester has used up its limit: wait as long as `Retry-After` says',
  431: 'Its headers, or its address, are too long',
  500: 'The service is broken: its log says more',
  501: 'Its body is sent in a way that is not known here',
  503: 'The service cannot do this now',
  504: 'There was no answer within the time allowed',
}
/** Of requests that are not read, or not to their end. */
const UNREAD: Readonly<Record<number, readonly (keyof typeof ERROR_CODES)[]>> = {
  408: ['deadline_exceeded'],
  415: ['invalid_argument'],
  431: ['too_large'],
  501: ['invalid_argument'],
}
const WAITS = new Set([429, 503])

/** The contracts whose errors say more; `` stands for all others. */
export type FailureForm = '' | 'chroma' | 'beliefs'

/** The codes of ours that are answered with it. */
function codesOf(status: number): readonly string[] {
  const unread = UNREAD[status]
  if (unread !== undefined) return unread
  const codes = Object.keys(ERROR_CODES) as (keyof typeof ERROR_CODES)[]
  return codes.filter(code => statusOf(new QuerentError(code, '')) === status)
}

/** As `components.responses`: by form and status. */
export function failureResponses(): JsonObject {
  const forms: readonly FailureForm[] = ['', 'chroma', 'beliefs']
  return Object.fromEntries(
    forms.flatMap(form => Object.keys(MEANINGS).map(status => [`${form}${status}`, response(form, Number(status))])),
  )
}

function response(form: FailureForm, status: number): JsonObject {
  const plain = { $ref: '#/components/schemas/Failure' }
  const own = { chroma: 'ChromaFailure', beliefs: 'BeliefsFailure', '': null }[form]
  const schema = own === null ? plain : { anyOf: [{ $ref: `#/components/schemas/${own}` }, plain] }
  const codes = codesOf(status).map(code => `\`${code}\``)
  return {
    description: `${MEANINGS[status]}. Codes: ${codes.join(', ')}${own === null ? '' : ', or one of the lens'}.`,
    headers: {
      'x-request-id': { $ref: '#/components/headers/RequestId' },
      ...(WAITS.has(status) && { 'retry-after': { $ref: '#/components/headers/RetryAfter' } }),
    },
    content: { 'application/json': { schema } },
  }
}

/** References to those that it may be answered with. */
export function failuresOf(statuses: readonly number[], form: FailureForm = ''): JsonObject {
  return Object.fromEntries(
    statuses.map(status => [String(status), { $ref: `#/components/responses/${form}${status}` }]),
  )
}

/** Failures of every request whose requester is identified. */
export const ALWAYS: readonly number[] = [400, 401, 403, 408, 415, 431, 500, 501, 503]

/** Of an operation: `hasInput`: whether there is anything in the request to be wrong about. */
export function statusesOf({ effect }: Pick<EngineOperation, 'effect'>, hasInput: boolean): readonly number[] {
  return [...ALWAYS, 429, 504, ...(hasInput ? [404, 413] : []), ...(effect.kind === 'read' ? [] : [409])].sort()
}
