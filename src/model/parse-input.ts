/** Checks untrusted input against a schema, once, at the interface; code behind the interface trusts the result. */
import { z } from 'zod'
import type { Json, JsonObject } from '../base/canonical.ts'
import { nearNames } from '../base/near-names.ts'
import { invalidArgument, QuerentError } from './errors.ts'
import { MAX_DEPTH } from './limits.ts'

/** A fault found in a value by its schema, in a form from which every contract can make its own error. */
export interface Fault {
  /** Keys and positions that lead from the checked value to the faulty part; empty: the value itself is faulty. */
  readonly path: readonly (string | number)[]
  /**
   * Kind of fault. `unknown`: there is no such field. `missing`: the field is required and undefined. `invalid`: the value does not fit the
   * schema.
   */
  readonly kind: 'unknown' | 'missing' | 'invalid'
  readonly value: unknown
  /** What the schema expects of the value, in words, such as `at least 1`. */
  readonly expected: string
  /** The fault as the library zod reports it; for a union, the issue of the alternative that was meant. */
  readonly issue: z.core.$ZodIssue
}

/**
 * Returns the value as parsed by the schema. Throws `unknown_field` for a field that the schema does not have (nothing is silently
 * ignored), else `invalid_argument` for the first wrong value; `details.field` is its path. `root`: where the value comes from, if it is
 * not the input of a call (a file, a line, a setting), for the message. The error's `cause` is the ZodError with all faults.
 */
export function parseInput<T extends z.ZodType>(schema: T, value: unknown, root?: string): z.output<T> {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const faults = result.error.issues.flatMap(issue => faultsOf(issue, value))
  // An unknown field is reported before a missing one, because a missing field is often present under a wrong name.
  const [first] = faults
  const fault = first?.kind === 'missing' ? (faults.find(({ kind }) => kind === 'unknown') ?? first) : first
  const error = refused(fault as Fault, schema, root)
  throw error.retold(error.message, error.details, result.error)
}

/** Returns the value as parsed by the schema. If it has faults, throws the error that `toError` makes of them. */
export function parseWith<T extends z.ZodType>(
  schema: T,
  value: unknown,
  toError: (faults: readonly Fault[]) => Error,
): z.output<T> {
  const { data, faults } = check(schema, value)
  if (faults.length > 0) throw toError(faults)
  return data as z.output<T>
}

/** Parses a value by a schema; returns the parsed value, or all faults. */
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

/**
 * If exactly one alternative of a union accepts the type of the value, the issue of that alternative; otherwise the issue of the union as a
 * whole.
 */
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

/**
 * Error `unknown_field`, which suggests the fields that may have been meant: a field of the same name elsewhere in the input, or one with a
 * similar spelling.
 */
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
/** Depth of nested objects and lists to which fields are suggested. */
const MAX_LOOKED_INTO = 3

/** Paths of all fields that a JSON Schema has, outermost fields first. */
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
      // Where a field tells the union's alternatives apart, that field's allowed values are listed.
      if ('options' in issue) return `one of ${(issue.options as readonly unknown[]).map(String).join(', ')}`
      return alternatives(issue.errors) ?? issue.message
    default:
      return issue.message
  }
}

/** What the alternatives of a union expect of the value, joined by "or"; undefined: no alternative concerns the value itself. */
function alternatives(branches: readonly (readonly z.core.$ZodIssue[])[]): string | undefined {
  const said = branches.flatMap(([issue]) => (issue === undefined || issue.path.length > 0 ? [] : expectation(issue)))
  return said.length === 0 ? undefined : [...new Set(said)].join(' or ').replaceAll(' or a value of type ', ' or ')
}

function unit(origin: string, count: number | bigint): string {
  const end = Number(count) === 1 ? '' : 's'
  if (origin === 'string') return ` character${end}`
  return origin === 'array' || origin === 'set' ? ` item${end}` : ''
}

// Schemas for JSON of any shape that comes from outside. Zod's own schema for JSON recurses until the stack overflows, and drops keys named
// `__proto__`.

/** Accepts any JSON object at most MAX_DEPTH levels deep, and returns it unchanged, without copying. */
export const jsonObjectInput: z.ZodType<JsonObject, JsonObject> = z
  .custom<JsonObject>(value => isObject(value) && isJson(value, MAX_DEPTH), {
    error: `a JSON object at most ${MAX_DEPTH} levels deep`,
  })
  .meta({ type: 'object' })

/** Schemas for JSON of any shape in answers, such as metadata that a user or a plug-in stored. */
export const anyJson: z.ZodType<Json> = z.unknown() as unknown as z.ZodType<Json>
export const anyObject: z.ZodType<JsonObject> = z.record(z.string(), anyJson)

/**
 * Schema of a record with checked values. It refuses the key `__proto__`, because zod would silently drop that key and the condition under
 * it, and the answer would be wrong.
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
