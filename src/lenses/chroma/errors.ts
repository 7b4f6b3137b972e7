/**
 * The errors of the lens (CQ-105): families that callers catch by `instanceof`, and stable codes. Each is a
 * `QuerentError`, so every interface reports it like any other; `type` on the wire is the class.
 */

import type { z } from 'zod'
import type { JsonObject } from '../../base/canonical.ts'
import { type ErrorKind, QuerentError } from '../../model/errors.ts'
import { type Fault, parseWith } from '../../model/parse-input.ts'
import { type CamelCased, camelCased, camelName, snakeName } from '../camel-name.ts'
import type { LensHost } from '../lens.ts'

/** What a family can say of itself; a single error may differ in `kind` and `retryable`. */
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

/** Hashtags or parameters break a rule. */
export class ValidationError extends ChromaError {}

/** `unknown_hashtag`; details.hashtags: every tag that has no anchor, normalised. */
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

/** The binding asked for contradicts one there is. */
export class HashtagConflictError extends ValidationError {
  constructor(code: string, message: string, details: JsonObject = {}) {
    super(code, message, details, undefined, {
      kind: 'conflict',
      help: 'Move a bound hashtag with `querent chroma migrate`.',
    })
  }
}

/** A query that cannot be answered although its values are well formed. */
export class QueryError extends ChromaError {}

/** A query profile could not make parameters of the text. */
export class QueryProfileError extends QueryError {}

/** The stored state is wrong or could not be written. */
export class StorageError extends ChromaError {
  constructor(code: string, message: string, details: JsonObject = {}, cause?: unknown, traits: Traits = {}) {
    super(code, message, details, cause, { kind: 'broken', ...traits })
  }
}

/** The database refused; details.retryable, details.attempts; details.reason `store_corrupt` where it is damaged. */
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

/** A plug-in cannot be registered, or did what it may not. */
export class PluginError extends ChromaError {}

/** A plug-in that another needs is missing or too old. */
export class StartupError extends PluginError {}

/** A setting is wrong; details.key, details.value. */
export class ConfigurationError extends ChromaError {}

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
  // A position in a list of a condition is not named: the condition is at fault.
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

// The lens's own API takes in camelCase what the wire has in snake_case (CQ-001): one schema checks both.

/**
 * What a caller of the API gave, checked by the schema of the wire. Throws `invalid_parameter`: unknown names as they are
 * written (CQ-006), others in snake_case. `what`: what it is called where it is no object.
 */
export function checkCamel<T extends z.ZodObject>(schema: T, given: unknown, what: string): CamelCased<z.output<T>> {
  return camelCased(checkToWire(schema, given, what)) as CamelCased<z.output<T>>
}

/** As `checkCamel`, by the names of the wire. */
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

/** One argument of the API by its schema. Throws `invalid_parameter` with the parameter's name on the wire. */
export function checkArgument<T extends z.ZodType>(name: string, schema: T, value: unknown): z.output<T> {
  const named = (fault: Fault): Fault =>
    typeof fault.path[0] === 'string' ? fault : { ...fault, path: [name, ...fault.path] }
  return parseWith(schema, value, faults => invalidInput(faults.map(named)))
}

/** A plain object of this realm: what JSON makes of `{…}`, and nothing that brings behaviour with it. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false
  const prototype = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype
}

// Database trouble (CQ-106): work that met a busy store is tried again, and what remains is reported as a DatabaseError.

/** Before the second to the fifth attempt, ms. */
const WAITS: readonly number[] = [50, 100, 200, 400]

/** Codes of a store about its file, not about the request. */
const FAILURES: readonly string[] = ['store_readonly', 'store_corrupt', 'io_failed', 'internal']

/** `work` must have no effect when it throws: it is run again. */
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

/** As `retrying`, for work that writes at once: it waits for a long write of this process, so as not to run that to its end in one piece. */
export async function retryingWrite<T>(
  work: () => T | Promise<T>,
  { host: { store }, sleep }: { readonly host: Pick<LensHost, 'store'>; readonly sleep: Sleep },
): Promise<T> {
  for (let busy = store.whenFree(); busy !== null; busy = store.whenFree()) await busy
  return retrying(work, sleep)
}

/** Trouble of the store as a `DatabaseError`; any other error as it is. */
export function asDatabaseError(error: unknown, attempts: number): unknown {
  if (!(error instanceof QuerentError) || error instanceof ChromaError) return error
  if (error.kind === 'busy') return new DatabaseError(error.message, { retryable: true, attempts }, error)
  if (!FAILURES.includes(error.code)) return error
  const reason = error.code === 'store_corrupt' ? { reason: error.code } : {}
  return new DatabaseError(error.message, { retryable: false, attempts, ...reason }, error)
}

/** Machine time for what waits or is put off: it is no matter of the engine's clock. */

export type Sleep = (ms: number) => Promise<void>

export const sleepFor: Sleep = ms => new Promise(resolve => setTimeout(resolve, ms))

/** Calls `run` once after so many ms; what it returns calls that off. */
export type Timer = (run: () => void, ms: number) => () => void

/** Does not keep the process alive. */
export const machineTimer: Timer = (run, ms) => {
  const timeout = setTimeout(run, ms).unref()
  return () => clearTimeout(timeout)
}
