/** Values that a JSON Schema accepts, as far as it says it by itself, and small changes that spoil one. */
import fc from 'fast-check'
import type { JsonObject } from '../../src/base/canonical.ts'
import { isRecord } from '../../src/base/record.ts'

type Value = fc.Arbitrary<unknown>

/** Items of a list, and entries of a record. */
const MAX_ITEMS = 3

/** Rules between fields (`oneOf`, `dependentRequired` beside `properties`) are left to a filter by a validator. */
export function arbitraryOf(schema: JsonObject): Value {
  const { type, enum: values, const: only, properties } = schema
  if (isRecord(properties)) return objectOf(schema, properties as JsonObject)
  const choices = schema['anyOf'] ?? schema['oneOf']
  if (Array.isArray(choices)) return fc.oneof(...choices.map(choice => arbitraryOf(choice as JsonObject)))
  if (Array.isArray(values)) return fc.constantFrom(...values)
  if (only !== undefined) return fc.constant(only)
  if (Array.isArray(type)) return fc.oneof(...type.map(one => arbitraryOf({ ...schema, type: one })))
  switch (type) {
    case 'string':
      return textOf(schema)
    case 'integer':
      return fc.integer(rangeOf(schema))
    case 'number':
      // One decimal: bounds are met exactly.
      return fc.integer(rangeOf(schema, 10)).map(tenths => tenths / 10)
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    case 'array':
      return fc.array(arbitraryOf((schema['items'] ?? {}) as JsonObject), {
        minLength: Number(schema['minItems'] ?? 0),
        maxLength: MAX_ITEMS,
      })
    case 'object':
      return recordOf(schema)
    default:
      return fc.jsonValue({ maxDepth: 1 })
  }
}

function objectOf({ required }: JsonObject, properties: JsonObject): Value {
  const needed = new Set(Array.isArray(required) ? required : [])
  const fields = Object.entries(properties).map(([name, field]) => {
    const value = arbitraryOf(field as JsonObject)
    // Few optional fields at once: rules between them fail less often.
    return [name, needed.has(name) ? value : fc.option(value, { nil: undefined, freq: 2 })] as const
  })
  return fc.record(Object.fromEntries(fields)).map(given => {
    return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
  })
}

function recordOf({ additionalProperties, propertyNames }: JsonObject): Value {
  if (!isRecord(additionalProperties)) return fc.constant({})
  const names = isRecord(propertyNames)
    ? arbitraryOf({ type: 'string', ...(propertyNames as JsonObject) })
    : fc.string()
  const value = arbitraryOf(additionalProperties as JsonObject)
  return fc.dictionary(names as fc.Arbitrary<string>, value, { maxKeys: MAX_ITEMS, noNullPrototype: true })
}

const WORDS = fc
  .array(fc.constantFrom('bees', 'dance', 'é', '🐝', 'x1', 'Über', '日本'), { minLength: 1, maxLength: 4 })
  .map(words => ['fox', ...words].join(' '))
const TIMES = fc
  .date({ min: new Date('1970-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
  .map(date => date.toISOString())
const KEYS = fc.constantFrom(
  'did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',
  'did:key:z6MkpTHR8VNsBxYAAWHut2Geadd9jSwuBV8xRoAnwWsdvktH',
)

/** Values for patterns that say less than is meant, or that no generator reads. */
const KNOWN: readonly (readonly [RegExp, fc.Arbitrary<string>])[] = [
  [/T\\d\\d/, TIMES],
  [/did:key/, KEYS],
  [/\\p\{C/, fc.constantFrom('lab', 'node-1', 'Über')],
  [/ud800/, WORDS],
  [/^\^\(\?!\[A-Za-z\]/, fc.constantFrom('notes.md', '/srv/notes', 'a b')],
  [/tT\]\[pP/, fc.constantFrom('https://node.example:7411', 'http://127.0.0.1:80/')],
]

function textOf({ pattern, format, minLength = 0, maxLength }: JsonObject): Value {
  if (format === 'date-time') return TIMES
  if (typeof pattern !== 'string')
    return fc
      .oneof(WORDS, ...(minLength === 0 ? [fc.constant('')] : []))
      .filter(text => text.length <= Number(maxLength ?? 99))
  const known = KNOWN.find(([hint]) => hint.test(pattern))
  return known?.[1] ?? fc.stringMatching(new RegExp(pattern))
}

/** Not far from zero where the schema allows anything. */
function rangeOf({ minimum, maximum }: JsonObject, scale = 1): { readonly min: number; readonly max: number } {
  const min = Math.ceil(Math.max(Number(minimum ?? -1_000), -1_000_000) * scale)
  return { min, max: Math.floor(Math.min(Number(maximum ?? 1_000), 1_000_000) * scale) }
}

/** The value with one thing changed: a field more or less, or a value of another type or far out of range. */
export function mutationsOf(value: unknown): Value {
  const places = placesIn(value)
  return fc.tuple(fc.constantFrom(...places), fc.constantFrom('add', 'drop', 'swap', 'leap')).map(([path, how]) => {
    const copy: unknown = structuredClone(value)
    return changed(copy, path, how)
  })
}

type Path = readonly (string | number)[]

function placesIn(value: unknown, path: Path = []): readonly Path[] {
  if (Array.isArray(value)) return [path, ...value.flatMap((item, at) => placesIn(item, [...path, at]))]
  if (!isRecord(value)) return [path]
  return [path, ...Object.entries(value).flatMap(([name, member]) => placesIn(member, [...path, name]))]
}

function changed(value: unknown, [step, ...rest]: Path, how: string): unknown {
  if (step !== undefined && (Array.isArray(value) || isRecord(value))) {
    const holder = value as Record<string | number, unknown>
    if (how === 'drop' && rest.length === 0 && !Array.isArray(value)) delete holder[step]
    else holder[step] = changed(holder[step], rest, how)
    return value
  }
  if (how === 'add' && isRecord(value)) return { ...value, unknown_field: 1 }
  if (how === 'leap' && typeof value === 'number') return -1e9
  if (how === 'leap' && typeof value === 'string') return `${value}\0`
  return typeof value === 'object' ? 7 : [{}]
}
