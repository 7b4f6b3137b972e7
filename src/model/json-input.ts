/**
 * A schema for JSON from outside, of any shape. Zod's own walks as deep as a sender wishes, until the stack ends, and
 * leaves out keys named `__proto__`, which are keys like others.
 */
import { z } from 'zod'
import type { JsonObject } from '../base/canonical.ts'
import { MAX_DEPTH } from './limits.ts'

/** Any JSON object at most MAX_DEPTH levels deep. Passed on as it is, not copied. */
export const jsonObjectInput: z.ZodType<JsonObject> = z
  .custom<JsonObject>(value => isObject(value) && isJson(value, MAX_DEPTH), {
    error: `a JSON object at most ${MAX_DEPTH} levels deep`,
  })
  .meta({ type: 'object' })

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
