/**
 * The errors of the lens (CQ-105): families that callers catch by `instanceof`, and stable codes. Each is a
 * `QuerentError`, so every door tells it like any other; `type` on the wire is the class.
 */
import type { JsonObject } from '../../base/canonical.ts'
import { type ErrorKind, QuerentError } from '../../model/errors.ts'

/** What a family can say of itself; a single error may differ in `kind` and `retryable`. */
interface Traits {
  readonly kind?: ErrorKind | undefined
  readonly retryable?: boolean | undefined
  readonly help?: string | undefined
}

export class ChromaError extends QuerentError {
  override readonly name: string = 'ChromaError'

  constructor(code: string, message: string, details: JsonObject = {}, cause?: unknown, traits: Traits = {}) {
    const { kind = 'usage', retryable = false, help = 'See docs/guide/chroma.md.' } = traits
    super({ code, type: new.target.name, kind, retryable, help }, message, details, cause)
  }
}

/** Hashtags or parameters break a rule. */
export class ValidationError extends ChromaError {
  override readonly name: string = 'ValidationError'
}

/** `unknown_hashtag`; details.hashtags: every tag that has no anchor, normalised. */
export class UnknownHashtagError extends ValidationError {
  override readonly name: string = 'UnknownHashtagError'
  constructor(hashtags: readonly string[]) {
    const help = 'Assign them (`querent chroma assign`), or use assigned ones (`querent chroma hashtags`).'
    super(
      'unknown_hashtag',
      `hashtags: not assigned to any anchor: ${hashtags.join(', ')}`,
      { hashtags: [...hashtags] },
      undefined,
      { help },
    )
  }
}

/** The binding asked for contradicts one there is. */
export class HashtagConflictError extends ValidationError {
  override readonly name: string = 'HashtagConflictError'
  constructor(code: string, message: string, details: JsonObject = {}) {
    super(code, message, details, undefined, {
      kind: 'conflict',
      help: 'Move a bound hashtag with `querent chroma migrate`.',
    })
  }
}

/** A query that cannot be answered although its values are well formed. */
export class QueryError extends ChromaError {
  override readonly name: string = 'QueryError'
}

/** A query profile could not make parameters of the text. */
export class QueryProfileError extends QueryError {
  override readonly name: string = 'QueryProfileError'
}

/** The stored state is wrong or could not be written. */
export class StorageError extends ChromaError {
  override readonly name: string = 'StorageError'

  constructor(code: string, message: string, details: JsonObject = {}, cause?: unknown, traits: Traits = {}) {
    super(code, message, details, cause, { kind: 'broken', ...traits })
  }
}

/** The database refused; details.retryable, details.attempts; details.reason `store_corrupt` where it is damaged. */
export class DatabaseError extends StorageError {
  override readonly name: string = 'DatabaseError'
  constructor(
    message: string,
    details: { readonly retryable: boolean; readonly attempts: number; readonly reason?: string },
    cause?: unknown,
  ) {
    const kind = details.retryable ? 'busy' : 'broken'
    super('database_failed', message, details, cause, {
      kind,
      retryable: details.retryable,
      help: 'Try again when other writers have finished.',
    })
  }
}

/** A plug-in cannot be registered, or did what it may not. */
export class PluginError extends ChromaError {
  override readonly name: string = 'PluginError'
}

/** A plug-in that another needs is missing or too old. */
export class StartupError extends PluginError {
  override readonly name: string = 'StartupError'
}

/** A setting is wrong; details.key, details.value. */
export class ConfigurationError extends ChromaError {
  override readonly name: string = 'ConfigurationError'
}

/** The common case: a parameter has a wrong value. */
export function invalidParameter(parameter: string, value: unknown, expected: string): ValidationError {
  const shown = show(value)
  return new ValidationError('invalid_parameter', `${parameter}: expected ${expected}, got ${shown}`, {
    parameter,
    value: shown,
    expected,
  })
}

/**
 * Says where in a list or a file an error arose, in front of its message and in its details. The very error is changed
 * (its maker has just thrown it), so that it stays of its class.
 */
export function placed<E>(error: E, place: string, details: JsonObject): E {
  if (!(error instanceof ChromaError)) return error
  Object.defineProperty(error, 'message', { value: `${place}: ${error.message}` })
  Object.defineProperty(error, 'details', { value: { ...error.details, ...details } })
  return error
}

/** What a hook of a plug-in threw, in words: it may be anything. */
export function reasonOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown)
}

/** Short, and of anything: not all that a caller can pass is JSON. */
export function show(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'bigint') return String(value)
  let text: string | undefined
  try {
    text = JSON.stringify(value)
  } catch {
    // Circular, or with a bigint inside: named by its type below.
  }
  text ??= typeof value
  return text.length > 80 ? `${text.slice(0, 79).toWellFormed()}…` : text
}
