/** What may be asked, checked at every interface: fields in snake_case from programs elsewhere, in camelCase from the library. */
import { z } from 'zod'
import { MAX_QUERY_LENGTH } from '../../model/limits.ts'
import { parseInput } from '../../model/parse-input.ts'
import { questionFields } from '../../model/query-input.ts'

export const query = z
  .string()
  .trim()
  .min(1)
  .max(MAX_QUERY_LENGTH)
  .describe(
    `The question, with its numbers and names, at most ${MAX_QUERY_LENGTH} characters, such as What is at $D020?`,
  )
export const raw = z.boolean().optional().describe('Skip enrichment and search the question as it is. Default: false')
export const limit = z.int().min(1).max(1_000).optional().describe('Most results, 1 to 1000. Default: 15')
const fetchLimit = z
  .int()
  .min(1)
  .max(1_000)
  .optional()
  .describe('Candidates of each search, 1 to 1000, at least as many as limit. Default: 20')
const minScoreRatio = z
  .number()
  .min(0)
  .max(1)
  .optional()
  .describe('Share of the best score, 0 to 1, below which results are left out. Default: 0.6')
const fusion = z
  .enum(['tags-first', 'rrf'])
  .optional()
  .describe(
    'tags-first: results with the tags before others; rrf: one list, by reciprocal rank fusion. Default: tags-first',
  )

/** What `options` of a query may hold for this lens. */
export const c64Options = z.strictObject({ raw, fetch_limit: fetchLimit, min_score_ratio: minScoreRatio, fusion })
export type C64Options = z.output<typeof c64Options>

const question = z.strictObject({ query, raw, limit, fetchLimit, minScoreRatio, fusion, cursor: questionFields.cursor })

/** What is left out is as the lens is set. `cursor`: of an answer of the store, which alone gives them. */
export type C64Question = Readonly<z.input<typeof question>>

/** Of the library's callers. Throws `invalid_argument` or `unknown_field`, naming the field. */
export function checkedQuestion(given: C64Question): C64Question {
  return parseInput(question, given)
}
