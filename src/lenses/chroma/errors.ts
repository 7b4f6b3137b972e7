/**
 * The error classes of the lens `chroma` (CQ-105), which callers catch by `instanceof`, with stable codes. Each is a `QuerentError`, so
 * every interface reports it like other errors; `type` in the reported error is the name of the class.
 */

import type { z } from 'zod'
import type { JsonObject } from '../../base/canonical.ts'
import { type ErrorKind, QuerentError } from '../../model/errors.ts'
import { type Fault, parseWith } from '../../model/parse-input.ts'
import { type CamelCased, camelCased, camelName, snakeName } from '../camel-name.ts'
import type { LensHost } from '../lens.ts'

/** Properties that an error class declares for its errors; a single error may give another `kind` or `retryable`. */
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

/** Error: hashtags or parameters of a call break a rule of the lens. */
export class ValidationError extends ChromaError {}

/**
 * Error `unknown_hashtag`: a hashtag is not assigned to an anchor. details.hashtags: all unassigned hashtags of the call, in their normal
 * form.
 */
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

/** Error: the requested assignment of a hashtag to an anchor contradicts an existing one. */
export class HashtagConflictError extends ValidationError {
  constructor(code: string, message: string, details: JsonObject = {}) {
    super(code, message, details, undefined, {
      kind: 'conflict',
      help: 'Move a bound hashtag with `querent chroma migrate`.',
    })
  }
}

/** Error: a query cannot be answered although each of its parameters is well formed. */
export class QueryError extends ChromaError {}

/** Error: a query profile could not turn a text into query parameters. */
export class QueryProfileError extends QueryError {}

/** Error: the stored data is inconsistent or could not be written. */
export class StorageError extends ChromaError {
  constructor(code: string, message: string, details: JsonObject = {}, cause?: unknown, traits: Traits = {}) {
    super(code, message, details, cause, { kind: 'broken', ...traits })
  }
}

/**
 * Error: the database refused to read or write. details.retryable, details.attempts (how often it was tried); details.reason is
 * `store_corrupt` where the store is damaged.
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

/** Error: a plug-in cannot be registered, or did something that plug-ins may not do. */
export class PluginError extends ChromaError {}

/** Error: a plug-in that another plug-in needs is missing or too old. */
export class StartupError extends PluginError {}

/** Error: a setting of the lens has a wrong value; details.key, details.value. */
export class ConfigurationError extends ChromaError {}

/** Makes the error `invalid_parameter`: a parameter of a call has a wrong value. */
export function invalidParameter(parameter: string, value: unknown, expected: string): ValidationError {
  const shown = show(value)
  const what = value === undefined ? `missing; expected ${expected}` : `expected ${expected}, got ${shown}`
  return new ValidationError('invalid_parameter', `${parameter}: ${what}`, {
    parameter,
    value: shown,
    expected,
  })
}

/**
 * Parameters that are lists and whose items are checked one by one: how messages call an item, and the key of the error details that holds
 * the item's index.
 */
const LISTS: Readonly<Record<string, { readonly item: string; readonly detail: string }>> = {
  queries: { item: 'query', detail: 'batch_index' },
  assignments: { item: 'assignments', detail: 'index' },
  nodes: { item: 'node', detail: 'index' },
}
/** Parameters for which an error names the faulty member (`metadata_filters.year`); for all others it names only the whole parameter. */
const DEEP: ReadonlySet<unknown> = new Set(['metadata_filters', 'plugin_fields'])
const STATE: ReadonlySet<unknown> = new Set([
  ...['created_at', 'last_accessed', 'strength_raw', 'decay_health', 'ascension', 'rotten', 'access_count'],
  ...['version', 'mode_name'],
])

/** Turns the faults that a schema found into an error of the lens `chroma`. Only the first fault is reported. */
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
  // For a fault inside a list of a filter condition, the error names the condition, not the position in the list.
  const named = DEEP.has(name) ? inner.slice(0, 2).filter((key, at) => at === 0 || typeof key === 'string') : []
  return invalidParameter([name, ...named].join('.'), value, expected)
}

/**
 * Makes the error `invalid_state`: a field of a node (stored note) has a value, or a combination of values, that no stored node can have.
 */
export function invalidState(field: string, { value, expected }: Pick<Fault, 'value' | 'expected'>): ValidationError {
  const shown = typeof value === 'string' ? value.slice(0, 80) : String(value)
  const details = { field, value: shown, expected }
  return new ValidationError('invalid_state', `${field}: expected ${expected}, got ${shown}`, details)
}

/**
 * Adds to an error where it arose (the item of a list, or the line of a file), in its message and details. Changes the given error object,
 * so that the error keeps its class.
 */
export function placed<E>(error: E, place: string, details: JsonObject): E {
  if (!(error instanceof ChromaError)) return error
  Object.defineProperty(error, 'message', { value: `${place}: ${error.message}` })
  Object.defineProperty(error, 'details', { value: { ...error.details, ...details } })
  return error
}

/** Message of a value that a plug-in's hook threw; the value may be of any type, not only an Error. */
export function reasonOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown)
}

/** A short text that shows any value in an error message, also a value that cannot be written as JSON. */
export function show(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'bigint') return String(value)
  let text: string | undefined
  try {
    text = JSON.stringify(value)
  } catch {
    // A circular value or a bigint cannot be written as JSON; it is shown below by its type.
  }
  text ??= typeof value
  return text.length > 80 ? `${text.slice(0, 79).toWellFormed()}…` : text
}

// Checks of names and values of library calls. The library of the lens takes names in camelCase, HTTP and other interfaces in snake_case
// (CQ-001); one schema checks both.

/**
 * Checks an object from a library caller, with camelCase names, by a snake_case schema, and returns it in camelCase. Throws
 * `invalid_parameter`, which gives unknown names as the caller wrote them (CQ-006) and known ones in snake_case. `what`: the argument's
 * name in the error where it is no object.
 */
export function checkCamel<T extends z.ZodObject>(schema: T, given: unknown, what: string): CamelCased<z.output<T>> {
  return camelCased(checkToWire(schema, given, what)) as CamelCased<z.output<T>>
}

/** Checks an object from a library caller, with camelCase names, by a snake_case schema, and returns it with snake_case names. */
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

/** Checks one argument of a library call by its schema. Throws `invalid_parameter` with the parameter's snake_case name. */
export function checkArgument<T extends z.ZodType>(name: string, schema: T, value: unknown): z.output<T> {
  const named = (fault: Fault): Fault =>
    typeof fault.path[0] === 'string' ? fault : { ...fault, path: [name, ...fault.path] }
  return parseWith(schema, value, faults => invalidInput(faults.map(named)))
}

/** Whether a value is a plain object of this JavaScript realm, such as JSON parsing makes, and not an instance of a class. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false
  const prototype = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype
}

// Handling of database errors (CQ-106): work that meets a busy store is run again, and an error that remains is thrown as a DatabaseError.

/** Waits before the second, third, fourth and fifth attempt of work that met a busy store, in ms. */
const WAITS: readonly number[] = [50, 100, 200, 400]

/** Codes of the store's errors that come from its file or disk and not from the request. */
const FAILURES: readonly string[] = ['store_readonly', 'store_corrupt', 'io_failed', 'internal']

/** Runs the work, and runs it again after a wait while the store is busy. `work` must leave no effect when it throws. */
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
 * Runs a synchronous write, and runs it again while the store is busy. It first waits for a long write of this process that pauses between
 * its steps, because a write in between would force that one to finish without pauses.
 */
export async function retryingWrite<T>(
  work: () => T | Promise<T>,
  { host: { store }, sleep }: { readonly host: Pick<LensHost, 'store'>; readonly sleep: Sleep },
): Promise<T> {
  for (let busy = store.whenFree(); busy !== null; busy = store.whenFree()) await busy
  return retrying(work, sleep)
}

/** Turns an error of the store into a `DatabaseError`; returns any other error unchanged. */
export function asDatabaseError(error: unknown, attempts: number): unknown {
  if (!(error instanceof QuerentError) || error instanceof ChromaError) return error
  if (error.kind === 'busy') return new DatabaseError(error.message, { retryable: true, attempts }, error)
  if (!FAILURES.includes(error.code)) return error
  const reason = error.code === 'store_corrupt' ? { reason: error.code } : {}
  return new DatabaseError(error.message, { retryable: false, attempts, ...reason }, error)
}

/** Timers for waits and delays. They use the machine's time, not the engine's clock, which only dates data and can be replaced. */

export type Sleep = (ms: number) => Promise<void>

export const sleepFor: Sleep = ms => new Promise(resolve => setTimeout(resolve, ms))

/** A timer function: calls `run` once after `ms` milliseconds; the function that it returns cancels the call. */
export type Timer = (run: () => void, ms: number) => () => void

/** A timer on machine time that does not keep the process alive. */
export const machineTimer: Timer = (run, ms) => {
  const timeout = setTimeout(run, ms).unref()
  return () => clearTimeout(timeout)
}
