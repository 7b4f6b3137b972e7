/** Objects by name, as JSON has them: no list, not null. */
import type { Json, JsonObject } from './canonical.ts'

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A copy with the value at this path; what is no object on the way becomes one. */
export function withValue(object: JsonObject, [first, ...rest]: readonly string[], value: Json): JsonObject {
  const name = first as string
  const below = object[name]
  return {
    ...object,
    [name]: rest.length === 0 ? value : withValue(isRecord(below) ? (below as JsonObject) : {}, rest, value),
  }
}
