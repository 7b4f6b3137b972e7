/**
 * Definitions of the operations of the lens `collections`, with their schemas; every interface (library, HTTP, command line) offers them.
 */
import { z } from 'zod'
import { Deadline } from '../../base/clock.ts'
import { MAX_LIMIT } from '../../model/limits.ts'
import { anyObject } from '../../model/parse-input.ts'
import { costOfAsking } from '../../model/query-input.ts'
import { LOCAL_SOURCE } from '../../pipeline/source.ts'
import { camelCased } from '../camel-name.ts'
import { lensOperation } from '../lens-operation.ts'
import { queryOperations } from '../query-operations.ts'
import { askCollections, askStore, queryOf } from './ask.ts'
import { answerLanguage, formatResultsMarkdown } from './markdown.ts'
import { collectionsOptions, requestOf } from './request.ts'

const TIMEOUT_MS = 10_000

const text = z.string().min(1)
const metadata = anyObject.describe('Metadata that was stored with the record')

const question = z.string().describe('A question or words; results are ranked by how near they are to its meaning')

const queryInput = z.strictObject({
  query: question,
  ...collectionsOptions.shape,
  offset: z.int().min(0).optional().describe('Number of results to skip, from 0. Default: 0'),
  limit: z.int().min(1).optional().describe('Most results of all collections together, at least 1. Default: no limit'),
  store: text.optional().describe('Name of a configured source. Default: local'),
  timeout_ms: z
    .int()
    .min(1)
    .max(120_000)
    .optional()
    .describe(`Time limit of the query, in milliseconds, 1 to 120000. Default: ${TIMEOUT_MS}`),
})

const resultOutput = z.strictObject({
  id: z.string().describe('Id of the record'),
  title: z.string().describe('Title; the id if it has none'),
  content: z.string().describe('Full text'),
  source: z.string().describe('Collection it is in'),
  score: z.number().min(0).max(1).describe('Similarity, two decimals'),
  rawScore: z.number().min(0).max(1).describe('Similarity before rounding'),
  metadata,
  why: z.array(z.enum(['vector', 'words'])).describe('What found it: its meaning, or words of the query'),
  relatedIds: z.array(z.string()).optional().describe('Ids of records that fold merged into this one'),
})

const queryOutput = z.strictObject({
  results: z.array(resultOutput).describe('Best first, over all collections'),
  warnings: z
    .array(
      z.strictObject({
        collection: z.string().describe('Name of the collection that it is about'),
        code: z.string().describe('In snake_case, such as undated_kept'),
        message: z.string().describe('A sentence for people'),
        reason: z.string().optional().describe('Code of the error, if one is the cause'),
        count: z.number().min(0).optional().describe('Records concerned'),
      }),
    )
    .describe('Problems that are not errors'),
  meta: z
    .strictObject({
      store: z.string().describe('Name of the source'),
      collections: z.array(z.string()).describe('Collections that were queried'),
      cutoff: z.string().nullable().describe('ISO time from which records count; null: any'),
      total: z.number().min(0).describe('Results before offset and limit'),
      durationMs: z.number().min(0).describe('How long it took, milliseconds'),
      verdict: z
        .enum(['answered', 'weak', 'nothing_relevant'])
        .nullable()
        .describe('Whether the store answers the query; null: the source gives no verdict'),
      verdict_reason: z.string().nullable().describe('Why, if the verdict is not answered'),
      nearest: z.array(z.string()).describe('Ids of the nearest results if nothing is relevant, at most three'),
    })
    .describe('The query'),
})

const query = lensOperation({
  name: 'collections.query',
  summary: 'Run one query over several collections, by meaning, with a filter by days',
  input: queryInput,
  output: queryOutput,
  effect: { kind: 'read', idempotent: true },
  cost: ({ n_results }) => costOfAsking({ limit: n_results }),
  run: async (host, { store = LOCAL_SOURCE, timeout_ms: timeoutMs = TIMEOUT_MS, ...rest }, { viewer, signal }) => {
    const input = camelCased(rest)
    if (store === LOCAL_SOURCE) return askStore(host, input, { viewer, signal, timeoutMs })
    return askCollections(input, {
      source: await host.source(store),
      accessScope: host.accessScope(viewer),
      now: host.clock.now(),
      deadline: new Deadline(timeoutMs, signal),
      embed: async asked => (await host.embedder?.embed([asked], 'query', signal))?.[0] ?? null,
    })
  },
})

const formatInput = z.strictObject({
  results: z
    .array(
      z.object({
        title: z.string().describe('Heading of the result'),
        content: z.string().describe('Text; the answer shows its beginning'),
        source: z.string().describe('Collection it is in'),
        score: z.number().describe('Similarity, 0 to 1'),
        metadata,
      }),
    )
    .describe('As collections.query returns them; other fields are ignored'),
  query: z.string().describe('The query, for the heading'),
  lang: z
    .enum(['auto', 'es', 'en'])
    .optional()
    .describe('Spanish or English; auto: English for a query recognised as English, else Spanish. Default: auto'),
  urls: z.boolean().optional().describe('Show addresses of records that have one. Default: false'),
})

const formatOutput = z.strictObject({ markdown: z.string().describe('The results, laid out for reading') })

const format = lensOperation({
  name: 'collections.format',
  summary: 'Format results as Markdown, in Spanish or English',
  input: formatInput,
  output: formatOutput,
  effect: { kind: 'read', idempotent: true, storeless: true },
  run: async (_, { results, query: asked, lang = 'auto', urls }) => ({
    markdown: formatResultsMarkdown(results, asked, { lang: answerLanguage(lang, asked), urls }),
  }),
})

export const COLLECTIONS_OPERATIONS = [
  query,
  format,
  ...queryOperations({
    name: 'collections',
    input: z.strictObject({ query: question, ...collectionsOptions.shape }),
    toQuery: (host, { query: asked, ...options }) => {
      const { nResults, collections } = requestOf(asked, options, host.clock.now())
      const limit = Math.min(MAX_LIMIT, nResults * collections.length)
      return { ...queryOf({ ...camelCased(options), query: asked }, { timeoutMs: TIMEOUT_MS }), limit }
    },
  }),
] as const
