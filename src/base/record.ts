/** A JSON object: neither an array nor null. */
import type { Json, JsonObject } from './canonical.ts'

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A copy of the object with `value` at this path of keys; anything on the path that is not an object is replaced by one. */
export function withValue(object: JsonObject, [first, ...rest]: readonly string[], value: Json): JsonObject {
  const name = first as string
  const below = object[name]
  return {
    ...object,
    [name]: rest.length === 0 ? value : withValue(isRecord(below) ? (below as JsonObject) : {}, rest, value),
  }
}
