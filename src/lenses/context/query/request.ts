/** Schema of the parameters of `/context/query`, and how they become options of a query of the engine. */
import { z } from 'zod'
import type { EmbeddingModel } from '../../../embed/embedder.ts'
import { invalidArgument } from '../../../model/errors.ts'
import {
  type BoundFormula,
  constant,
  type Formula,
  max,
  NO_NUMBERS,
  type Numbers,
  number,
  product,
  quotient,
  scoreBy,
  sum,
} from '../../../model/formula.ts'
import { MAX_QUERY_LENGTH, MAX_TIMEOUT_MS } from '../../../model/limits.ts'
import type { Query } from '../../../model/query.ts'
import type { QueryInput } from '../../../model/query-input.ts'
import { weightNumbers } from '../../../pipeline/formula.ts'
import type { OtherScores } from '../../../pipeline/partly-embedded.ts'
import type { Plan } from '../../../pipeline/stage.ts'
import { clamped, flag, question, refusal, weight } from '../envelope.ts'
import { lengthOf } from '../names.ts'

const MODES = ['semantic', 'exact', 'hybrid'] as const

/**
 * Orders of the neighbours (linked concepts) in an answer. `breadth`: as they are reached. `weighted`: by the score of the concept that
 * reaches them times the weight of the link. `relevance`: by the sum of this over all concepts that reach them; concepts found directly are
 * then also ordered by relevance.
 */
const RANKS = ['breadth', 'weighted', 'relevance'] as const
const RANK_TEXT =
  'Order of neighbours. breadth: as they are reached; weighted: by the concept that they were reached from; relevance: by all concepts that they were reached from, and matches by all evidence'

/** Smallest length of a query, in characters, for a search by meaning alone. */
const MIN_SEMANTIC = 3
const DEFAULT_DEPTH = 1
const MAX_DEPTH = 2
const DEFAULT_CONCEPTS = 10
const MAX_CONCEPTS = 50

export const contextRequest = z.lazy(() =>
  z.object({
    query: question
      .transform(value => value.trim())
      .describe('What to look for: a name of the code, words, or a question in plain language'),
    depth: clamped('Number of links to follow from each match', DEFAULT_DEPTH, 0, MAX_DEPTH),
    limit: clamped('Most concepts, neighbours included', DEFAULT_CONCEPTS, 1, MAX_CONCEPTS),
    mode: z
      .enum(MODES)
      .nullish()
      .transform(value => value ?? null)
      .describe(
        `semantic: by meaning, of at least ${MIN_SEMANTIC} characters; exact: by name; hybrid: both. Default: names and their words, without scores`,
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
    explain: flag.describe('Report how each concept was found and scored. Default: false'),
    max_tokens: weight
      .transform(value => (value === null || value === undefined ? null : Math.trunc(value)))
      .describe('Adds a bundle of texts of at most this many tokens, 0 or more. Default: no bundle'),
  }),
)
/**
 * The checked parameters of a request. `mode` null: the default mode of the first version of this call. `max_tokens` null: the answer is
 * not packed into a text.
 */
export type ContextRequest = Readonly<z.output<typeof contextRequest>>

/** Throws `Refusal` for a search by meaning alone whose query has too few characters. */
export function requireMeaning({ mode, query }: ContextRequest): void {
  if (mode === 'semantic' && lengthOf(query) < MIN_SEMANTIC) {
    throw refusal('query', 'too_short', `semantic search requires query length >= ${MIN_SEMANTIC}`)
  }
}

/**
 * Schema of the `options` of a query for the lens `context`. Where they are left out, the defaults are those of the command `querent
 * context query`.
 */
export const contextOptions = z.strictObject({
  depth: z
    .int()
    .min(0)
    .max(MAX_DEPTH)
    .optional()
    .describe(`Number of links to follow from each match, 0 to ${MAX_DEPTH}. Default: ${DEFAULT_DEPTH}`),
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
      `semantic: by meaning, of at least ${MIN_SEMANTIC} characters; exact: by name; names: by name and words of names; hybrid: all of these. Default: hybrid`,
    ),
  rank: z.enum(RANKS).optional().describe(`${RANK_TEXT}. Default: relevance`),
})
type ContextOptions = z.output<typeof contextOptions>

/** A query with its options, in the form that the stages of the lens use. */
export interface ContextQuestion {
  readonly text: string
  readonly depth: number
  readonly limit: number
  readonly mode: NonNullable<ContextOptions['mode']>
  readonly rank: NonNullable<ContextOptions['rank']>
}

/**
 * Makes from an engine query the form that the stages of the lens use. Throws `invalid_argument` for a search by meaning alone whose text
 * is too short.
 */
export function questionOf({ text: given, options, mode: legs }: Query): ContextQuestion {
  const text = given.trim().slice(0, MAX_QUERY_LENGTH)
  const {
    depth = DEFAULT_DEPTH,
    limit = DEFAULT_CONCEPTS,
    mode = legs === 'meaning' ? 'semantic' : 'hybrid',
    rank = 'relevance',
  } = options as ContextOptions
  if (mode === 'semantic' && lengthOf(text) < MIN_SEMANTIC) {
    throw invalidArgument('text', given, `at least ${MIN_SEMANTIC} characters, since it is searched by meaning alone`)
  }
  return { text, depth, limit, mode, rank }
}

export function wantsMeaning({ mode, text }: ContextQuestion): boolean {
  return mode === 'semantic' || (mode === 'hybrid' && lengthOf(text) >= MIN_SEMANTIC)
}

/**
 * Whether concepts are ordered by relevance, which is a sum of several kinds of evidence. In a search by meaning alone there is only one
 * kind, so there it is false.
 */
export function isByRelevance({ rank, mode }: Pick<ContextQuestion, 'rank' | 'mode'>): boolean {
  return rank === 'relevance' && mode !== 'semantic'
}

/**
 * Makes the engine's query for a request. Results are shown even when the engine judges them not relevant, and the time limit is the
 * longest allowed, since loading a model may take long.
 */
export function queryOf({ query: text, limit, depth, mode, rank }: ContextRequest): QueryInput {
  const options = { limit, depth, mode: mode ?? 'names', rank }
  return { text, options, limit, any: true, excerpt_length: SHORTEST_EXCERPT, timeout_ms: MAX_TIMEOUT_MS }
}

/** Excerpts of results are kept as short as possible, since this call shows previews of files and does not use excerpts. */
const SHORTEST_EXCERPT = 40

/** Schema of the query for the other query operations of the lens, such as explain and count. */
export const contextQuestion = z.strictObject({
  query: z.string().describe('What to look for: a name of the code, words, or a question in plain language'),
  ...contextOptions.shape,
})

export function queryOfQuestion({ query: text, ...options }: z.output<typeof contextQuestion>): QueryInput {
  return { text, options, limit: options.limit ?? DEFAULT_CONCEPTS, any: true }
}

// Relevance: all evidence for a concept in one formula; by words its name, path, doc comment, code and passages, by meaning its vector.
// `words`, `meaning`: weights that sum to 1. `bm/bmTop`: BM25 score of the concept's text, divided by the highest one. How the numbers were
// chosen, and how much they improve answers: docs/decisions/034.
//
//     evidence  = words·(name + path + doc + bm/bmTop + passage) / 5 + meaning·max(0, cosine)
//     relevance = evidence, for a whole file times 0.8
//
// A neighbour (concept reached by a link) has no evidence of its own: its score comes from links, and it is ranked in the order in which it
// was retrieved.

/** Ways in which a query can find a concept. A candidate's signal `match` (number stored with it) is an index into this list. */
export const MATCHES = ['whole', 'name', 'words', 'meaning', 'text'] as const
export type Match = (typeof MATCHES)[number]

/** Weight of meaning in the relevance of a concept with a vector; words have the remaining weight. */
export const MEANING = 0.7
const WORD_PARTS = 5
/**
 * Factor on the relevance of a concept that is a whole file, because the content of a file matches more than that of a single declaration,
 * and because the file of a found declaration is returned in any case.
 */
const WHOLE_FILE = 0.8
const WHOLE_FILES: ReadonlySet<string> = new Set(['Module', 'Document', 'Package'])

export function isWholeFile(type: string): boolean {
  return WHOLE_FILES.has(type)
}

/** Makes a summand of the relevance score that explanations omit where its value is 0. */
function part(label: string, name: string): Formula {
  return number(label, name, { component: name, shown: row => (row[name] ?? 0) > 0 })
}

const TEXT = quotient('share of the best text', number('BM25', 'words'), number('best BM25 here', 'bmTop'), {
  component: 'text',
  shown: ({ words = 0 }) => words > 0,
})

const COSINE = max('cosine', [
  number('cosine', 'meaning', { when: 'meaning' }),
  number('expected cosine', 'expected', {
    when: 'expected',
    note: 'no vector yet: estimated from passages with the same share of the words',
  }),
  constant('least', 0, { shown: ({ meaning = 0, expected = 0 }) => meaning <= 0 && expected <= 0 }),
])

const EVIDENCE = sum('evidence', [
  product('words', [
    sum('parts', [
      part('words in its name', 'name'),
      part('words in its path', 'path'),
      part('words in its comment', 'doc'),
      TEXT,
      part('words in one passage', 'passage'),
    ]),
    number('weight of words', 'weight_words'),
    constant('one of five parts', 1 / WORD_PARTS),
  ]),
  product('meaning', [COSINE, number('weight of meaning', 'weight_meaning'), number('scale', 'cosineScale')], {
    component: 'meaning',
    shown: (_, { weight_meaning: weight = 0 }) => weight > 0,
    detail: row => `cosine ${scoreBy(COSINE, row, NO_NUMBERS).toFixed(2)}`,
  }),
])

const SCORE = sum(
  'score',
  [
    product('relevance', [EVIDENCE, constant('of a whole file', WHOLE_FILE, { when: 'whole' })], { when: 'match' }),
    number('by links from the matches', 'link', { component: 'links', when: 'link' }),
  ],
  { note: ({ hops }) => (hops === undefined ? undefined : `reached over links, ${hops} steps away`) },
)

/**
 * Binds the relevance formula of concepts to the weights of one query. The formula reads these numbers of a concept: `match` where the
 * query found it, with `name`, `path`, `doc` and `passage` (shares of the query's words, 0 to 1), `words` (BM25), `meaning` and `expected`
 * (cosines) and `whole` (it is a whole file); `hops` and `link` where links from found concepts led to it.
 */
export function boundRelevance(
  { weights }: Pick<Plan, 'weights'>,
  bmTop: number,
  model: EmbeddingModel | null,
): BoundFormula {
  const numbers = { ...weightNumbers(weights), bmTop, cosineScale: model?.cosineScale ?? 1 }
  return { formula: SCORE, numbers }
}

export function otherScores({ formula, numbers }: BoundFormula): OtherScores {
  const wordsAlone: Numbers = { ...numbers, ...weightNumbers({ words: 1, meaning: 0 }) }
  return {
    byWords: ({ signals }) => {
      const score = scoreBy(formula, signals, wordsAlone)
      return score > 0 ? score : null
    },
    byKnown: ({ signals: { expected: _, ...known } }) =>
      known['meaning'] === undefined ? null : scoreBy(formula, known, numbers),
  }
}
