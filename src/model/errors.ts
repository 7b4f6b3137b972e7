/**
 * The one error class and the table of its codes. A code is stable and part of every interface's contract; an interface turns the
 * kind into its own number (exit code, HTTP status). Messages name the field, the value, what was expected and what to
 * do; they speak only of what the viewer may see.
 */
import type { JsonObject } from '../base/canonical.ts'

/** What a caller can do about it. */
export type ErrorKind = 'usage' | 'not_found' | 'conflict' | 'denied' | 'busy' | 'limit' | 'unavailable' | 'broken'

interface CodeRow {
  readonly kind: ErrorKind
  /** The same call may succeed later without being changed. */
  readonly retryable: boolean
  /** What to do, in one line; shown by interfaces that have room for it. */
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
  /** A field has a wrong type or is out of range. details: field, value, expected. */
  invalid_argument: row('usage', 'Correct the field that the message names.'),
  /** A field that does not exist here. details: field, known. */
  unknown_field: row('usage', 'Use one of the fields that the message lists.'),
  /** The question breaks the query language. details: position, length (UTF-16 units of the text). */
  query_syntax: row('usage', 'Correct the query at the given position, or put a backslash before the sign.'),
  /** No lens has this name. details: lens, known. */
  unknown_lens: row('usage', 'See `querent lenses` for all lenses.'),
  /** No operation has this name. details: operation, near, known. */
  unknown_operation: row('usage', 'See `querent call --help` for all operations.'),
  /** The text is not JSON, or JSON of another shape. details: position where known. */
  invalid_json: row('usage', 'Pass one valid JSON document.'),
  /** The cursor was not written by an engine on this store, or was changed since. */
  cursor_invalid: row('usage', 'Repeat the request without the cursor.'),
  /** The cursor belongs to another question, viewer or lens: which of these is not told. */
  cursor_mismatch: row('usage', 'Repeat the request that returned the cursor, or send this one without a cursor.'),
  /** The cursor was ours and is too old. */
  cursor_expired: row('usage', 'Repeat the request without the cursor.'),
  /** The resume token is not one of ours, was changed, or belongs to another question or viewer. */
  resume_invalid: row('usage', 'Watch again without the resume token.'),
  /** No such entry, or none that this viewer may see: never told apart. details: id, near (visible ids like it). */
  not_found: row('not_found', 'Check the id with `querent list`.'),
  /** No store at the place named. details: home. */
  store_missing: row('not_found', 'Run `querent init`, or name a home with --home or QUERENT_HOME.'),
  /** The state does not allow this change. */
  conflict: row('conflict', 'Read the current state and decide again.'),
  /** The viewer may not do this. */
  denied: row('denied', 'Send the request as a viewer with permission, or as the local owner.'),
  /** No valid token or signature came with the request. */
  unauthenticated: row('denied', 'Send a valid token.'),
  /** Another process holds the store's write lock. */
  store_locked: row('busy', 'Try again when the other process has finished writing.', true),
  /** The store file or its folder cannot be written. */
  store_readonly: row('broken', 'Give this user write permission, or open the store for reading only.'),
  /** The file is not a store, or is damaged. */
  store_corrupt: row(
    'broken',
    'Restore a backup; or move the file away, make a new store with `querent add` or `querent import`.',
  ),
  /** The store was written by a newer version. details: found, supported. */
  store_newer: row('broken', 'Update querent.'),
  /** The disk refused. details: path, cause. */
  io_failed: row('broken', 'Check the path, its permissions and the free space.'),
  /** A model folder is incomplete or its hash is wrong. details: file, expected, found. */
  model_invalid: row('broken', 'Rebuild the model (`npm run model`) or name another folder.'),
  /** The embedder could not be started or died. Words still answer. */
  embedder_failed: row('unavailable', 'See `querent doctor`; until then queries are answered by words only.', true),
  /** A provider or another engine did not answer, or answered wrongly. details: provider, status. */
  provider_failed: row('unavailable', 'Check the address, the key and the service.', true),
  /** The deadline passed before there was an answer. */
  deadline_exceeded: row('limit', 'Allow more time (timeout_ms) or narrow the query.', true),
  /** The caller went away or said stop. */
  cancelled: row('limit', 'Nothing to do: the caller cancelled it.'),
  /** Something is larger than its limit. details: field, value, limit. */
  too_large: row('limit', 'Make the input smaller; the message names the limit.'),
  /** The requester has asked too much lately. details: retry_after_ms, limit (units), window_ms. */
  rate_limited: row('limit', 'Wait as long as details.retry_after_ms says.', true),
  /** The viewer keeps as many bytes as it may. details: used, bytes (of the request), quota. */
  quota_exceeded: row('limit', 'Delete entries, or ask the owner for a larger quota (limits.bytes_per_viewer).'),
  /** A bug of ours. */
  internal: row('broken', 'Please report it; with QUERENT_DEBUG=1 the command says where it happened.'),
}

/** A code of a lens's own contract, with what the table says of ours. */
export interface LensCode extends CodeRow {
  /** snake_case. */
  readonly code: string
  /** Family of errors in the lens's contract, told beside the code. */
  readonly type: string
}

export class QuerentError extends Error {
  override readonly name: string = 'QuerentError'
  /** One of `ERROR_CODES`, or a lens's own. */
  readonly code: string
  readonly details: JsonObject
  readonly #row: CodeRow | LensCode

  constructor(code: ErrorCode | LensCode, message: string, details: JsonObject = {}, cause?: unknown) {
    // What a message quotes may have been cut inside a character, or come from outside with half of one.
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

  /** Whether message and details speak of nothing but the request, so that any requester may read them whole. */
  get isOpen(): boolean {
    return false
  }

  /** What to do, in one line. */
  get help(): string {
    return this.#row.help
  }

  /** The same failure in other words. */
  retold(message: string, details: JsonObject = this.details, cause: unknown = this.cause): QuerentError {
    const code = 'code' in this.#row ? this.#row : (this.code as ErrorCode)
    return new QuerentError(code, message, details, cause)
  }

  /** The one wire shape of an error, on every interface; `type` where a lens's contract has one. */
  toJSON(): { type?: string; code: string; message: string; details: JsonObject } {
    const type = 'type' in this.#row ? { type: this.#row.type } : {}
    return { ...type, code: this.code, message: this.message, details: this.details }
  }
}

/** `field` got `value`, which is not `expected`. Long values are cut: an error message is no place for a document. */
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

/** Short, and of anything. */
export function showValue(value: unknown): string {
  if (typeof value === 'number') return String(value)
  if (typeof value === 'bigint') return `${value}n`
  const text = asJson(value) ?? String(value)
  return text.length > 80 ? `${text.slice(0, 79).toWellFormed()}…` : text
}

/** Not everything that a library call can be given is JSON, and some of it is endless. */
function asJson(value: unknown): string | undefined {
  try {
    return JSON.stringify(value)
  } catch {
    return `a value of type ${typeof value} that is not JSON`
  }
}
