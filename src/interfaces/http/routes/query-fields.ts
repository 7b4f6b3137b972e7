/** The query string of a request as fields of an operation's input, each read by the type that its schema gives it. */
import { isRecord } from '../../../base/record.ts'

/** `schema`: JSON Schema of the input. What cannot be read so stays a text, for the operation to refuse. */
export function queryFields(
  queries: Readonly<Record<string, readonly string[]>>,
  schema: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const properties = isRecord(schema['properties']) ? schema['properties'] : {}
  return Object.fromEntries(Object.entries(queries).map(([name, texts]) => [name, fieldOf(texts, properties[name])]))
}

function fieldOf(texts: readonly string[], schema: unknown): unknown {
  const [text = ''] = texts
  const types = typesIn(schema)
  if (types.has('array') && !text.startsWith('[')) return texts.map(each => readAs(each, typesIn(itemsOf(schema))))
  // Said twice where one is wanted: a list, which the operation refuses.
  return texts.length > 1 ? texts : readAs(text, types)
}

function readAs(text: string, types: ReadonlySet<unknown>): unknown {
  if (types.size === 0 || (types.has('string') && !types.has('array') && !types.has('object'))) return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

export function typesIn(schema: unknown): ReadonlySet<unknown> {
  if (!isRecord(schema)) return new Set()
  const choices = schema['anyOf'] ?? schema['oneOf'] ?? []
  const inner = Array.isArray(choices) ? choices.flatMap(choice => [...typesIn(choice)]) : []
  return new Set([schema['type'] ?? [], inner].flat())
}

function itemsOf(schema: unknown): unknown {
  return isRecord(schema) ? schema['items'] : undefined
}
