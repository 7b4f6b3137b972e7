/** JSON Schemas (2020-12) of an operation, made from its zod schemas, for doors that publish them. */
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
    input: jsonSchema(operation.input, 'input'),
    output: jsonSchema(operation.output, 'output'),
  }
}

/** `input` for what is accepted, `output` for what comes back. `metadata`: what schemas say of themselves, where not zod's own. */
export function jsonSchema(
  schema: z.ZodType,
  io: 'input' | 'output',
  metadata: z.core.$ZodRegistry<z.core.GlobalMeta> = z.globalRegistry,
): JsonObject {
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
