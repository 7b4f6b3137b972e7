/**
 * Schemas of operations whose input a lens checks itself, so that every way of calling it gives the same errors: they say
 * what is expected, and let everything through.
 */
import { z } from 'zod'
import type { JsonObject } from '../base/canonical.ts'

/** An object with these fields, each described by a JSON Schema, for lenses that say themselves what is wrong with input. */
export function anything(described: Readonly<Record<string, JsonObject>>, required: readonly string[] = []): z.ZodType {
  return z.unknown().meta({ type: 'object', properties: { ...described }, required: [...required] })
}

/** What comes back, described no further than by its names; `sometimes`: members that an answer may be without. */
export function answers(
  always: Readonly<Record<string, JsonObject>>,
  sometimes: Readonly<Record<string, JsonObject>> = {},
): z.ZodType<object> {
  const there = Object.entries(always).map(([name, schema]) => [name, z.unknown().meta(schema)] as const)
  const maybe = Object.entries(sometimes).map(([name, schema]) => [name, z.unknown().optional().meta(schema)] as const)
  return z.looseObject(Object.fromEntries<z.ZodType>([...there, ...maybe]))
}

export const TEXT: JsonObject = { type: 'string' }
export const NUMBER: JsonObject = { type: 'number' }
export const INTEGER: JsonObject = { type: 'integer' }
export const FLAG: JsonObject = { type: 'boolean' }
export const OBJECT: JsonObject = { type: 'object' }
export const OBJECTS: JsonObject = { type: 'array', items: { type: 'object' } }
export const TEXT_OR_NULL: JsonObject = { type: ['string', 'null'] }
export const OBJECT_OR_NULL: JsonObject = { type: ['object', 'null'] }

export function described(schema: JsonObject, description: string): JsonObject {
  return { ...schema, description }
}
