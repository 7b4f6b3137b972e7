/** JSON Schemas (2020-12) of an operation, made from its zod schemas, for interfaces that publish them. */
import { z } from 'zod'
import type { JsonObject } from '../base/canonical.ts'
import type { Operation } from '../model/operation.ts'

export interface OperationDescription {
  readonly name: string
  readonly summary: string
  readonly effect: {
    readonly kind: 'read' | 'write' | 'destroy'
    readonly idempotent: boolean
    readonly owner_only: boolean
  }
  /** Whether it has a streamed form. */
  readonly streams: boolean
  readonly input: JsonObject
  readonly output: JsonObject
}

export function describeOperation(operation: Operation): OperationDescription {
  const { kind, idempotent, ownerOnly = false } = operation.effect
  return {
    name: operation.name,
    summary: operation.summary,
    effect: { kind, idempotent, owner_only: ownerOnly },
    streams: operation.stream !== undefined,
    input: withRoot(jsonSchema(operation.input, 'input', 'named')),
    output: withRoot(jsonSchema(operation.output, 'output', 'named')),
  }
}

/** A schema that is only a reference to one of its `$defs`, as that one. */
function withRoot({ $ref, ...schema }: JsonObject): JsonObject {
  const name = typeof $ref === 'string' ? $ref.replace('#/$defs/', '') : undefined
  if (name === undefined) return schema
  const { [name]: root, ...$defs } = schema['$defs'] as JsonObject
  return { ...schema, ...(root as JsonObject), ...(Object.keys($defs).length > 0 && { $defs }) }
}

/** What schemas say of themselves, without their names. */
class Nameless extends z.core.$ZodRegistry<z.core.GlobalMeta> {
  override get<S extends z.core.$ZodType>(schema: S): z.core.GlobalMeta | undefined {
    const { id: _, ...said } = z.globalRegistry.get(schema) ?? {}
    return said
  }
}
const NAMELESS = new Nameless()

/**
 * `input` for what is accepted, `output` for what comes back. `named`: a schema with a name (`id` in zod's registry, such as `Filter`)
 * is once in `$defs`; else it is wherever it is used, for readers that follow no references.
 */
export function jsonSchema(schema: z.ZodType, io: 'input' | 'output', form: 'named' | 'inline' = 'inline'): JsonObject {
  const metadata = form === 'named' ? z.globalRegistry : NAMELESS
  const made = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    metadata,
    override: ({ zodSchema, jsonSchema }) => {
      // Zod leaves examples out wherever something in the schema transforms; ours are written as they are sent.
      const examples = metadata.get(zodSchema)?.['examples']
      if (Array.isArray(examples)) jsonSchema['examples'] = examples
    },
  })
  // A JSON Schema is JSON; zod's type for it has methods and undefined.
  return made as unknown as JsonObject
}
