import type { Json } from '../../../base/canonical.ts'

/**
 * A deep copy of JSON data. Properties that are undefined are left out, as JSON does; anything else that is not JSON
 * (NaN, functions, class instances, circles) throws `TypeError` naming its place.
 */
export function copyJson<T>(value: T, place = 'value'): T {
  return copied(value, place, 0) as T
}

/** No data is nested deeper; a circle is. */
const MAX_DEPTH = 200

function copied(value: unknown, place: string, depth: number): Json {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number' && Number.isFinite(value)) return value
  if (depth > MAX_DEPTH) throw new TypeError(`${place}: nested too deeply, or inside itself`)
  if (Array.isArray(value)) return value.map((item, at) => copied(item, `${place}[${at}]`, depth + 1))
  if (!isPlain(value)) throw new TypeError(`${place}: ${typeof value} is not JSON data`)
  const copy: Record<string, Json> = Object.create(null)
  for (const [key, item] of Object.entries(value)) {
    if (item !== undefined) copy[key] = copied(item, `${place}.${key}`, depth + 1)
  }
  // A null prototype while filling keeps a key `__proto__` data; callers get an ordinary object.
  return Object.hasOwn(copy, '__proto__') ? copy : Object.setPrototypeOf(copy, Object.prototype)
}

function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false
  const prototype = Object.getPrototypeOf(value)
  // Objects of another realm (a plug-in in a VM) have an `Object.prototype` of their own.
  return prototype === null || Object.getPrototypeOf(prototype) === null
}
