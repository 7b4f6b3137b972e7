/**
 * The lens on the wire: snake_case in, the same names out (CQ-001). Schemas say what is expected; the values are checked
 * by the API itself, so that every way of calling it gives the same errors.
 */
import type { JsonObject } from '../../../base/canonical.ts'
import type { WireInput } from '../../wire-schema.ts'
import { refuseUnknown } from '../given.ts'

/** `max_distance` to `maxDistance`, of the top level only. Throws as `only` does, so that a misspelling is told as written. */
export function camelCased(input: WireInput, known: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(only(input, known)).map(([name, value]) => [camel(name), value]))
}

/** Throws `invalid_parameter` for fields of another operation, or of none. */
export function only(input: WireInput, known: readonly string[]): WireInput {
  refuseUnknown(input, known, known.length === 0 ? 'no fields' : `one of the fields ${known.join(', ')}`)
  return input
}

function camel(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

export const TAGS: JsonObject = {
  type: 'array',
  items: { type: 'string' },
  description: 'Assigned hashtags: at least 8, of them 1 Core, 1 Outer and 65 % Mid',
}
export const ZONE: JsonObject = { type: 'string', enum: ['Core', 'Mid', 'Outer'] }
