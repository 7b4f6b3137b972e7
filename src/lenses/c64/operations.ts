/** The lens's operations, with their schemas: what every door offers of it. */
import { z } from 'zod'
import { costOfAsking } from '../../model/query-cost.ts'
import { questionFields } from '../../model/query-input.ts'
import { turnsUntil } from '../../pipeline/time-limit.ts'
import { lensOperation } from '../lens-operation.ts'
import { queryOperations } from '../query-operations.ts'
import { askC64, enrichC64, pluginWarnings, queryOf } from './ask.ts'
import type { Enrichment } from './enrichment/enrich.ts'
import type { SearchHit } from './enrichment/hits.ts'
import { formatHits } from './enrichment/hits.ts'
import { c64Options, limit, query, raw } from './question.ts'

const warnings = z
  .array(
    z.strictObject({
      code: z.string().describe('What it is about, in snake_case, such as plugin_failed'),
      message: z.string().describe('A sentence for people'),
    }),
  )
  .describe('What did not go as asked, without being an error')

const enrichmentFields = {
  enriched_query: z.string().describe('The question and what was found out about its numbers and names'),
  additional_context: z.array(z.string()).describe('Sentences that enrichment added to the question'),
  filter_tags: z.array(z.string()).describe('Tags that results are looked for by, such as vic-ii'),
  strategy: z
    .enum(['hybrid', 'filtered', 'semantic'])
    .describe('What is searched. filtered: by tags; semantic: by the text; hybrid: both'),
} as const

const enrichInput = z.strictObject({ query, raw })

const enrichOutput = z.strictObject({
  query: z.string().describe('As it was asked'),
  numbers: z
    .array(
      z.strictObject({
        source_token: z.string().describe('As written in the question, such as $D020 or 53280'),
        value: z.number().min(0).describe('What it is worth'),
        decimal: z.string().describe('In base 10'),
        hex: z.string().describe('In base 16, with $'),
        binary: z.string().optional().describe('In base 2, with %; absent where it is too long'),
        role: z.string().optional().describe('What it is taken for, such as address; absent where nothing says'),
      }),
    )
    .describe('Numbers of the question, in their order'),
  ...enrichmentFields,
  warnings,
})

const enrichOperation = lensOperation({
  name: 'c64.enrich',
  summary: 'Say what the numbers and names of a question stand for on the Commodore 64, and how it would be searched',
  input: enrichInput,
  output: enrichOutput,
  effect: { kind: 'read', idempotent: true, storeless: true },
  cost: () => 1,
  run: async (host, input, { signal }) => {
    const enrichment = await turnsUntil(signal).run(enrichC64(host, input))
    const numbers = enrichment.numbers.map(({ sourceToken, value, decimal, hex, binary, role }) => ({
      ...{ source_token: sourceToken, value, decimal, hex, binary, role },
    }))
    return { query: input.query, numbers, ...told(enrichment), warnings: [...pluginWarnings(enrichment)] }
  },
})

const queryInput = z.strictObject({
  query,
  limit,
  ...c64Options.shape,
  cursor: questionFields.cursor,
  formatted: z.boolean().optional().describe('Add the results as Markdown. Default: false'),
})

const payload = z.looseObject({
  title: z.string().optional().describe('Heading of the chunk'),
  filename: z.string().optional().describe('File it comes from'),
  type: z.string().optional().describe('Kind of fact, such as register or routine'),
  document: z.string().optional().describe('Full text'),
  references: z
    .array(
      z.looseObject({
        chunk: z.string().describe('Id of another chunk'),
        description: z.string().describe('What is found there'),
      }),
    )
    .optional()
    .describe('Chunks that it refers to'),
  tags: z.array(z.string()).optional().describe('Words it is filed under'),
})

const hit = z.strictObject({
  id: z.union([z.string(), z.number()]).describe('Of the chunk; a number of 0 or more where Qdrant numbers them'),
  score: z.number().describe('Higher is better; comparable within one answer'),
  payload: payload.describe('The chunk with whatever else is stored of it'),
})

const queryOutput = z.strictObject({
  query: z.string().describe('As it was asked'),
  ...enrichmentFields,
  search_mode: z.string().describe('What was searched, for the reader'),
  backend: z.enum(['embedded', 'qdrant']).describe('Where it was searched: in this store, or in a Qdrant server'),
  results: z.array(hit).describe('Best first'),
  verdict: z
    .enum(['answered', 'weak', 'nothing_relevant'])
    .nullable()
    .describe('Whether something here answers the question; null: a Qdrant server gives none'),
  reason: z.string().nullable().describe('Why, where the verdict is not answered'),
  nearest: z.array(hit).describe('What came nearest where nothing is relevant, at most three: not an answer'),
  cursor: z.string().nullable().describe('Goes on after these results; null: there are no more'),
  warnings,
  formatted: z.string().optional().describe('With the field of that name: the results as Markdown'),
})

const queryOperation = lensOperation({
  name: 'c64.query',
  summary: 'Ask about the Commodore 64: registers, routines, instructions, memory, colours',
  input: queryInput,
  output: queryOutput,
  // The owner's first question puts the facts into the store.
  effect: { kind: 'write', idempotent: true },
  cost: costOfAsking,
  run: async (host, { fetch_limit, min_score_ratio, formatted, ...rest }, call) => {
    const question = { ...rest, fetchLimit: fetch_limit, minScoreRatio: min_score_ratio }
    const { enrichment, searchMode, results, warnings: found, ...answer } = await askC64(host, question, call)
    return {
      query: rest.query,
      ...told(enrichment),
      search_mode: searchMode,
      backend: answer.backend,
      results: ownCopy(results),
      ...{ verdict: answer.verdict, reason: answer.reason, nearest: ownCopy(answer.nearest), cursor: answer.cursor },
      warnings: [...found],
      ...(formatted === true ? { formatted: formatHits(results, searchMode, answer.nearest) } : {}),
    }
  },
})

const questionInput = z.strictObject({ query, limit, ...c64Options.shape })

export const C64_OPERATIONS = [
  enrichOperation,
  queryOperation,
  ...queryOperations({
    name: 'c64',
    input: questionInput,
    toQuery: (host, { fetch_limit, min_score_ratio, ...rest }) =>
      queryOf(host, { ...rest, fetchLimit: fetch_limit, minScoreRatio: min_score_ratio }),
  }),
] as const

function told({ enrichedQuery, additionalContext, filterTags, strategy }: Enrichment) {
  return {
    enriched_query: enrichedQuery,
    additional_context: [...additionalContext],
    filter_tags: [...filterTags],
    strategy,
  }
}

/** Schemas speak of lists that may be written to. */
function ownCopy(hits: readonly SearchHit[]): z.output<typeof hit>[] {
  return structuredClone(hits) as unknown as z.output<typeof hit>[]
}
