/**
 * The lens on the wire: snake_case in, the same names out (CQ-001). Schemas say what is expected; the values are checked
 * by the API itself, so that every way of calling it gives the same errors.
 */
import { z } from 'zod'
import type { JsonObject } from '../../../base/canonical.ts'
import { invalidParameter } from '../errors.ts'

export type WireInput = Readonly<Record<string, unknown>>
type WireSchema = z.ZodType<WireInput>

/** An object with these fields, each described by a JSON Schema; none is required of a caller by the schema alone. */
export function fields(described: Readonly<Record<string, JsonObject>>, required: readonly string[] = []): WireSchema {
  const shape = Object.fromEntries(
    Object.entries(described).map(([name, schema]) => [name, z.unknown().optional().meta(schema)]),
  )
  const object = z.looseObject(shape)
  return required.length > 0 ? object.meta({ required: [...required] }) : object
}

/** What comes back, described no further than by its names. */
export function answers(described: Readonly<Record<string, JsonObject>>): z.ZodType<object> {
  const shape = Object.fromEntries(Object.entries(described).map(([name, schema]) => [name, z.unknown().meta(schema)]))
  return z.looseObject(shape)
}

/** `max_distance` to `maxDistance`, of the top level only. Throws as `only` does, so that a misspelling is told as written. */
export function camelCased(input: WireInput, known: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(only(input, known)).map(([name, value]) => [camel(name), value]))
}

/** Throws `invalid_parameter` for fields of another operation, or of none. */
export function only(input: WireInput, known: readonly string[]): WireInput {
  for (const name of Object.keys(input)) {
    if (!known.includes(name))
      throw invalidParameter(
        name,
        input[name],
        known.length === 0 ? 'no fields' : `one of the fields ${known.join(', ')}`,
      )
  }
  return input
}

function camel(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

export const TEXT: JsonObject = { type: 'string' }
export const NUMBER: JsonObject = { type: 'number' }
export const INTEGER: JsonObject = { type: 'integer' }
export const FLAG: JsonObject = { type: 'boolean' }
export const OBJECT: JsonObject = { type: 'object' }
export const OBJECTS: JsonObject = { type: 'array', items: { type: 'object' } }
export const TAGS: JsonObject = {
  type: 'array',
  items: { type: 'string' },
  description: 'Assigned hashtags: at least 8, of them 1 Core, 1 Outer and 65 % Mid',
}
export const ZONE: JsonObject = { type: 'string', enum: ['Core', 'Mid', 'Outer'] }

export function described(schema: JsonObject, description: string): JsonObject {
  return { ...schema, description }
}
