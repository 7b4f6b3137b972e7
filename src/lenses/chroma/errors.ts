/**
 * The errors of the lens `chroma` (CQ-105): classes that callers catch by `instanceof`, and stable codes. Each is a `QuerentError`, so
 * every interface reports it like any other error; `type` in the reported error is the class name.
 */

import type { z } from 'zod'
import type { JsonObject } from '../../base/canonical.ts'
import { type ErrorKind, QuerentError } from '../../model/errors.ts'
import { type Fault, parseWith } from '../../model/parse-input.ts'
import { type CamelCased, camelCased, camelName, snakeName } from '../camel-name.ts'
import type { LensHost } from '../lens.ts'

/** Properties that a class of errors can declare; a single error may have another `kind` or `retryable`. */
interface Traits {
  readonly kind?: ErrorKind | undefined
  readonly retryable?: boolean | undefined
  readonly help?: string | undefined
}

export class ChromaError extends QuerentError {
  override readonly name: string

  constructor(code: string, message: string, details: JsonObject = {}, cause?: unknown, traits: Traits = {}) {
    const { kind = 'usage', retryable = false, help = 'See docs/guide/chroma.md.' } = traits
    super({ code, type: new.target.name, kind, retryable, help }, message, details, cause)
    this.name = new.target.name
  }
}

/** Error: hashtags or parameters break a rule. */
export class ValidationError extends ChromaError {}

/** Error `unknown_hashtag`; details.hashtags: every tag that has no anchor, in its normal form. */
export class UnknownHashtagError extends ValidationError {
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

/** Error: the requested binding contradicts an existing one. */
export class HashtagConflictError extends ValidationError {
  constructor(code: string, message: string, details: JsonObject = {}) {
    super(code, message, details, undefined, {
      kind: 'conflict',
      help: 'Move a bound hashtag with `querent chroma migrate`.',
    })
  }
}

/** Error: the query cannot be answered although its values are well formed. */
export class QueryError extends ChromaError {}

/** Error: a query profile could not derive parameters from the text. */
export class QueryProfileError extends QueryError {}

/** Error: the stored state is wrong or could not be written. */
export class StorageError extends ChromaError {
  constructor(code: string, message: string, details: JsonObject = {}, cause?: unknown, traits: Traits = {}) {
    super(code, message, details, cause, { kind: 'broken', ...traits })
  }
}

/**
 * Error: the database refused an access; details.retryable, details.attempts; details.reason `store_corrupt` where the store is damaged.
 */
export class DatabaseError extends StorageError {
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

/** Error: a plug-in cannot be registered, or did something that it may not do. */
export class PluginError extends ChromaError {}

/** Error: a plug-in that another needs is missing or too old. */
export class StartupError extends PluginError {}

/** Error: a setting is wrong; details.key, details.value. */
export class ConfigurationError extends ChromaError {}

/** Makes the most common error: a parameter has a wrong value. */
export function invalidParameter(parameter: string, value: unknown, expected: string): ValidationError {
  const shown = show(value)
  return new ValidationError('invalid_parameter', `${parameter}: expected ${expected}, got ${shown}`, {
    parameter,
    value: shown,
    expected,
  })
}

/** Parameters that are lists whose items are checked one by one: the name of an item in messages, and the detail that has its position. */
const LISTS: Readonly<Record<string, { readonly item: string; readonly detail: string }>> = {
  queries: { item: 'query', detail: 'batch_index' },
  assignments: { item: 'assignments', detail: 'index' },
  nodes: { item: 'node', detail: 'index' },
}
/** Parameters whose members are named in errors; for other parameters the error names the whole parameter. */
const DEEP: ReadonlySet<unknown> = new Set(['metadata_filters', 'plugin_fields'])
const STATE: ReadonlySet<unknown> = new Set([
  ...['created_at', 'last_accessed', 'strength_raw', 'decay_health', 'ascension', 'rotten', 'access_count'],
  ...['version', 'mode_name'],
])

/** Translates faults of a schema into the lens's error that callers know. Only the first fault is reported. */
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
  // A position inside a list of a filter condition is left out of the name: the error names the condition.
  const named = DEEP.has(name) ? inner.slice(0, 2).filter((key, at) => at === 0 || typeof key === 'string') : []
  return invalidParameter([name, ...named].join('.'), value, expected)
}

/** Error `invalid_state`: a value that no stored node can have. */
export function invalidState(field: string, { value, expected }: Pick<Fault, 'value' | 'expected'>): ValidationError {
  const shown = typeof value === 'string' ? value.slice(0, 80) : String(value)
  const details = { field, value: shown, expected }
  return new ValidationError('invalid_state', `${field}: expected ${expected}, got ${shown}`, details)
}

/**
 * Adds the place in a list or a file where an error arose to its message and details. Changes the error object itself, which was just
 * thrown, so that it keeps its class.
 */
export function placed<E>(error: E, place: string, details: JsonObject): E {
  if (!(error instanceof ChromaError)) return error
  Object.defineProperty(error, 'message', { value: `${place}: ${error.message}` })
  Object.defineProperty(error, 'details', { value: { ...error.details, ...details } })
  return error
}

/** Message of a value that a plug-in's hook threw, which may be of any type. */
export function reasonOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown)
}

/** A short text for any value in messages: not every value that a caller can pass is JSON. */
export function show(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'bigint') return String(value)
  let text: string | undefined
  try {
    text = JSON.stringify(value)
  } catch {
    // Values that are circular or contain a bigint cannot be JSON: below, they are described by their type.
  }
  text ??= typeof value
  return text.length > 80 ? `${text.slice(0, 79).toWellFormed()}…` : text
}

// The lens's library takes names in camelCase, HTTP and other interfaces in snake_case (CQ-001); one schema checks both.

/**
 * Checks a camelCase object of a library caller by the snake_case schema. Throws `invalid_parameter`: unknown names as the caller wrote
 * them (CQ-006), others in snake_case. `what`: the name of the argument in the error where it is no object.
 */
export function checkCamel<T extends z.ZodObject>(schema: T, given: unknown, what: string): CamelCased<z.output<T>> {
  return camelCased(checkToWire(schema, given, what)) as CamelCased<z.output<T>>
}

/** As `checkCamel`, but the result has snake_case names. */
export function checkToWire<T extends z.ZodObject>(schema: T, given: unknown, what: string): z.output<T> {
  if (!isPlainObject(given)) throw invalidParameter(what, given, 'an object')
  const known = Object.keys(schema.shape)
  const wire = Object.entries(given).map(([name, value]) => {
    const snake = snakeName(name)
    if (known.includes(snake) && !name.includes('_')) return [snake, value] as const
    throw invalidParameter(name, value, `one of the options ${known.map(camelName).join(', ')}`)
  })
  return parseWith(schema, Object.fromEntries(wire), invalidInput)
}

/** Checks one argument of the library by its schema. Throws `invalid_parameter` with the parameter's snake_case name. */
export function checkArgument<T extends z.ZodType>(name: string, schema: T, value: unknown): z.output<T> {
  const named = (fault: Fault): Fault =>
    typeof fault.path[0] === 'string' ? fault : { ...fault, path: [name, ...fault.path] }
  return parseWith(schema, value, faults => invalidInput(faults.map(named)))
}

/** Whether the value is a plain object of this JavaScript realm, as JSON makes it, without methods or a class. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false
  const prototype = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype
}

// Database errors (CQ-106): work that met a busy store is tried again, and a remaining failure is reported as a DatabaseError.

/** Waits before the second to the fifth attempt, in ms. */
const WAITS: readonly number[] = [50, 100, 200, 400]

/** Error codes of the store that concern its file, not the request. */
const FAILURES: readonly string[] = ['store_readonly', 'store_corrupt', 'io_failed', 'internal']

/** Runs the work, and runs it again while the store is busy. `work` must have no effect when it throws. */
export async function retrying<T>(work: () => T | Promise<T>, sleep: Sleep): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof QuerentError) || error instanceof ChromaError) throw error
      const wait = WAITS[attempt - 1]
      if (error.kind === 'busy' && wait !== undefined) await sleep(wait)
      else throw asDatabaseError(error, attempt)
    }
  }
}

/**
 * As `retrying`, for work that writes synchronously: it first waits for a long write of this process, so that the long write is not forced
 * to finish in one piece.
 */
export async function retryingWrite<T>(
  work: () => T | Promise<T>,
  { host: { store }, sleep }: { readonly host: Pick<LensHost, 'store'>; readonly sleep: Sleep },
): Promise<T> {
  for (let busy = store.whenFree(); busy !== null; busy = store.whenFree()) await busy
  return retrying(work, sleep)
}

/** An error of the store as a `DatabaseError`; any other error unchanged. */
export function asDatabaseError(error: unknown, attempts: number): unknown {
  if (!(error instanceof QuerentError) || error instanceof ChromaError) return error
  if (error.kind === 'busy') return new DatabaseError(error.message, { retryable: true, attempts }, error)
  if (!FAILURES.includes(error.code)) return error
  const reason = error.code === 'store_corrupt' ? { reason: error.code } : {}
  return new DatabaseError(error.message, { retryable: false, attempts, ...reason }, error)
}

/** Timers on machine time for waits and delays: the engine's clock, which gives meaning to times, is not used for them. */

export type Sleep = (ms: number) => Promise<void>

export const sleepFor: Sleep = ms => new Promise(resolve => setTimeout(resolve, ms))

/** Calls `run` once after `ms` milliseconds; the returned function cancels the call. */
export type Timer = (run: () => void, ms: number) => () => void

/** The timer does not keep the process alive. */
export const machineTimer: Timer = (run, ms) => {
  const timeout = setTimeout(run, ms).unref()
  return () => clearTimeout(timeout)
}
