/**
 * The request: as a caller sends it (`QueryInput`, checked once at the door by `parseInput`), and as the pipeline works
 * with it (`Query`: everything resolved, nothing optional).
 */
import { z } from 'zod'
import type { Instant } from '../base/clock.ts'
import type { Filter } from './filter.ts'
import { DEFAULT_LIMIT, DEFAULT_TIMEOUT_MS, MAX_LIMIT, MAX_NAME_LENGTH, MAX_TIMEOUT_MS } from './limits.ts'

const name: z.ZodString = z.string().min(1).max(MAX_NAME_LENGTH)
const names: z.ZodOptional<z.ZodArray<z.ZodString>> = z.array(name).max(100).optional()

/** A moment: ISO 8601 with a zone, a plain date (its first instant in UTC), or milliseconds since 1970. */
export const instantInput: z.ZodType<string | number> = z.union([
  z.string().regex(/^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d))?$/, 'an ISO 8601 time with zone, or a date'),
  z.int(),
])

const scalar = z.union([z.string(), z.number(), z.boolean()])

/**
 * Metadata conditions: key (dotted path) to an exact value, a list (any of), or operators `eq`, `gt`, `gte`, `lt`,
 * `lte`, `contains`, `exists`, all of which must hold.
 */
const metadataCondition = z.union([
  scalar,
  z.array(scalar).min(1).max(1000),
  z.strictObject({
    eq: scalar.optional(),
    gt: scalar.optional(),
    gte: scalar.optional(),
    lt: scalar.optional(),
    lte: scalar.optional(),
    contains: z.string().optional(),
    exists: z.boolean().optional(),
  }),
])

const period = z.strictObject({ after: instantInput.optional(), before: instantInput.optional() })

export const filterInput = z.strictObject({
  collections: names,
  kinds: names,
  /** All of these tags. */
  tags: names,
  any_tags: names,
  not_tags: names,
  ids: z.array(z.string().min(1).max(512)).max(1000).optional(),
  metadata: z.record(z.string(), metadataCondition).optional(),
  /** `after` is included, `before` excluded. */
  created: period.optional(),
  updated: period.optional(),
  /** By this viewer. */
  accessed: period.optional(),
  known: period.optional(),
  /** Holds at this moment. */
  valid_at: instantInput.optional(),
})
export type FilterInput = z.infer<typeof filterInput>

export const queryInput = z.strictObject({
  text: z.string(),
  lens: name.optional(),
  limit: z.int().min(1).max(MAX_LIMIT).optional(),
  cursor: z.string().max(4096).optional(),
  filter: filterInput.optional(),
  /** `hybrid` (default): words and meaning; `words` or `meaning` alone. */
  mode: z.enum(['hybrid', 'words', 'meaning']).optional(),
  /** Share of meaning in the score, 0 to 1; words have the rest. */
  meaning_weight: z.number().min(0).max(1).optional(),
  /** Whether use of an entry by this viewer lifts it a little. */
  memory: z.boolean().optional(),
  /** Whether this question counts as use of what it returns. */
  touch: z.boolean().optional(),
  /** 0 to 1: 1 is relevance alone, less spreads the results over unlike entries (MMR). */
  diversity: z.number().min(0).max(1).optional(),
  /** Most results from one collection, or of one origin. */
  per_collection: z.int().min(1).optional(),
  per_origin: z.int().min(1).optional(),
  /** Give what there is, even where nothing is relevant enough. */
  any: z.boolean().optional(),
  explain: z.boolean().optional(),
  trace: z.boolean().optional(),
  /** False: exact nearest neighbours, whatever they cost. */
  approximate: z.boolean().optional(),
  /** Ask as if it were this moment: rules decay and recency; what was not valid then is left out. */
  as_of: instantInput.optional(),
  /** Only what was known at this moment. */
  known_at: instantInput.optional(),
  timeout_ms: z.int().min(1).max(MAX_TIMEOUT_MS).optional(),
  /** Longest excerpt, in characters. */
  excerpt_length: z.int().min(40).max(10_000).optional(),
})
export type QueryInput = z.infer<typeof queryInput>

/** Where a page ended; the next one goes on strictly after it. Travels in the cursor. */
export interface Position {
  /** The last item's place in the total order. */
  readonly order: number
  readonly id: string
  readonly holder: string
  /** Its rank: what was shown so far. */
  readonly rank: number
  /** How deep retrieval had to go; the next page begins there. */
  readonly depth: number
}

/** What the pipeline runs on. Made from a checked `QueryInput`, the engine's settings and the clock. */
export interface Query {
  readonly text: string
  readonly lens: string
  readonly limit: number
  /** Null: from the beginning. */
  readonly after: Position | null
  /** What a cursor of this question is bound to: changes with everything that could change the order. */
  readonly binding: string
  /** Conditions of `filter` and `known_at`; those in the text are added by the parse stage. */
  readonly filter: Filter | null
  readonly mode: 'hybrid' | 'words' | 'meaning'
  /** Null: the default of what is searched (0.7; 0.85 where only code is). */
  readonly meaningWeight: number | null
  readonly memory: boolean
  readonly touch: boolean
  readonly diversity: number
  readonly perCollection: number | null
  readonly perOrigin: number | null
  readonly any: boolean
  readonly explain: boolean
  readonly trace: boolean
  readonly approximate: boolean
  readonly timeoutMs: number
  readonly excerptLength: number
  /** The moment that decay, recency, validity and relative times refer to. */
  readonly asOf: Instant
}

export const QUERY_DEFAULTS = {
  lens: 'default',
  limit: DEFAULT_LIMIT,
  mode: 'hybrid',
  memory: true,
  touch: true,
  diversity: 1,
  any: false,
  explain: false,
  trace: false,
  approximate: true,
  timeoutMs: DEFAULT_TIMEOUT_MS,
  excerptLength: 320,
} as const
