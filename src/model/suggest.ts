/** Completing what somebody types: names that are there, as far as the viewer may know of them. */
import { z } from 'zod'
import type { ReadonlyDeep } from '../base/readonly-deep.ts'
import { MAX_NAME_LENGTH } from './limits.ts'

export const SUGGESTED_FIELDS = ['collection', 'kind', 'tag', 'holder'] as const
export type SuggestedField = (typeof SUGGESTED_FIELDS)[number]

const suggestSchema = z.strictObject({
  prefix: z
    .string()
    .max(MAX_NAME_LENGTH)
    .optional()
    .describe('What the names begin with, in either case. Default: any'),
  fields: z
    .array(z.enum(SUGGESTED_FIELDS))
    .min(1)
    .max(SUGGESTED_FIELDS.length)
    .optional()
    .describe('What to complete; holders are shown to the owner alone. Default: all'),
  limit: z.int().min(1).max(100).optional().describe('Of each field. Default: 10'),
})

export type SuggestInput = ReadonlyDeep<z.output<typeof suggestSchema>>
export const suggestInput: z.ZodType<SuggestInput> = suggestSchema

/** Field by field, in each the commonest first. */
const suggestions = z.strictObject({
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

export type Suggestions = ReadonlyDeep<z.output<typeof suggestions>>
export type Suggestion = Suggestions['suggestions'][number]
export const suggestOutput: z.ZodType<Suggestions> = suggestions
