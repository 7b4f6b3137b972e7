/** What `/context/query` takes, and the options that it becomes for the pipeline. */
import { z } from 'zod'
import { invalidArgument } from '../../../model/errors.ts'
import { MAX_QUERY_LENGTH, MAX_TIMEOUT_MS } from '../../../model/limits.ts'
import type { Query } from '../../../model/query.ts'
import type { QueryInput } from '../../../model/query-input.ts'
import { refusal } from '../envelope.ts'
import { lengthOf } from '../names.ts'
import { clamped, flag, question, weight } from '../schemas.ts'

const MODES = ['semantic', 'exact', 'hybrid'] as const

/**
 * Of neighbours. `breadth`: as they are reached; `weighted`: by what they were reached from; `closeness`: by a walk from all
 * anchors. `relevance`: as `closeness`, and the anchors by all that speaks for them.
 */
const RANKS = ['breadth', 'weighted', 'closeness', 'relevance'] as const
const RANK_TEXT =
  'How neighbours are ordered. breadth: as they are reached; weighted: by what they were reached from; closeness: by a walk from all that was found; relevance: as closeness, and what was found by all that speaks for it'

/** Characters without which meaning says nothing. */
const LEAST_SEMANTIC = 3
const DEFAULT_DEPTH = 1
const MAX_DEPTH = 2
const DEFAULT_CONCEPTS = 10
const MAX_CONCEPTS = 50

export const contextRequest = z.lazy(() =>
  z.object({
    query: question
      .transform(value => value.trim())
      .describe('What to look for: a name of the code, words, or a question in plain language'),
    depth: clamped('Links in a row from what was found to its neighbours', DEFAULT_DEPTH, 0, MAX_DEPTH),
    limit: clamped('Most concepts, neighbours included', DEFAULT_CONCEPTS, 1, MAX_CONCEPTS),
    mode: z
      .enum(MODES)
      .nullish()
      .transform(value => value ?? null)
      .describe(
        `semantic: by meaning, of at least ${LEAST_SEMANTIC} characters; exact: by name; hybrid: both. Default: names and their words, without scores`,
      ),
    rank: z
      .enum(RANKS)
      .nullish()
      .transform(value => value ?? 'breadth')
      .describe(`${RANK_TEXT}. Default: breadth`),
    snippet: z
      .enum(['head', 'passage'])
      .nullish()
      .transform(value => value ?? 'head')
      .describe('Which part of a file is shown: its beginning, or the lines of the concept. Default: head'),
    explain: flag.describe('Say how each concept was found and scored. Default: false'),
    max_tokens: weight
      .transform(value => (value === null || value === undefined ? null : Math.trunc(value)))
      .describe('Adds a bundle of texts of at most so many tokens, 0 or more. Default: no bundle'),
  }),
)
/** `mode` null: as the first version of this call had it. `max_tokens` null: no bundle is packed. */
export type ContextRequest = Readonly<z.output<typeof contextRequest>>

/** Throws `Refusal` for what is too short to mean anything. */
export function requireMeaning({ mode, query }: ContextRequest): void {
  if (mode === 'semantic' && lengthOf(query) < LEAST_SEMANTIC) {
    throw refusal('query', 'too_short', `semantic search requires query length >= ${LEAST_SEMANTIC}`)
  }
}

/** Of a query of the pipeline. Without any of them it asks as `querent context query` does. */
export const contextOptions = z.strictObject({
  depth: z
    .int()
    .min(0)
    .max(MAX_DEPTH)
    .optional()
    .describe(`Links in a row from what was found to its neighbours, 0 to ${MAX_DEPTH}. Default: ${DEFAULT_DEPTH}`),
  limit: z
    .int()
    .min(1)
    .max(MAX_CONCEPTS)
    .optional()
    .describe(
      `Most concepts of all pages together, neighbours included, 1 to ${MAX_CONCEPTS}. Default: ${DEFAULT_CONCEPTS}`,
    ),
  mode: z
    .enum([...MODES, 'names'])
    .optional()
    .describe(
      `semantic: by meaning, of at least ${LEAST_SEMANTIC} characters; exact: by name; names: by name and words of names; hybrid: all of these. Default: hybrid`,
    ),
  rank: z.enum(RANKS).optional().describe(`${RANK_TEXT}. Default: relevance`),
})
type ContextOptions = z.output<typeof contextOptions>

/** A question as the stages answer it. */
export interface ContextQuestion {
  readonly text: string
  readonly depth: number
  readonly limit: number
  readonly mode: NonNullable<ContextOptions['mode']>
  readonly rank: NonNullable<ContextOptions['rank']>
}

/** Throws `invalid_argument` where meaning alone is asked of too short a text. */
export function questionOf({ text: given, options, mode: legs }: Query): ContextQuestion {
  const text = given.trim().slice(0, MAX_QUERY_LENGTH)
  const {
    depth = DEFAULT_DEPTH,
    limit = DEFAULT_CONCEPTS,
    mode = legs === 'meaning' ? 'semantic' : 'hybrid',
    rank = 'relevance',
  } = options as ContextOptions
  if (mode === 'semantic' && lengthOf(text) < LEAST_SEMANTIC) {
    throw invalidArgument('text', given, `at least ${LEAST_SEMANTIC} characters, since it is searched by meaning alone`)
  }
  return { text, depth, limit, mode, rank }
}

export function wantsMeaning({ mode, text }: ContextQuestion): boolean {
  return mode === 'semantic' || (mode === 'hybrid' && lengthOf(text) >= LEAST_SEMANTIC)
}

/** By all that speaks for a concept; meaning alone has nothing to be added to. */
export function isByRelevance({ rank, mode }: Pick<ContextQuestion, 'rank' | 'mode'>): boolean {
  return rank === 'relevance' && mode !== 'semantic'
}

/** The request as the pipeline is asked it: results are shown whatever the verdict, and however long a model takes to load. */
export function queryOf({ query: text, limit, depth, mode, rank }: ContextRequest): QueryInput {
  const options = { limit, depth, mode: mode ?? 'names', rank }
  return { text, options, limit, any: true, excerpt_length: SHORTEST_EXCERPT, timeout_ms: MAX_TIMEOUT_MS }
}

/** Files are previewed instead. */
const SHORTEST_EXCERPT = 40

/** A question of the family's other operations. */
export const contextQuestion = z.strictObject({
  query: z.string().describe('What to look for: a name of the code, words, or a question in plain language'),
  ...contextOptions.shape,
})

export function queryOfQuestion({ query: text, ...options }: z.output<typeof contextQuestion>): QueryInput {
  return { text, options, limit: options.limit ?? DEFAULT_CONCEPTS, any: true }
}
