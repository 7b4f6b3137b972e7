/**
 * The only error class, and the table of its codes. Codes are stable and part of every interface's contract; an interface translates the
 * kind to its own number (exit code, HTTP status). Messages name the field, the value, what was expected and what to do; they mention only
 * what the viewer may see.
 */
import type { JsonObject } from '../base/canonical.ts'

/** What a caller can do about an error. */
export type ErrorKind = 'usage' | 'not_found' | 'conflict' | 'denied' | 'busy' | 'limit' | 'unavailable' | 'broken'

interface CodeRow {
  readonly kind: ErrorKind
  /** Whether the same call may succeed later without being changed. */
  readonly retryable: boolean
  /** What to do about the error, in one line; shown by interfaces that have room for it. */
  readonly help: string
}

function row(kind: ErrorKind, help: string, retryable = false): CodeRow {
  return { kind, retryable, help }
}

export type ErrorCode =
  | 'invalid_argument'
  | 'unknown_field'
  | 'query_syntax'
  | 'unknown_lens'
  | 'unknown_operation'
  | 'invalid_json'
  | 'cursor_invalid'
  | 'cursor_mismatch'
  | 'cursor_expired'
  | 'resume_invalid'
  | 'not_found'
  | 'store_missing'
  | 'conflict'
  | 'denied'
  | 'unauthenticated'
  | 'store_locked'
  | 'store_readonly'
  | 'store_corrupt'
  | 'store_newer'
  | 'io_failed'
  | 'model_invalid'
  | 'embedder_failed'
  | 'provider_failed'
  | 'deadline_exceeded'
  | 'cancelled'
  | 'too_large'
  | 'rate_limited'
  | 'quota_exceeded'
  | 'internal'

export const ERROR_CODES: Readonly<Record<ErrorCode, CodeRow>> = {
  /** Error: a field has a wrong type or is out of range. details: field, value, expected. */
  invalid_argument: row('usage', 'Correct the field that the message names.'),
  /** Error: a field does not exist here. details: field, known. */
  unknown_field: row('usage', 'Use one of the fields that the message lists.'),
  /** Error: the query breaks the query language. details: position, length (UTF-16 units of the text). */
  query_syntax: row('usage', 'Correct the query at the given position, or put a backslash before the sign.'),
  /** Error: no lens has this name. details: lens, known. */
  unknown_lens: row('usage', 'See `querent lenses` for all lenses.'),
  /** Error: no operation has this name. details: operation, near, known. */
  unknown_operation: row('usage', 'See `querent call --help` for all operations.'),
  /** Error: the text is not JSON, or JSON of another shape. details: position where known. */
  invalid_json: row('usage', 'Pass one valid JSON document.'),
  /** Error: the cursor was not written by an engine on this store, or was changed since. */
  cursor_invalid: row('usage', 'Repeat the request without the cursor.'),
  /** Error: the cursor belongs to another query, viewer or lens; which of these is not revealed. */
  cursor_mismatch: row('usage', 'Repeat the request that returned the cursor, or send this one without a cursor.'),
  /** Error: the cursor is genuine but too old. */
  cursor_expired: row('usage', 'Repeat the request without the cursor.'),
  /** Error: the resume token was not issued here, was changed, or belongs to another query or viewer. */
  resume_invalid: row('usage', 'Watch again without the resume token.'),
  /** No such entry, or none that this viewer may see: never told apart. details: id, near (visible ids like it). */
  not_found: row('not_found', 'Check the id with `querent list`.'),
  /** Error: there is no store at the given place. details: home. */
  store_missing: row('not_found', 'Run `querent init`, or name a home with --home or QUERENT_HOME.'),
  /** Error: the current state does not allow this change. */
  conflict: row('conflict', 'Read the current state and decide again.'),
  /** Error: the viewer may not do this. */
  denied: row('denied', 'Send the request as a viewer with permission, or as the local owner.'),
  /** Error: the request had no valid token or signature. */
  unauthenticated: row('denied', 'Send a valid token.'),
  /** Error: another process holds the store's write lock. */
  store_locked: row('busy', 'Try again when the other process has finished writing.', true),
  /** Error: the store file or its folder cannot be written. */
  store_readonly: row('broken', 'Give this user write permission, or open the store for reading only.'),
  /** Error: the file is not a store, or is damaged. */
  store_corrupt: row(
    'broken',
    'Restore a backup; or move the file away, make a new store with `querent add` or `querent import`.',
  ),
  /** Error: the store was written by a newer version. details: found, supported. */
  store_newer: row('broken', 'Update querent.'),
  /** Error: the disk refused an access. details: path, cause. */
  io_failed: row('broken', 'Check the path, its permissions and the free space.'),
  /** Error: a model folder is incomplete or a file's hash is wrong. details: file, expected, found. */
  model_invalid: row('broken', 'Rebuild the model (`npm run model`) or name another folder.'),
  /** Error: the embedder could not be started or stopped unexpectedly. Searches by words still work. */
  embedder_failed: row('unavailable', 'See `querent doctor`; until then queries are answered by words only.', true),
  /** Error: a provider or another engine did not answer, or answered wrongly. details: provider, status. */
  provider_failed: row('unavailable', 'Check the address, the key and the service.', true),
  /** Error: the deadline passed before there was an answer. */
  deadline_exceeded: row('limit', 'Allow more time (timeout_ms) or narrow the query.', true),
  /** Error: the caller disconnected or cancelled the call. */
  cancelled: row('limit', 'Nothing to do: the caller cancelled it.'),
  /** Error: something is larger than its limit. details: field, value, limit. */
  too_large: row('limit', 'Make the input smaller; the message names the limit.'),
  /** Error: the requester exceeded its rate limit. details: retry_after_ms, limit (units), window_ms. */
  rate_limited: row('limit', 'Wait as long as details.retry_after_ms says.', true),
  /** Error: the viewer has used up its quota of bytes. details: used, bytes (of the request), quota. */
  quota_exceeded: row('limit', 'Delete entries, or ask the owner for a larger quota (limits.bytes_per_viewer).'),
  /** Error: a bug in this program. */
  internal: row('broken', 'Please report it; with QUERENT_DEBUG=1 the command says where it happened.'),
}

/** An error code of a lens's own contract, with the properties that the table gives for the engine's codes. */
export interface LensCode extends CodeRow {
  /** The code, in snake_case. */
  readonly code: string
  /** Class of errors in the lens's contract, reported with the code. */
  readonly type: string
}

export class QuerentError extends Error {
  override readonly name: string = 'QuerentError'
  /** Code of the error: one of `ERROR_CODES`, or a lens's own. */
  readonly code: string
  readonly details: JsonObject
  readonly #row: CodeRow | LensCode

  constructor(code: ErrorCode | LensCode, message: string, details: JsonObject = {}, cause?: unknown) {
    // Text quoted in a message may have been cut inside a character, or contain half of a surrogate pair from outside.
    super(message.toWellFormed(), cause === undefined ? undefined : { cause })
    this.code = typeof code === 'string' ? code : code.code
    this.#row = typeof code === 'string' ? ERROR_CODES[code] : code
    this.details = details
  }

  get kind(): ErrorKind {
    return this.#row.kind
  }

  get retryable(): boolean {
    return this.#row.retryable
  }

  /** Whether message and details concern only the request, so that any requester may read them in full. */
  get isOpen(): boolean {
    return false
  }

  /** What to do about the error, in one line. */
  get help(): string {
    return this.#row.help
  }

  /** A copy of the error with another message. */
  retold(message: string, details: JsonObject = this.details, cause: unknown = this.cause): QuerentError {
    const code = 'code' in this.#row ? this.#row : (this.code as ErrorCode)
    return new QuerentError(code, message, details, cause)
  }

  /** The JSON form of an error, the same on every interface; `type` where a lens's contract has one. */
  toJSON(): { type?: string; code: string; message: string; details: JsonObject } {
    const type = 'type' in this.#row ? { type: this.#row.type } : {}
    return { ...type, code: this.code, message: this.message, details: this.details }
  }
}

/** Error: `field` got `value`, which is not `expected`. Long values are cut, to keep the message short. */
export function invalidArgument(field: string, value: unknown, expected: string): QuerentError {
  const shown = showValue(value)
  const message =
    value === undefined ? `${field}: missing; expected ${expected}` : `${field}: expected ${expected}, got ${shown}`
  return new QuerentError('invalid_argument', message, {
    field,
    value: shown,
    expected,
  })
}

/** A short text for a value of any type, for messages. */
export function showValue(value: unknown): string {
  if (typeof value === 'number') return String(value)
  if (typeof value === 'bigint') return `${value}n`
  const text = asJson(value) ?? String(value)
  return text.length > 80 ? `${text.slice(0, 79).toWellFormed()}…` : text
}

/** The value as JSON; undefined where it has none: a library call can be given any value, even a circular one. */
function asJson(value: unknown): string | undefined {
  try {
    return JSON.stringify(value)
  } catch {
    return `a value of type ${typeof value} that is not JSON`
  }
}
