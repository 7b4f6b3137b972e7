/** A short input to begin with: the first example of the schema, else what it asks for and nothing that may be left out. */
import type { Json, JsonObject } from '../../../base/canonical.ts'
import { isRecord } from '../../../base/record.ts'
import type { Components } from './components.ts'

export function exampleOf(schema: Json | undefined, components: Components): Json {
  const { type, anyOf, oneOf, const: only, examples, enum: values, ...rest } = components.resolve(schema)
  if (Array.isArray(examples) && examples.length > 0) return examples[0] as Json
  if (Array.isArray(values)) return values[0] as Json
  if (only !== undefined) return only
  const choices = anyOf ?? oneOf
  if (Array.isArray(choices) && type === undefined) return exampleOf(choices[0] as Json, components)
  const { default: usual, minimum = 1, minItems = 0 } = rest
  if (usual !== undefined) return usual
  switch (Array.isArray(type) ? type[0] : type) {
    case 'object':
      return objectOf(rest, components)
    case 'array':
      return Number(minItems) > 0 ? [exampleOf(rest['items'], components)] : []
    case 'integer':
    case 'number':
      return Math.max(Number(minimum), 0)
    case 'boolean':
      return false
    case 'string':
      return 'text'
    default:
      return null
  }
}

function objectOf({ properties, required }: JsonObject, components: Components): JsonObject {
  const fields = isRecord(properties) ? (properties as JsonObject) : {}
  const needed = Array.isArray(required) ? (required as readonly string[]) : []
  return Object.fromEntries(needed.map(name => [name, exampleOf(fields[name], components)]))
}
