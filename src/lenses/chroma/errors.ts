/**
 * The errors of the lens (CQ-105): families that callers catch by `instanceof`, and stable codes. Each is a
 * `QuerentError`, so every door tells it like any other; `type` on the wire is the class.
 */
import type { JsonObject } from '../../base/canonical.ts'
import { type ErrorKind, QuerentError } from '../../model/errors.ts'
import type { Fault } from '../../model/parse-input.ts'

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

/** Lists whose items are checked one by one: what an item is called, and the detail that has its position. */
const LISTS: Readonly<Record<string, { readonly item: string; readonly detail: string }>> = {
  queries: { item: 'query', detail: 'batch_index' },
  assignments: { item: 'assignments', detail: 'index' },
  nodes: { item: 'node', detail: 'index' },
}
/** Members of these are named one by one; of other parameters the whole is at fault. */
const DEEP: ReadonlySet<unknown> = new Set(['metadata_filters', 'plugin_fields'])
const STATE: ReadonlySet<unknown> = new Set([
  ...['created_at', 'last_accessed', 'strength_raw', 'decay_health', 'ascension', 'rotten', 'access_count'],
  ...['version', 'mode_name'],
])

/** The error map of the contract: what a schema refuses as the error that callers know. The first fault counts. */
export function invalidInput(faults: readonly Fault[]): ValidationError {
  const { path, ...fault } = faults[0] as Fault
  const [name, at, ...rest] = path
  const list = LISTS[String(name)]
  if (list === undefined || typeof at !== 'number') return invalidAt(path[0] === 'query' ? path.slice(1) : path, fault)
  const isState = name === 'nodes' && STATE.has(rest[0]) && fault.kind !== 'unknown'
  const error = isState ? invalidState(`node.${rest[0]}`, fault) : invalidAt(rest, fault, list.item)
  return placed(error, `${name}[${at}]`, { [list.detail]: at })
}

function invalidAt(path: Fault['path'], { value, expected }: Omit<Fault, 'path'>, root = 'input'): ValidationError {
  const [name = root, ...inner] = path
  // A position in a list of a condition is not told: the condition is at fault.
  const named = DEEP.has(name) ? inner.slice(0, 2).filter((key, at) => at === 0 || typeof key === 'string') : []
  return invalidParameter([name, ...named].join('.'), value, expected)
}

/** `invalid_state`: what no stored node can be. */
export function invalidState(field: string, { value, expected }: Pick<Fault, 'value' | 'expected'>): ValidationError {
  const shown = typeof value === 'string' ? value.slice(0, 80) : String(value)
  const details = { field, value: shown, expected }
  return new ValidationError('invalid_state', `${field}: expected ${expected}, got ${shown}`, details)
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
