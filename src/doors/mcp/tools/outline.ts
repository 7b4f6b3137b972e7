/** A shorter JSON Schema that allows all the full one does: what agents read before every task must not cost much. */
import type { Json, JsonObject } from '../../../base/canonical.ts'

/**
 * The outline of an object's schema, `depth` objects deep; what lies deeper is named by its type. `paths` are the fields
 * to show, as `field` or `field.inner` (a field without inner paths is shown whole); absent: all.
 */
export function outline(schema: JsonObject, depth: number, paths?: readonly string[]): JsonObject {
  return { ...shorten(schema, depth, paths), type: 'object' }
}

/**
 * An answer's top-level fields, or those of them named in `shows`. `trace` comes only on request, and no tool shows the field that requests it. Lists of objects
 * are lists: the outline ends there.
 */
export function answerOutline(schema: JsonObject, shows?: readonly string[]): JsonObject {
  const short = outline(schema, 1, shows)
  if (!isObject(short['properties'])) return short
  const { trace: _, ...properties } = short['properties']
  const shown = Object.entries(properties).map(([name, of]) => {
    const isListOfObjects = isObject(of) && isObject(of['items']) && of['items']['type'] === 'object'
    return [name, isListOfObjects ? { type: 'array' } : of] as const
  })
  return { ...short, properties: Object.fromEntries(shown) }
}

/** The same for what is sent to us: says that no other field is allowed. */
export function closedOutline(schema: JsonObject, depth: number, paths?: readonly string[]): JsonObject {
  return { ...outline(schema, depth, paths), additionalProperties: false }
}

function shorten(schema: JsonObject, depth: number, paths: readonly string[] | undefined): JsonObject {
  const { type, enum: values, minimum, maximum, anyOf, items } = schema
  if (values !== undefined) return { enum: values }
  // Alternatives beside properties are conditions on them.
  if (isObject(schema['properties'])) return shortenObject(schema, schema['properties'], depth, paths)
  if (Array.isArray(anyOf)) return either(anyOf as readonly JsonObject[], depth, paths)
  if (type === 'array') return isObject(items) ? { type, items: shorten(items, depth, paths) } : { type }
  if (type === undefined) return {}
  return { type, ...limit('minimum', minimum), ...limit('maximum', maximum) }
}

function shortenObject(
  schema: JsonObject,
  properties: JsonObject,
  depth: number,
  paths: readonly string[] | undefined,
): JsonObject {
  if (depth === 0) return { type: 'object' }
  const shown = Object.entries(properties).filter(([name]) => paths?.some(path => headOf(path) === name) ?? true)
  const inner = (name: string): readonly string[] | undefined => {
    const below = paths?.filter(path => path.startsWith(`${name}.`)).map(path => path.slice(name.length + 1))
    return below?.length === 0 ? undefined : below
  }
  const { required } = schema
  const needed = Array.isArray(required) ? required.filter(name => shown.some(([field]) => field === name)) : []
  return {
    type: 'object',
    properties: Object.fromEntries(
      shown.map(([name, of]) => [name, shorten(of as JsonObject, depth - 1, inner(name))]),
    ),
    ...(needed.length > 0 && { required: needed }),
  }
}

/**
 * Alternatives of plain types are one list of types. Others may be anything, as far as an outline says, unless fields of one
 * of them are to be shown.
 */
function either(branches: readonly JsonObject[], depth: number, paths: readonly string[] | undefined): JsonObject {
  const values = branches.flatMap(({ enum: listed, type }) =>
    type === 'null' ? [null] : ((listed ?? []) as readonly Json[]),
  )
  if (branches.every(({ enum: listed, type }) => listed !== undefined || type === 'null')) return { enum: values }
  const types = branches.flatMap(({ type, properties }) => (typeof type === 'string' && !properties ? [type] : []))
  if (types.length === branches.length) return { type: [...new Set(types)] }
  if (paths === undefined) return {}
  return {
    anyOf: branches.map(branch => (branch['type'] === 'array' ? { type: 'array' } : shorten(branch, depth, paths))),
  }
}

/** Bounds that only say "a safe integer" say nothing. */
function limit(name: string, value: Json | undefined): JsonObject {
  return typeof value === 'number' && Math.abs(value) < Number.MAX_SAFE_INTEGER ? { [name]: value } : {}
}

function headOf(path: string): string {
  return path.split('.', 1)[0] ?? path
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
