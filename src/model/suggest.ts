/** Completing what somebody types: names that are there, as far as the viewer may know of them. */
import { z } from 'zod'
import { MAX_NAME_LENGTH } from './limits.ts'

export const SUGGESTED_FIELDS = ['collection', 'kind', 'tag', 'holder'] as const
export type SuggestedField = (typeof SUGGESTED_FIELDS)[number]

export interface SuggestInput {
  /** What the names begin with, in either case; absent or empty: any. */
  readonly prefix?: string | undefined
  /** Absent: all. Holders are shown to the owner alone. */
  readonly fields?: readonly SuggestedField[] | undefined
  /** Of each field. Default 10. */
  readonly limit?: number | undefined
}

export interface Suggestion {
  readonly field: SuggestedField
  readonly value: string
  /** Entries that have it, of those that the viewer sees. */
  readonly count: number
}

export interface Suggestions {
  /** Field by field, in each the commonest first. */
  readonly suggestions: readonly Suggestion[]
}

export const suggestInput: z.ZodType<SuggestInput> = z.strictObject({
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
