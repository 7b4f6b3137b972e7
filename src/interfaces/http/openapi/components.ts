/** Schemas of operations as components of the document: each once, under a name, with references between them. */
import { z } from 'zod'
import { canonicalJson, type Json, type JsonObject } from '../../../base/canonical.ts'
import { isRecord } from '../../../base/record.ts'
import { jsonObject } from '../../../model/page-output.ts'
import { jsonSchema } from '../../../ops/schemas.ts'

/** A value of any form, as each of zod's own schemas of it tells it again. */
const ANY_JSON = z.toJSONSchema(jsonObject) as unknown as { readonly $defs: JsonObject }

function isAnyJson(schema: Json, def: string): boolean {
  return Object.entries(ANY_JSON.$defs).some(
    ([known, json]) => canonicalJson(json).replaceAll(`/${known}"`, `/${def}"`) === canonicalJson(schema),
  )
}

const PREFIX = '#/components/schemas/'

export class Components {
  readonly #schemas = new Map<string, JsonObject>()

  /** A reference to it; `name` is its own where it has none in zod's registry. */
  add(schema: z.ZodType, io: 'input' | 'output', name: string): JsonObject {
    const { $schema: _, $defs = {}, ...root } = jsonSchema(schema, io, 'named')
    const nameOf = (def: string): string => {
      if (!def.startsWith('__schema')) return def
      return isAnyJson(($defs as JsonObject)[def] as Json, def) ? 'Json' : `${name}.${def.slice(8)}`
    }
    const moved = (value: Json): JsonObject =>
      withRefs(value, ref => `${PREFIX}${ref === '#' ? name : nameOf(ref.slice(8))}`)
    for (const [def, inner] of Object.entries($defs as JsonObject)) this.#schemas.set(nameOf(def), moved(inner))
    const own = moved(root)
    if (typeof own['$ref'] === 'string') return own
    return this.set(name, own)
  }

  /** A reference to it. */
  set(name: string, schema: JsonObject): JsonObject {
    this.#schemas.set(name, schema)
    return { $ref: `${PREFIX}${name}` }
  }

  /** What a reference stands for. */
  resolve(schema: Json | undefined): JsonObject {
    const { $ref: ref, ...own } = isRecord(schema) ? (schema as JsonObject) : {}
    return typeof ref === 'string' ? { ...this.#schemas.get(ref.slice(PREFIX.length)), ...own } : own
  }

  toJSON(): JsonObject {
    return Object.fromEntries([...this.#schemas].sort(([a], [b]) => (a < b ? -1 : 1)))
  }
}

function withRefs(value: Json, moved: (ref: string) => string): JsonObject {
  const walk = (inner: Json): Json => {
    if (Array.isArray(inner)) return inner.map(walk)
    if (!isRecord(inner)) return inner as Json
    return Object.fromEntries(
      Object.entries(inner as JsonObject).map(([key, member]) => [
        key,
        key === '$ref' && typeof member === 'string' ? moved(member) : walk(member),
      ]),
    )
  }
  return walk(value) as JsonObject
}
