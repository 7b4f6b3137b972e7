/**
 * The only class of errors, and the table of their codes. Codes are stable and part of every interface's contract; an interface translates
 * an error's kind to a number of its own (exit code, HTTP status). Messages name the field, its value, what was expected and what to do,
 * and mention only what the viewer may see.
 */
import type { JsonObject } from '../base/canonical.ts'

/** Kind of an error, by what a caller can do about it. */
export type ErrorKind = 'usage' | 'not_found' | 'conflict' | 'denied' | 'busy' | 'limit' | 'unavailable' | 'broken'

interface CodeRow {
  readonly kind: ErrorKind
  /** Whether repeating the call unchanged may succeed later. */
  readonly retryable: boolean
  /** Advice in one line on what to do about the error; shown by interfaces that have room for it. */
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
  /** Error: the input has a field that does not exist. details: field, known. */
  unknown_field: row('usage', 'Use one of the fields that the message lists.'),
  /** Error: the query's text violates the syntax of queries. details: position, length (UTF-16 units of the text). */
  query_syntax: row('usage', 'Correct the query at the given position, or put a backslash before the sign.'),
  /** Error: no lens has this name. details: lens, known. */
  unknown_lens: row('usage', 'See `querent lenses` for all lenses.'),
  /** Error: no operation has this name. details: operation, near, known. */
  unknown_operation: row('usage', 'See `querent call --help` for all operations.'),
  /** Error: the text is not JSON, or is JSON of a shape that is not accepted. details: position where known. */
  invalid_json: row('usage', 'Pass one valid JSON document.'),
  /** Error: the cursor was not written by an engine on this store, or was altered. */
  cursor_invalid: row('usage', 'Repeat the request without the cursor.'),
  /** Error: the cursor belongs to another query, viewer or lens; the message does not reveal which. */
  cursor_mismatch: row('usage', 'Repeat the request that returned the cursor, or send this one without a cursor.'),
  /** Error: the cursor was written by this store, but is too old. */
  cursor_expired: row('usage', 'Repeat the request without the cursor.'),
  /** Error: the resume token was not issued by this store, was altered, or belongs to another query or viewer. */
  resume_invalid: row('usage', 'Watch again without the resume token.'),
  /**
   * Error: there is no entry with this id, or none that this viewer may see; the two cases give the same error. details: id, near (visible
   * ids with a similar spelling).
   */
  not_found: row('not_found', 'Check the id with `querent list`.'),
  /** Error: there is no store in the given folder. details: home. */
  store_missing: row('not_found', 'Run `querent init`, or name a home with --home or QUERENT_HOME.'),
  /** Error: the change conflicts with the current state of the store, such as an id that is taken. */
  conflict: row('conflict', 'Look at what is there now, then decide again.'),
  /** Error: the viewer has no permission for the operation. */
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
  /** Error: a model's folder is incomplete, or a file in it has the wrong hash. details: file, expected, found. */
  model_invalid: row('broken', 'Rebuild the model (`npm run model`) or name another folder.'),
  /** Error: the embedder (the program that makes vectors) could not be started, or stopped unexpectedly. Searches by words still work. */
  embedder_failed: row('unavailable', 'See `querent doctor`; until then queries are answered by words only.', true),
  /** Error: a provider of models, an external database or another engine did not answer, or answered wrongly. details: provider, status. */
  provider_failed: row('unavailable', 'Check the address, the key and the service.', true),
  /** Error: the deadline passed before there was an answer. */
  deadline_exceeded: row('limit', 'Allow more time (timeout_ms) or narrow the query.', true),
  /** Error: the caller disconnected or cancelled the call. */
  cancelled: row('limit', 'Nothing to do: the caller cancelled it.'),
  /** Error: a part of the input is larger than its limit. details: field, value, limit. */
  too_large: row('limit', 'Make the input smaller; the message names the limit.'),
  /** Error: the requester exceeded its rate limit. details: retry_after_ms, limit (in units of cost), window_ms. */
  rate_limited: row('limit', 'Wait as long as details.retry_after_ms says.', true),
  /** Error: the entries that the viewer holds would exceed its quota of bytes. details: used, bytes (of the request), quota. */
  quota_exceeded: row('limit', 'Delete entries, or ask the owner for a larger quota (limits.bytes_per_viewer).'),
  /** Error: a bug in this program. */
  internal: row('broken', 'Please report it; with QUERENT_DEBUG=1 the command says where it happened.'),
}

/** An error code that a lens's own contract defines, with the same properties as the engine's codes. */
export interface LensCode extends CodeRow {
  /** Code of the error, in snake_case. */
  readonly code: string
  /** Class of the error in the lens's contract, reported together with the code. */
  readonly type: string
}

export class QuerentError extends Error {
  override readonly name: string = 'QuerentError'
  /** Code of the error: one of `ERROR_CODES`, or a lens's own. */
  readonly code: string
  readonly details: JsonObject
  readonly #row: CodeRow | LensCode

  constructor(code: ErrorCode | LensCode, message: string, details: JsonObject = {}, cause?: unknown) {
    // Makes the message well-formed: text quoted in it may have been cut inside a character, or contain half of a surrogate pair.
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

  /** Whether message and details concern the request alone, so that every requester may read them in full. */
  get isOpen(): boolean {
    return false
  }

  /** What to do about the error, in one line. */
  get help(): string {
    return this.#row.help
  }

  /** A copy of the error with another message and, if given, other details and another cause. */
  retold(message: string, details: JsonObject = this.details, cause: unknown = this.cause): QuerentError {
    const code = 'code' in this.#row ? this.#row : (this.code as ErrorCode)
    return new QuerentError(code, message, details, cause)
  }

  /** The error as JSON, in the same form on every interface; it includes a `type` where a lens's contract defines one. */
  toJSON(): { type?: string; code: string; message: string; details: JsonObject } {
    const type = 'type' in this.#row ? { type: this.#row.type } : {}
    return { ...type, code: this.code, message: this.message, details: this.details }
  }
}

/** Makes the error for a wrong argument: `field` has `value`, which is not `expected`. Long values are cut, to keep the message short. */
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

/** A short text that shows a value of any type in a message; at most 80 characters. */
export function showValue(value: unknown): string {
  if (typeof value === 'number') return String(value)
  if (typeof value === 'bigint') return `${value}n`
  const text = asJson(value) ?? String(value)
  return text.length > 80 ? `${text.slice(0, 79).toWellFormed()}…` : text
}

/** The value as JSON; undefined where it cannot be converted: callers of the library can pass any value, even a circular one. */
function asJson(value: unknown): string | undefined {
  try {
    return JSON.stringify(value)
  } catch {
    return `a value of type ${typeof value} that is not JSON`
  }
}
