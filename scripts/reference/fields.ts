/** The fields of an input as rows of a table, inner ones by their paths. */
import { isRecord } from '../../src/base/record.ts'
import { code } from './markdown.ts'
import { type Schema, shapeOf, typeText } from './schema-text.ts'

/** Shapes that many inputs have stand once on the page: the heading, by the shape. */
export type Shapes = ReadonlyMap<string, string>

/** field, what it is, what it means. */
export type FieldRow = readonly [string, string, string]

const DEEPEST = 3

export function fieldRows(schema: Schema, shapes: Shapes, place = '', depth = 0): readonly FieldRow[] {
  const properties = propertiesOf(schema)
  const required = Array.isArray(schema['required']) ? schema['required'] : []
  return Object.entries(properties).flatMap(([name, of]) => {
    const path = `${place}${name}`
    const link = shapes.get(shapeOf(of))
    const type = link ?? typeText(of)
    const row: FieldRow = [code(path), required.includes(name) ? `${type}; **required**` : type, meaningText(of)]
    if (link !== undefined || depth >= DEEPEST) return [row]
    const inner = itemsOf(of)
    return inner === null
      ? [row, ...fieldRows(of, shapes, `${path}.`, depth + 1)]
      : [row, ...fieldRows(inner, shapes, `${path}[].`, depth + 1)]
  })
}

function meaningText(schema: Schema): string {
  const { description, default: value } = schema
  const text = typeof description === 'string' ? description : ''
  const ended = text === '' || /[.!?…]$/.test(text) ? text : `${text}.`
  if (value === undefined || /[Dd]efault/.test(ended)) return ended
  return `${ended} Default: ${code(JSON.stringify(value))}.`.trim()
}

function propertiesOf(schema: Schema): Readonly<Record<string, Schema>> {
  const { properties, anyOf } = schema
  if (isRecord(properties)) return properties as Record<string, Schema>
  // One object among other kinds of values, such as null.
  const objects = Array.isArray(anyOf) ? (anyOf as readonly Schema[]).filter(one => isRecord(one['properties'])) : []
  return objects.length === 1 && objects[0] !== undefined ? propertiesOf(objects[0]) : {}
}

function itemsOf({ type, items }: Schema): Schema | null {
  return type === 'array' && isRecord(items) ? (items as Schema) : null
}
