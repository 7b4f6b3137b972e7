/** Completing: names of collections, kinds, tags and holders as somebody types them. */
import { z } from 'zod'
import type { Engine } from '../engine/engine.ts'
import type { Operation } from '../model/operation.ts'
import { SUGGESTED_FIELDS, type Suggestions, suggestInput } from '../model/suggest.ts'

const suggestOutput: z.ZodType<Suggestions> = z.strictObject({
  suggestions: z
    .array(
      z.strictObject({
        field: z.enum(SUGGESTED_FIELDS).describe('What the name is one of'),
        value: z.string().describe('The name in full'),
        count: z.int().min(0).describe('Entries that have it, of those that the viewer sees'),
      }),
    )
    .describe('Field by field, in each the commonest first'),
})

export const suggest: Operation<Engine, typeof suggestInput, typeof suggestOutput> = {
  name: 'suggest',
  summary: 'Complete the names of collections, kinds, tags and, for the owner, holders',
  input: suggestInput,
  output: suggestOutput,
  effect: { kind: 'read', idempotent: true },
  run: (engine, input, context) => engine.suggest(input, context),
}
