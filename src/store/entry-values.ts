/** Metadata as filters see it: one row a scalar, by its path. */
import type { Json, JsonObject } from '../base/canonical.ts'
import type { Scalar } from '../model/filter.ts'

export interface EntryValue {
  /** Keys from the outside in, joined by points, as in the field `metadata.<path>`. */
  readonly path: string
  readonly value: Scalar
}

/** Each pair of path and value once. A key with a point in it cannot be named by a filter and is left out. */
export function entryValues(metadata: JsonObject): readonly EntryValue[] {
  const found = new Map<string, EntryValue>()
  const add = (path: string, value: Json): void => {
    if (value === null || typeof value === 'object') return
    found.set(JSON.stringify([path, value]), { path, value })
  }
  const visit = (object: JsonObject, prefix: string): void => {
    for (const [key, value] of Object.entries(object)) {
      if (key.includes('.')) continue
      const path = `${prefix}${key}`
      if (Array.isArray(value)) for (const item of value as readonly Json[]) add(path, item)
      else if (value !== null && typeof value === 'object') visit(value as JsonObject, `${path}.`)
      else add(path, value)
    }
  }
  visit(metadata, '')
  return [...found.values()]
}
