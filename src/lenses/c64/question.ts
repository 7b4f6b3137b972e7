/** What may be asked, checked at every door: fields in snake_case from programs elsewhere, in camelCase from the library. */
import { z } from 'zod'
import { MAX_QUERY_LENGTH } from '../../model/limits.ts'
import { parseInput } from '../../model/parse-input.ts'
import type { C64Question } from './ask.ts'

export const query = z.string().trim().min(1).max(MAX_QUERY_LENGTH).describe('The question, with its numbers and names')
export const raw = z.boolean().optional().describe('Skip enrichment and search the question as it is')
export const limit = z.int().min(1).max(1_000).optional().describe('Most results; default 15')
export const fetchLimit = z
  .int()
  .min(1)
  .max(1_000)
  .optional()
  .describe('Fetched by each search, if more than limit; default 20')
export const minScoreRatio = z.number().min(0).max(1).optional().describe('Of the best score; default 0.6')
export const fusion = z
  .enum(['tags-first', 'rrf'])
  .optional()
  .describe('Results with the tags first, or one list of two by rank; default tags-first')

const question = z.strictObject({ query, raw, limit, fetchLimit, minScoreRatio, fusion })

/** Of the library's callers. Throws `invalid_argument` or `unknown_field`, naming the field. */
export function checkedQuestion(given: C64Question): C64Question {
  return parseInput(question, given)
}
