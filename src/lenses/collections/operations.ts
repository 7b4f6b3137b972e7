/** The lens's operations, with their schemas: what every door offers of it. */
import { z } from 'zod'
import { Deadline } from '../../base/clock.ts'
import type { Operation } from '../../model/operation.ts'
import { costOfAsking } from '../../model/query-cost.ts'
import type { LensHost } from '../lens.ts'
import { askCollections, type CollectionsAnswer } from './ask.ts'
import { formatResultsMarkdown } from './markdown.ts'
import type { CollectionsInput } from './request.ts'
import { answerLanguage } from './wording.ts'

const TIMEOUT_MS = 10_000
/** Of one request: more would be a copy of the collection, not an answer. */
const MOST_RESULTS = 10_000

const text = z.string().min(1)
const metadata = z.record(z.string(), z.json())

const queryInput = z.strictObject({
  query: z.string().describe('What is looked for'),
  collections: z.array(text).min(1).optional().describe('Collections to ask; items and analysis when left out'),
  n_results: z.int().min(1).max(MOST_RESULTS).optional().describe('Most results of each collection; default 5'),
  days: z.int().min(0).optional().describe('Only what is from the last so many days'),
  since: text.optional().describe('ISO date, included'),
  until: text.optional().describe('ISO date; a whole day is included, a time of day is not'),
  undated: z.enum(['include', 'exclude']).optional().describe('Records without a date under a day filter'),
  source: text.optional().describe('Only records with this source_type'),
  actionability: text.optional().describe('Only records with this actionability'),
  min_score: z.number().min(0).max(1).optional().describe('Results below are left out'),
  fold: z.boolean().optional().describe('An item and its analysis as one result'),
  hybrid: z.boolean().optional().describe('Fuse the order by meaning with an order by words'),
  offset: z.int().min(0).optional().describe('So many of the best are passed over; default 0'),
  limit: z.int().min(1).optional().describe('Most results of all collections together'),
  store: text.optional().describe('A configured source; `local` when left out'),
  timeout_ms: z.int().min(1).max(120_000).optional().describe('Time that the question may take, in milliseconds'),
})

const resultOutput = z.strictObject({
  id: z.string(),
  title: z.string(),
  content: z.string(),
  source: z.string(),
  score: z.number(),
  rawScore: z.number(),
  metadata,
  why: z.array(z.enum(['vector', 'words'])),
  relatedIds: z.array(z.string()).optional(),
})

const queryOutput = z.strictObject({
  results: z.array(resultOutput),
  warnings: z.array(
    z.strictObject({
      collection: z.string(),
      code: z.string(),
      message: z.string(),
      reason: z.string().optional(),
      count: z.number().optional(),
    }),
  ),
  meta: z.strictObject({
    store: z.string(),
    collections: z.array(z.string()),
    cutoff: z.string().nullable(),
    total: z.number(),
    durationMs: z.number(),
  }),
})

const query: Operation<LensHost, typeof queryInput, typeof queryOutput> = {
  name: 'collections.query',
  summary: 'Ask one question over several collections, by meaning, with a day filter',
  input: queryInput,
  output: queryOutput,
  effect: { kind: 'read', idempotent: true },
  cost: ({ n_results }) => costOfAsking({ limit: n_results }),
  run: async (host, { n_results, min_score, store, timeout_ms, ...rest }, { viewer, signal }) => {
    const source = host.source(store ?? 'local')
    const input: CollectionsInput = { ...rest, nResults: n_results, minScore: min_score }
    const answer = await askCollections(input, {
      source,
      sight: host.sight(viewer),
      now: host.clock.now(),
      deadline: new Deadline(timeout_ms ?? TIMEOUT_MS, signal),
      embed: async question => (await host.embedder?.embed([question], 'query', signal))?.[0] ?? null,
    })
    return toOutput(answer)
  },
}

const formatInput = z.strictObject({
  results: z
    .array(z.object({ title: z.string(), content: z.string(), source: z.string(), score: z.number(), metadata }))
    .describe('As collections.query gives them'),
  query: z.string().describe('The question, for the heading'),
  lang: z
    .enum(['auto', 'es', 'en'])
    .optional()
    .describe('Spanish or English; default auto: English for a question recognised as English, else Spanish'),
  urls: z.boolean().optional().describe('Show addresses; default false'),
})

const formatOutput = z.strictObject({ markdown: z.string() })

const format: Operation<LensHost, typeof formatInput, typeof formatOutput> = {
  name: 'collections.format',
  summary: 'Lay results out as Markdown, in Spanish or English',
  input: formatInput,
  output: formatOutput,
  effect: { kind: 'read', idempotent: true, storeless: true },
  run: async (_, { results, query: asked, lang = 'auto', urls }) => ({
    markdown: formatResultsMarkdown(results, asked, { lang: answerLanguage(lang, asked), urls }),
  }),
}

export const COLLECTIONS_OPERATIONS: readonly Operation<LensHost>[] = [query, format].map(
  operation => operation as unknown as Operation<LensHost>,
)

/** Schemas speak of lists that may be written to. */
function toOutput({ results, warnings, meta }: CollectionsAnswer): z.output<typeof queryOutput> {
  return structuredClone({ results, warnings, meta }) as unknown as z.output<typeof queryOutput>
}
