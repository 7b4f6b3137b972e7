/**
 * A schema for JSON from outside, of any shape. Zod's own walks as deep as a sender wishes, until the stack ends, and
 * leaves out keys named `__proto__`, which are keys like others.
 */
import { z } from 'zod'
import type { Json, JsonObject } from '../base/canonical.ts'
import { MAX_DEPTH } from './limits.ts'

/** Any JSON object at most MAX_DEPTH levels deep. Passed on as it is, not copied. */
export const jsonObjectInput: z.ZodType<JsonObject, JsonObject> = z
  .custom<JsonObject>(value => isObject(value) && isJson(value, MAX_DEPTH), {
    error: `a JSON object at most ${MAX_DEPTH} levels deep`,
  })
  .meta({ type: 'object' })

/** Free JSON in answers: what a user or a plug-in put there. */
export const anyJson: z.ZodType<Json> = z.unknown() as unknown as z.ZodType<Json>
export const anyObject: z.ZodType<JsonObject> = z.record(z.string(), anyJson)

/** A record whose values are checked. Refuses the key `__proto__`, which zod would leave out: a condition lost is a wrong answer. */
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
