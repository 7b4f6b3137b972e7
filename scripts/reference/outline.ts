/** What an answer holds, as an outline: names, kinds, and what lists hold. */
import { isRecord } from '../../src/base/record.ts'
import type { Schema } from './schema-text.ts'

const WIDTH = 110

export function outline(schema: Schema): string {
  const lines = linesOf(schema, 2)
  return lines.length === 1 && (lines[0] ?? '').length <= WIDTH ? (lines[0] ?? '') : lines.join('\n')
}

/** `depth` objects are opened, those that lie deeper are named. */
function linesOf(schema: Schema, depth: number): readonly string[] {
  const { type, items, properties } = schema
  if (type === 'array' && isRecord(items)) {
    const inner = linesOf(items as Schema, depth)
    return [`[${inner[0] ?? ''}`, ...inner.slice(1)].map((line, at, all) => (at === all.length - 1 ? `${line}]` : line))
  }
  const nullable = depth > 0 ? nullableOf(schema) : null
  if (nullable !== null) {
    return linesOf(nullable, depth).map((line, at, all) => (at === all.length - 1 ? `${line} | null` : line))
  }
  if (!isRecord(properties) || depth === 0) return [kindOf(schema)]
  const required = Array.isArray(schema['required']) ? schema['required'] : []
  const members = Object.entries(properties).map(([name, of]) => {
    const inner = linesOf(of as Schema, depth - 1)
    const mark = required.includes(name) ? '' : '?'
    return [`${name}${mark}: ${inner[0] ?? ''}`, ...inner.slice(1)]
  })
  if (members.length === 0) return [schema['additionalProperties'] === false ? '{}' : '{…}']
  const one = `{ ${members.map(lines => lines.join(' ')).join(', ')} }`
  if (members.every(lines => lines.length === 1) && one.length <= WIDTH - 10) return [one]
  return ['{', ...members.flatMap(lines => lines.map(line => `  ${line}`)), '}']
}

/** The object of `object or null`; null: it is something else. */
function nullableOf({ anyOf }: Schema): Schema | null {
  if (!Array.isArray(anyOf) || anyOf.length !== 2) return null
  const [one, other] = anyOf as readonly Schema[]
  return one !== undefined && isRecord(one['properties']) && other?.['type'] === 'null' ? one : null
}

function kindOf({ type, enum: values, const: only, anyOf, oneOf, properties }: Schema): string {
  if (Array.isArray(values)) return values.map(value => JSON.stringify(value)).join(' | ')
  if (only !== undefined) return JSON.stringify(only)
  const choices = anyOf ?? oneOf
  if (Array.isArray(choices)) return [...new Set((choices as readonly Schema[]).map(kindOf))].join(' | ')
  if (Array.isArray(type)) return type.map(one => kindOf({ type: one })).join(' | ')
  if (type === 'array') return '[…]'
  if (type === 'object' || isRecord(properties)) return '{…}'
  return type === undefined ? '…' : String(type)
}
