/** The lens's operations, with their schemas: what every door offers of it. */
import { z } from 'zod'
import type { Operation } from '../../model/operation.ts'
import { costOfAsking } from '../../model/query-cost.ts'
import { turnsUntil } from '../../pipeline/time-limit.ts'
import type { LensHost } from '../lens.ts'
import { askC64, enrichC64, pluginWarnings } from './ask.ts'
import type { Enrichment } from './enrichment/enrich.ts'
import { formatHits } from './enrichment/markdown.ts'
import { fetchLimit, fusion, limit, minScoreRatio, query, raw } from './question.ts'

const warnings = z.array(z.strictObject({ code: z.string(), message: z.string() }))

const enrichmentFields = {
  enriched_query: z.string().describe('The question and what was found out about its numbers and names'),
  additional_context: z.array(z.string()),
  filter_tags: z.array(z.string()),
  strategy: z.enum(['hybrid', 'filtered', 'semantic']),
} as const

const enrichInput = z.strictObject({ query, raw })

const enrichOutput = z.strictObject({
  query: z.string(),
  numbers: z.array(
    z.strictObject({
      source_token: z.string(),
      value: z.number(),
      decimal: z.string(),
      hex: z.string(),
      binary: z.string().optional(),
      role: z.string().optional(),
    }),
  ),
  ...enrichmentFields,
  warnings,
})

const enrichOperation: Operation<LensHost, typeof enrichInput, typeof enrichOutput> = {
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
}

const queryInput = z.strictObject({
  query,
  limit,
  fetch_limit: fetchLimit,
  min_score_ratio: minScoreRatio,
  fusion,
  raw,
  formatted: z.boolean().optional().describe('Add the results as Markdown'),
})

const payload = z.looseObject({
  title: z.string().optional(),
  filename: z.string().optional(),
  type: z.string().optional(),
  document: z.string().optional(),
  references: z.array(z.looseObject({ chunk: z.string(), description: z.string() })).optional(),
  tags: z.array(z.string()).optional(),
})

const queryOutput = z.strictObject({
  query: z.string(),
  ...enrichmentFields,
  search_mode: z.string().describe('What was searched, for the reader'),
  backend: z.enum(['embedded', 'qdrant']),
  results: z.array(z.strictObject({ id: z.union([z.string(), z.number()]), score: z.number(), payload })),
  warnings,
  formatted: z.string().optional(),
})

const queryOperation: Operation<LensHost, typeof queryInput, typeof queryOutput> = {
  name: 'c64.query',
  summary: 'Ask about the Commodore 64: registers, routines, instructions, memory, colours',
  input: queryInput,
  output: queryOutput,
  // The owner's first question puts the facts into the store.
  effect: { kind: 'write', idempotent: true },
  cost: costOfAsking,
  run: async (host, { fetch_limit, min_score_ratio, formatted, ...rest }, call) => {
    const question = { ...rest, fetchLimit: fetch_limit, minScoreRatio: min_score_ratio }
    const { enrichment, searchMode, backend, results, warnings: found } = await askC64(host, question, call)
    return {
      query: rest.query,
      ...told(enrichment),
      search_mode: searchMode,
      backend,
      results: structuredClone(results) as unknown as z.output<typeof queryOutput>['results'],
      warnings: [...found],
      ...(formatted === true ? { formatted: formatHits(results, searchMode) } : {}),
    }
  },
}

export const C64_OPERATIONS: readonly Operation<LensHost>[] = [enrichOperation, queryOperation].map(
  operation => operation as unknown as Operation<LensHost>,
)

function told({ enrichedQuery, additionalContext, filterTags, strategy }: Enrichment) {
  return {
    enriched_query: enrichedQuery,
    additional_context: [...additionalContext],
    filter_tags: [...filterTags],
    strategy,
  }
}
