/** Checks untrusted input against a schema, once, at the interface; the result is trusted inside. */
import { z } from 'zod'
import type { Json, JsonObject } from '../base/canonical.ts'
import { nearNames } from '../base/near-names.ts'
import { invalidArgument, QuerentError } from './errors.ts'
import { MAX_DEPTH } from './limits.ts'

/** A fault of a value, for the contract that reports it. */
export interface Fault {
  /** Keys and positions that lead from the checked value to the fault; empty: the value itself. */
  readonly path: readonly (string | number)[]
  /**
   * Kind of fault. `unknown`: there is no such field. `missing`: the field is required and undefined. `invalid`: the value does not fit the
   * schema.
   */
  readonly kind: 'unknown' | 'missing' | 'invalid'
  readonly value: unknown
  /** The expected value in words: `at least 1`. */
  readonly expected: string
  /** The fault as zod reports it; for a union, the issue of the branch that was meant. */
  readonly issue: z.core.$ZodIssue
}

/**
 * The checked value. Throws `unknown_field` for a field that is not defined (nothing is silently ignored) and `invalid_argument` for the
 * first wrong value; `details.field` is its path. `root`, where the value is not the input of a call, says where it is (a file, a line of
 * it, a setting), also in the message. `cause` is the ZodError with all faults, for operations that report all of them.
 */
export function parseInput<T extends z.ZodType>(schema: T, value: unknown, root?: string): z.output<T> {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const faults = result.error.issues.flatMap(issue => faultsOf(issue, value))
  // A missing field is often present under a wrong name, so an unknown field is reported first.
  const [first] = faults
  const fault = first?.kind === 'missing' ? (faults.find(({ kind }) => kind === 'unknown') ?? first) : first
  const error = refused(fault as Fault, schema, root)
  throw error.retold(error.message, error.details, result.error)
}

/** The checked value. Throws the error that `toError` makes of the faults, of which there is at least one. */
export function parseWith<T extends z.ZodType>(
  schema: T,
  value: unknown,
  toError: (faults: readonly Fault[]) => Error,
): z.output<T> {
  const { data, faults } = check(schema, value)
  if (faults.length > 0) throw toError(faults)
  return data as z.output<T>
}

/** The value as parsed by the schema, or all its faults. */
export function check<T extends z.ZodType>(
  schema: T,
  value: unknown,
): { readonly data?: z.output<T>; readonly faults: readonly Fault[] } {
  const result = schema.safeParse(value)
  if (result.success) return { data: result.data, faults: [] }
  return { faults: result.error.issues.flatMap(issue => faultsOf(issue, value)) }
}

function faultsOf(raw: z.core.$ZodIssue, value: unknown): Fault[] {
  const issue = meant(raw)
  const path = issue.path.map(key => (typeof key === 'number' ? key : String(key)))
  const at = (keys: readonly (string | number)[]) =>
    keys.reduce<unknown>((found, key) => (found as Record<string, unknown> | null | undefined)?.[key], value)
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map(key => {
      const to = [...path, key]
      return { path: to, kind: 'unknown', value: at(to), expected: 'no such field', issue }
    })
  }
  const found = at(path)
  return [
    { path, kind: found === undefined ? 'missing' : 'invalid', value: found, expected: expectation(issue), issue },
  ]
}

/** The issue of a union's only branch that accepts the type of the value, where all other branches refuse it. */
function meant(issue: z.core.$ZodIssue): z.core.$ZodIssue {
  if (issue.code !== 'invalid_union') return issue
  const inner = issue.errors.filter(([first]) => first !== undefined && !isOfKind(first))
  const [branch] = inner
  if (inner.length !== 1 || branch?.[0] === undefined) return issue
  const found = meant(branch[0])
  return { ...found, path: [...issue.path, ...found.path] }
}

function isOfKind(issue: z.core.$ZodIssue): boolean {
  if (issue.path.length > 0) return false
  if (issue.code === 'invalid_union') return issue.errors.every(([first]) => first !== undefined && isOfKind(first))
  return issue.code === 'invalid_type' || issue.code === 'invalid_value'
}

function refused({ path, kind, value, expected }: Fault, schema: z.ZodType, root: string | undefined): QuerentError {
  const field = path.join('.')
  if (kind === 'unknown') return placed(unknownField(schema, path), root)
  if (path.length === 0) return invalidArgument(root ?? 'input', value, expected)
  return placed(invalidArgument(field, value, expected), root)
}

/** Error `unknown_field`, with the fields that may have been meant: the same name elsewhere in the input, or a similar spelling. */
export function unknownField(schema: z.ZodType, path: readonly (string | number)[]): QuerentError {
  const field = path.join('.')
  const all = fieldsOf(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', metadata: z.registry() }), '')
  const name = String(path.at(-1))
  const above = path.filter(key => typeof key === 'string').slice(0, -1)
  const within = above.length === 0 ? '' : `${above.join('.')}.`
  const beside = all.filter(one => one.startsWith(within) && !one.slice(within.length).includes('.'))
  const known = beside.map(one => one.slice(within.length))
  const elsewhere = all.filter(one => one.endsWith(`.${name}`)).slice(0, MAX_NEAR)
  const near = elsewhere.length > 0 ? elsewhere : nearNames(name, known)
  const advice = near.length > 0 ? `did you mean ${near.join(' or ')}?` : `there are ${known.join(', ') || 'none'}`
  return new QuerentError('unknown_field', `${field}: there is no such field; ${advice}`, {
    field,
    near: [...near],
    known,
  })
}

const MAX_NEAR = 3
/** Levels of objects and lists in which fields are suggested. */
const MAX_LOOKED_INTO = 3

/** Paths of all fields of a schema, outermost first. */
function fieldsOf(schema: z.core.JSONSchema._JSONSchema, path: string, depth = 0): readonly string[] {
  if (typeof schema === 'boolean' || depth > MAX_LOOKED_INTO) return []
  const { properties = {}, items, anyOf = [] } = schema
  const own = Object.keys(properties).map(name => (path === '' ? name : `${path}.${name}`))
  const below = Object.values(properties).flatMap((inner, at) => fieldsOf(inner, own[at] as string, depth + 1))
  const listed = items === undefined || Array.isArray(items) ? [] : fieldsOf(items, path, depth)
  return [...new Set([...own, ...below, ...listed, ...anyOf.flatMap(branch => fieldsOf(branch, path, depth))])]
}

function placed(error: QuerentError, root: string | undefined): QuerentError {
  return root === undefined ? error : error.retold(`${root}: ${error.message}`)
}

function expectation(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `a value of type ${issue.expected}`
    case 'too_small':
      return `at least ${issue.minimum}${unit(issue.origin, issue.minimum)}`
    case 'too_big':
      return `at most ${issue.maximum}${unit(issue.origin, issue.maximum)}`
    case 'invalid_value':
      return `one of ${issue.values.map(String).join(', ')}`
    case 'invalid_union':
      // By the field that tells the branches apart.
      if ('options' in issue) return `one of ${(issue.options as readonly unknown[]).map(String).join(', ')}`
      return alternatives(issue.errors) ?? issue.message
    default:
      return issue.message
  }
}

/** What each branch of a union expects of the value. */
function alternatives(branches: readonly (readonly z.core.$ZodIssue[])[]): string | undefined {
  const said = branches.flatMap(([issue]) => (issue === undefined || issue.path.length > 0 ? [] : expectation(issue)))
  return said.length === 0 ? undefined : [...new Set(said)].join(' or ').replaceAll(' or a value of type ', ' or ')
}

function unit(origin: string, count: number | bigint): string {
  const end = Number(count) === 1 ? '' : 's'
  if (origin === 'string') return ` character${end}`
  return origin === 'array' || origin === 'set' ? ` item${end}` : ''
}

// Schema for JSON of any shape from outside. Zod's own schema recurses without a limit until the stack overflows, and drops keys named
// `__proto__`.

/** Any JSON object at most MAX_DEPTH levels deep. Passed on unchanged, not copied. */
export const jsonObjectInput: z.ZodType<JsonObject, JsonObject> = z
  .custom<JsonObject>(value => isObject(value) && isJson(value, MAX_DEPTH), {
    error: `a JSON object at most ${MAX_DEPTH} levels deep`,
  })
  .meta({ type: 'object' })

/** Arbitrary JSON in answers, which a user or a plug-in stored. */
export const anyJson: z.ZodType<Json> = z.unknown() as unknown as z.ZodType<Json>
export const anyObject: z.ZodType<JsonObject> = z.record(z.string(), anyJson)

/**
 * A record whose values are checked. Refuses the key `__proto__`, which zod would drop: without that condition the answer would be wrong.
 */
export function recordInput<V extends z.ZodType>(
  key: z.ZodString,
  value: V,
): z.ZodPreprocess<z.ZodRecord<z.ZodString, V>> {
  return z.preprocess(
    (given, check) => {
      if (isObject(given) && Object.hasOwn(given, '__proto__')) {
        check.issues.push({ code: 'custom', message: 'keys other than __proto__', input: given })
      }
      return given
    },
    z.record(key, value),
  )
}

function isJson(value: unknown, levels: number): boolean {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true
  if (typeof value === 'number') return Number.isFinite(value)
  if (!Array.isArray(value) && !isObject(value)) return false
  return levels > 0 && Object.values(value).every(item => isJson(item, levels - 1))
}

function isObject(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  const prototype = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
