/** Definitions of the operations of the lens `c64`, with their schemas; every interface (library, HTTP, command line) offers them. */
import { z } from 'zod'
import { costOfAsking, questionFields } from '../../model/query-input.ts'
import { turnsUntil } from '../../pipeline/time-limit.ts'
import { camelCased } from '../camel-name.ts'
import { lensOperation } from '../lens-operation.ts'
import { queryOperations } from '../query-operations.ts'
import { askC64, pluginWarnings, queryOf } from './ask.ts'
import type { Enrichment } from './enrichment/enrich.ts'
import { formatHits } from './enrichment/hits.ts'
import { c64Options, limit, query, raw } from './settings.ts'
import { stateOf } from './state.ts'

const warnings = z
  .array(
    z.strictObject({
      code: z.string().describe('Code in snake_case, such as plugin_failed'),
      message: z.string().describe('A sentence for people'),
    }),
  )
  .describe('Problems that are not errors')

const enrichmentFields = {
  enriched_query: z.string().describe('The query, with explanations of its numbers and names'),
  additional_context: z.array(z.string()).describe('Sentences that enrichment added to the query'),
  filter_tags: z.array(z.string()).describe('Tags that results are searched by, such as vic-ii'),
  strategy: z
    .enum(['hybrid', 'filtered', 'semantic'])
    .describe('Search method. filtered: by tags; semantic: by the text; hybrid: both'),
} as const

const enrichInput = z.strictObject({ query, raw })

const enrichOutput = z.strictObject({
  query: z.string().describe('As in the request'),
  numbers: z
    .array(
      z.strictObject({
        source_token: z.string().describe('As written in the query, such as $D020 or 53280'),
        value: z.number().min(0).describe('The number that it stands for'),
        decimal: z.string().describe('In base 10'),
        hex: z.string().describe('In base 16, with $'),
        binary: z.string().optional().describe('In base 2, with %; absent where it is too long'),
        role: z.string().optional().describe('Recognised role, such as address; absent: unknown'),
      }),
    )
    .describe('Numbers in the query, in their order'),
  ...enrichmentFields,
  warnings,
})

const enrichOperation = lensOperation({
  name: 'c64.enrich',
  summary: 'Explain the numbers and names in a query for the Commodore 64, and how it would be searched',
  input: enrichInput,
  output: enrichOutput,
  effect: { kind: 'read', idempotent: true, storeless: true },
  cost: () => 1,
  run: async (host, input, { signal }) => {
    const enrichment = await turnsUntil(signal).run(stateOf(host).enrich(input.query, input.raw))
    const numbers = enrichment.numbers.map(({ sourceToken, at: _at, ...forms }) => ({
      ...{ source_token: sourceToken, ...forms },
    }))
    return { query: input.query, numbers, ...outputOf(enrichment), warnings: pluginWarnings(enrichment) }
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
        description: z.string().describe('What the other chunk holds'),
      }),
    )
    .optional()
    .describe('Chunks that it refers to'),
  tags: z.array(z.string()).optional().describe('Tags of the chunk'),
})

const hit = z.strictObject({
  id: z.union([z.string(), z.number()]).describe('Id of the chunk; a number of 0 or more if Qdrant numbers them'),
  score: z.number().describe('Higher is better; comparable within one answer'),
  payload: payload.describe('The chunk with everything that is stored for it'),
})

const queryOutput = z.strictObject({
  query: z.string().describe('As in the request'),
  ...enrichmentFields,
  search_mode: z.string().describe('Description of the search, for people'),
  backend: z.enum(['embedded', 'qdrant']).describe('Where it was searched: in this store, or in a Qdrant server'),
  results: z.array(hit).describe('Best first'),
  verdict: z
    .enum(['answered', 'weak', 'nothing_relevant'])
    .nullable()
    .describe('Whether something here answers the query; null: a Qdrant server gives no verdict'),
  reason: z.string().nullable().describe('Why, if the verdict is not answered'),
  nearest: z.array(hit).describe('The nearest results if nothing is relevant, at most three; they are not answers'),
  cursor: z.string().nullable().describe('Cursor of the next page; null: there are no more results'),
  warnings,
  formatted: z.string().optional().describe('The results as Markdown, if the request set formatted'),
})

const queryOperation = lensOperation({
  name: 'c64.query',
  summary: 'Search facts about the Commodore 64: registers, routines, instructions, memory, colours',
  input: queryInput,
  output: queryOutput,
  // A `c64` query is declared as a write operation. Before a query by the owner, the stored built-in facts are brought up to date where the
  // store already holds these facts or other entries of the collection.
  effect: { kind: 'write', idempotent: true },
  cost: costOfAsking,
  run: async (host, { formatted, ...question }, call) => {
    const { enrichment, searchMode, ...answer } = await askC64(host, camelCased(question), call)
    return {
      ...{ query: question.query, ...outputOf(enrichment), search_mode: searchMode, ...answer },
      ...(formatted === true && { formatted: formatHits(answer.results, searchMode, answer.nearest) }),
    }
  },
})

export const C64_OPERATIONS = [
  enrichOperation,
  queryOperation,
  ...queryOperations({
    name: 'c64',
    input: z.strictObject({ query, limit, ...c64Options.shape }),
    toQuery: (host, question) => queryOf(host, camelCased(question)),
  }),
] as const

function outputOf({ enrichedQuery, additionalContext, filterTags, strategy }: Enrichment) {
  return {
    enriched_query: enrichedQuery,
    additional_context: additionalContext,
    filter_tags: filterTags,
    strategy,
  }
}
