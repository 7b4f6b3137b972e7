/** Inputs made from a JSON Schema: mostly as it wants them. What it leaves open is filled with values seen elsewhere. */
import type { Json, JsonObject } from '../../../src/base/canonical.ts'
import type { Chance } from './chance.ts'
import { anyValue, isObject } from './json-kind.ts'

/** Values by the name of the field that they were found under. */
export type FieldValues = ReadonlyMap<string, readonly Json[]>

export function fieldValues(from: readonly Json[]): FieldValues {
  const found = new Map<string, Json[]>()
  const visit = (value: Json): void => {
    if (Array.isArray(value)) value.forEach(visit)
    if (!isObject(value)) return
    for (const [name, inner] of Object.entries(value)) {
      found.set(name, [...(found.get(name) ?? []), inner])
      visit(inner)
    }
  }
  from.forEach(visit)
  return found
}

export function fromSchema(schema: Json | undefined, chance: Chance, known: FieldValues, name = ''): Json {
  const seen = known.get(name) ?? []
  if (seen.length > 0 && !chance.oneIn(3)) return chance.pick(seen)
  if (!isObject(schema) || chance.oneIn(30)) return anyValue(chance)
  const { anyOf, enum: values, type } = schema
  if (Array.isArray(values)) return chance.pick(values)
  if (Array.isArray(anyOf)) return fromSchema(chance.pick(anyOf), chance, known, name)
  switch (Array.isArray(type) ? chance.pick(type) : type) {
    case 'object':
      return objectOf(schema, chance, known)
    case 'array':
      return Array.from({ length: chance.below(4) }, () => fromSchema(schema['items'], chance, known, name))
    case 'string':
      return chance.pick(['a', 'fox', 'quick fox', 'x'.repeat(201), '2026-01-01', 'b1', ''])
    case 'integer':
    case 'number':
      return numberOf(schema, chance, type === 'number')
    case 'boolean':
      return chance.oneIn(2)
    case 'null':
      return null
    default:
      return anyValue(chance)
  }
}

function objectOf(schema: JsonObject, chance: Chance, known: FieldValues): Json {
  const { properties, required } = schema
  if (!isObject(properties)) return {}
  const needed = Array.isArray(required) ? required : []
  const chosen = Object.entries(properties).filter(([name]) => needed.includes(name) || chance.oneIn(3))
  return Object.fromEntries(chosen.map(([name, inner]) => [name, fromSchema(inner, chance, known, name)]))
}

function numberOf({ minimum, maximum }: JsonObject, chance: Chance, isReal: boolean): number {
  const [least, most] = [minimum ?? 0, maximum ?? 100].map(Number) as [number, number]
  const edges = [least, most, least - 1, most + 1, least + 1]
  const between = least + chance.below(Math.min(1000, Math.max(1, most - least)))
  return chance.oneIn(2) ? chance.pick(edges) : between + (isReal ? chance.below(100) / 100 : 0)
}
