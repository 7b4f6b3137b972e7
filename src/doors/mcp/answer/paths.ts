/** Values at paths such as `options.limit`, in JSON. */
import type { Json, JsonObject } from '../../../base/canonical.ts'

export function valueAt(object: JsonObject, path: string): Json | undefined {
  let value: Json | undefined = object
  for (const name of path.split('.')) value = isObject(value) ? value[name] : undefined
  return value
}

/** A copy with this value there; objects on the way are made where they are missing. */
export function withValueAt(object: JsonObject, path: string, value: Json): JsonObject {
  const [name = '', ...below] = path.split('.')
  if (below.length === 0) return { ...object, [name]: value }
  const inner = object[name]
  return { ...object, [name]: withValueAt(isObject(inner) ? inner : {}, below.join('.'), value) }
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
