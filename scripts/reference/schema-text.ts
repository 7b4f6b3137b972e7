/** JSON Schemas in words. */
import type { Json, JsonObject } from '../../src/base/canonical.ts'
import { isRecord } from '../../src/base/record.ts'
import { instantInput } from '../../src/model/query-input.ts'
import { jsonSchema } from '../../src/ops/catalog.ts'
import { code } from './markdown.ts'

export type Schema = JsonObject

const INSTANT = shapeOf(jsonSchema(instantInput, 'input'))

/** What kind of value, with its bounds: `whole number, 1 to 1000`. */
export function typeText(schema: Schema): string {
  if (shapeOf(schema) === INSTANT) return '[time](#times)'
  const { enum: values, const: only, anyOf, oneOf, type, items } = schema
  if (Array.isArray(values)) return values.map(value => code(String(value))).join(', ')
  if (only !== undefined) return code(String(only))
  const choices = anyOf ?? oneOf
  // Beside a type they are conditions on it.
  if (type === undefined && Array.isArray(choices))
    return [...new Set(choices.map(choice => typeText(choice as Schema)))].join(' or ')
  if (Array.isArray(type)) return type.map(one => typeText({ ...schema, type: one })).join(' or ')
  if (type === 'array' && Array.isArray(schema['prefixItems'])) return tupleText(schema['prefixItems'] as Schema[])
  if (type === 'array') return listText(schema, isRecord(items) ? (items as Schema) : {})
  return [wordOf(type), boundsText(schema)].filter(text => text !== '').join(', ')
}

/** Bounds of a number or a text. */
function boundsText(schema: Schema): string {
  const { type, minimum, maximum, exclusiveMinimum, minLength, maxLength } = schema
  if (type === 'string')
    return rangeText(Number(minLength) > 1 || maxLength !== undefined ? minLength : undefined, maxLength, ' characters')
  if (type !== 'integer' && type !== 'number') return ''
  if (typeof exclusiveMinimum === 'number') return `above ${exclusiveMinimum}`
  return rangeText(said(minimum), said(maximum), '')
}

/** A list of so many values, all of one kind. */
function tupleText(items: readonly Schema[]): string {
  const [word = ''] = typeText(items[0] ?? {}).split(', ')
  return `list of ${items.length} ${PLURALS[word] ?? word}`
}

function listText({ minItems, maxItems }: Schema, of: Schema): string {
  const [word = '', ...bounds] = typeText(of).split(', ')
  const plural = PLURALS[word]
  const range = rangeText(minItems === 0 ? undefined : minItems, maxItems, '')
  const what = plural === undefined ? typeText(of) : [plural, ...bounds.map(bound => `each ${bound}`)].join(', ')
  return `list${range === '' ? '' : ` (${range})`} of ${what}`
}

const PLURALS: Readonly<Record<string, string>> = {
  text: 'texts',
  'whole number': 'whole numbers',
  number: 'numbers',
  object: 'objects',
  'true or false': 'truth values',
  'any value': 'values',
}

function rangeText(least: Json | undefined, most: Json | undefined, unit: string): string {
  if (least === undefined && most === undefined) return ''
  if (most === undefined) return `at least ${grouped(least)}${unit}`
  if (least === undefined) return `at most ${grouped(most)}${unit}`
  return `${grouped(least)} to ${grouped(most)}${unit}`
}

function grouped(value: Json | undefined): string {
  return typeof value === 'number' ? value.toLocaleString('en-US') : String(value)
}

/** Bounds that only say "a safe integer" say nothing. */
function said(bound: Json | undefined): Json | undefined {
  return typeof bound === 'number' && Math.abs(bound) >= Number.MAX_SAFE_INTEGER ? undefined : bound
}

function wordOf(type: Json | undefined): string {
  switch (type) {
    case 'string':
      return 'text'
    case 'integer':
      return 'whole number'
    case 'boolean':
      return 'true or false'
    case undefined:
      return 'any value'
    default:
      return String(type)
  }
}

/** The schema without what it says for people, as one text: two are the same shape where these are equal. */
export function shapeOf(schema: Schema): string {
  return JSON.stringify(schema, (key, value: unknown) =>
    ['description', 'examples', '$schema'].includes(key) ? undefined : value,
  )
}
