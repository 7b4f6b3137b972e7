/** Schema of a query request, checked once at the interface by `parseInput`. Names are snake_case, as on every interface. */
import { z } from 'zod'
import type { ReadonlyDeep } from '../base/readonly-deep.ts'
import {
  MAX_CHUNK_SIZE,
  MAX_CURSOR_LENGTH,
  MAX_ID_LENGTH,
  MAX_LIMIT,
  MAX_NAME_LENGTH,
  MAX_PASSAGES,
  MAX_TIMEOUT_MS,
} from './limits.ts'
import { jsonObjectInput } from './parse-input.ts'
import { GROUPS, type Group, PHRASE_USES, SYNTAXES } from './query.ts'

/** Schema of a time: ISO 8601 with a zone, a date alone (its first moment in UTC), or milliseconds since 1970. */
export type InstantInput = string | number

const name: z.ZodString = z.string().min(1).max(MAX_NAME_LENGTH)
const names: z.ZodOptional<z.ZodArray<z.ZodString>> = z.array(name).min(1).max(100).optional()

export const instantInput: z.ZodType<InstantInput> = z
  .union([
    z
      .string()
      .regex(
        /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d))?$/,
        'an ISO 8601 time with zone, or a date',
      ),
    z.int(),
  ])
  .register(z.globalRegistry, { id: 'Instant' })

const scalar = z.union([z.string(), z.number(), z.boolean()])

/** Schema of a condition on a metadata value: an exact value, a list of allowed values, or operators that must all hold. */
const metadataCondition = z.union([
  scalar,
  z.array(scalar).min(1).max(1000),
  z.strictObject({
    eq: scalar.optional().describe('Equal to this value'),
    gt: scalar.optional().describe('Above this value, of the same type'),
    gte: scalar.optional().describe('At least this value, of the same type'),
    lt: scalar.optional().describe('Below this value, of the same type'),
    lte: scalar.optional().describe('At most this value, of the same type'),
    contains: z.string().optional().describe('A text that holds this one, in any letter case'),
    exists: z.boolean().optional().describe('true: the key is there; false: it is not'),
  }),
])

/**
 * Zod would silently drop the key `__proto__`, and the answer would be wrong without the condition under that key, so the key is refused.
 */
const conditions = z.preprocess(
  (value, check) => {
    if (typeof value === 'object' && value !== null && Object.hasOwn(value, '__proto__')) {
      check.issues.push({ code: 'custom', message: 'keys other than __proto__', input: value })
    }
    return value
  },
  z.record(z.string(), metadataCondition),
)

/** Schema of a period of time: from `after` (included) to `before` (excluded). */
const period = z.strictObject({
  after: instantInput.optional().describe('From this time on. Default: no limit'),
  before: instantInput.optional().describe('Before this time. Default: no limit'),
})

export type PeriodInput = ReadonlyDeep<z.output<typeof period>>

/**
 * Schema of a filter, whose conditions must all hold. Lists must not be empty, since an empty list could be understood as everything or as
 * nothing.
 */
const filterSchema = z
  .strictObject({
    collections: names.describe('Only entries of these collections. Default: all'),
    kinds: names.describe('Only entries of these kinds. Default: all'),
    tags: names.describe('Only entries with all of these tags. Default: any'),
    any_tags: names.describe('Only entries with at least one of these tags. Default: any'),
    not_tags: names.describe('Only entries with none of these tags. Default: any'),
    ids: z
      .array(z.string().min(1).max(MAX_ID_LENGTH))
      .min(1)
      .max(1000)
      .optional()
      .describe('Only entries with these ids. Default: any'),
    metadata: conditions
      .optional()
      .describe(
        'Conditions by key or dotted path: a value, a list of allowed values, or operators (eq, gt, gte, lt, lte, contains, exists). All must hold. Default: none',
      ),
    fields: conditions
      .optional()
      .describe('Conditions by field of a lens, such as conversations.speaker, in the form of metadata. Default: none'),
    created: period.optional().describe('When the entry was created. Default: any time'),
    updated: period.optional().describe('When the entry was last changed. Default: any time'),
    accessed: period.optional().describe('When this viewer last used the entry. Default: any time'),
    known: period.optional().describe('When the entry became known. Default: any time'),
    valid_at: instantInput.optional().describe('Only entries that are valid at this time. Default: any'),
  })
  .register(z.globalRegistry, { id: 'Filter' })

export type FilterInput = ReadonlyDeep<z.output<typeof filterSchema>>
export const filterInput: z.ZodType<FilterInput> = filterSchema

export const groupInput: z.ZodOptional<z.ZodEnum<{ entry: 'entry'; passage: 'passage' }>> = z
  .enum(GROUPS)
  .optional()
  .describe(
    'entry: one result per entry. passage: one result per passage, so an entry can have several. Default: entry',
  )

/**
 * Schemas of the query fields that are the same in every operation that queries. Fields without a description here are described by each
 * operation, where their meaning differs.
 */
export const questionFields: {
  readonly syntax: z.ZodOptional<z.ZodEnum<{ plain: 'plain'; lenient: 'lenient'; strict: 'strict' }>>
  readonly phrase: z.ZodOptional<z.ZodEnum<{ require: 'require'; prefer: 'prefer' }>>
  readonly cursor: z.ZodOptional<z.ZodString>
  readonly mode: z.ZodOptional<z.ZodEnum<{ hybrid: 'hybrid'; words: 'words'; meaning: 'meaning' }>>
  readonly meaning_weight: z.ZodOptional<z.ZodNumber>
  readonly explain: z.ZodOptional<z.ZodBoolean>
  readonly touch: z.ZodOptional<z.ZodBoolean>
  readonly approximate: z.ZodOptional<z.ZodBoolean>
  readonly as_of: z.ZodOptional<typeof instantInput>
  readonly timeout_ms: z.ZodOptional<z.ZodInt>
} = {
  syntax: z
    .enum(SYNTAXES)
    .optional()
    .describe(
      'How to read the text. plain: no operators. lenient: search broken operators as text and add a note. strict: report them as the error query_syntax. Default: lenient',
    ),
  phrase: z
    .enum(PHRASE_USES)
    .optional()
    .describe(
      'require: results must contain a quoted phrase. prefer: results that contain it rank higher. Default: require in strict syntax; in lenient syntax require if at least 10 visible entries contain it or the query is nothing else, otherwise prefer',
    ),
  cursor: z
    .string()
    .max(MAX_CURSOR_LENGTH)
    .optional()
    .describe('Cursor of the previous page, to continue after it. Default: the first page'),
  mode: z
    .enum(['hybrid', 'words', 'meaning'])
    .optional()
    .describe('Rank by words, by meaning, or by both (hybrid). Default: hybrid'),
  meaning_weight: z.number().min(0).max(1).optional(),
  explain: z.boolean().optional().describe('Explain each score as a tree. Default: false'),
  touch: z
    .boolean()
    .optional()
    .describe('Count each result as a use of its entry. Default: false, true in the lens chroma'),
  approximate: z.boolean().optional(),
  as_of: instantInput.optional(),
  timeout_ms: z
    .int()
    .min(1)
    .max(MAX_TIMEOUT_MS)
    .optional()
    .describe('Longest time for the query, in milliseconds. Default: 5000'),
}

const querySchema = z
  .strictObject({
    text: z
      .string()
      .describe('Query in plain words or in the query language; only the first 10,000 characters are read'),
    syntax: questionFields.syntax,
    phrase: questionFields.phrase,
    lens: name.optional().describe('Lens to query with. Default: the setting default_lens'),
    options: jsonObjectInput
      .meta({ type: 'object', additionalProperties: { type: ['string', 'number', 'boolean', 'array', 'object'] } })
      .optional()
      .describe('Options of the lens, such as {"fusion": "rrf"} for c64. Default: none'),
    limit: z.int().min(1).max(MAX_LIMIT).optional().describe('Number of results. Default: 10'),
    cursor: questionFields.cursor,
    filter: filterInput.optional().describe('Conditions that results must meet. Default: none'),
    mode: questionFields.mode,
    meaning_weight: questionFields.meaning_weight.describe(
      'Weight of meaning in the score; words have the rest. Default: 0.7, 0.85 for code, between them for both',
    ),
    memory: z.boolean().optional().describe('Rank entries that this viewer uses often a little higher. Default: true'),
    touch: questionFields.touch,
    diversity: z
      .number()
      .min(0)
      .max(1)
      .optional()
      .describe('1: rank by relevance alone. Lower: avoid results that are alike. Default: 1'),
    per_collection: z.int().min(1).optional().describe('Most results from one collection. Default: no limit'),
    per_origin: z.int().min(1).optional().describe('Most results from one origin, such as a file. Default: no limit'),
    any: z.boolean().optional().describe('Return results even if none is relevant enough. Default: false'),
    explain: questionFields.explain,
    trace: z.boolean().optional().describe('Report what each stage did and how long it took. Default: false'),
    approximate: questionFields.approximate.describe(
      'Allow approximate nearest neighbours; exact ones take longer. Default: true',
    ),
    as_of: questionFields.as_of.describe('Query as of this time: leave out what was not valid then. Default: now'),
    known_at: instantInput.optional().describe('Only what was known at this time. Default: now'),
    timeout_ms: questionFields.timeout_ms,
    excerpt_length: z.int().min(40).max(10_000).optional().describe('Longest excerpt in characters. Default: 320'),
    group: groupInput,
    passages: z
      .int()
      .min(1)
      .max(MAX_PASSAGES)
      .optional()
      .describe('Most passages per result, best first, with section, lines and score. Default: 1'),
    chunk_size: z
      .int()
      .min(1)
      .max(MAX_CHUNK_SIZE)
      .optional()
      .describe('Most results per chunk of a streamed answer. Default: 20'),
  })
  .register(z.globalRegistry, { id: 'Query' })

export type QueryInput = ReadonlyDeep<Omit<z.output<typeof querySchema>, 'options'>> & {
  /** Options for the lens named in the query, checked by that lens's own schema (`Lens.options`). */
  readonly options?: Readonly<Record<string, unknown>> | undefined
}
export const queryInput: z.ZodType<QueryInput> = querySchema

// Schemas for completing what a user types, with existing names that the viewer may know.

export const SUGGESTED_FIELDS = ['collection', 'kind', 'tag', 'holder'] as const
export type SuggestedField = (typeof SUGGESTED_FIELDS)[number]

const suggestSchema = z.strictObject({
  prefix: z
    .string()
    .max(MAX_NAME_LENGTH)
    .optional()
    .describe('Beginning of the names, in any letter case. Default: any'),
  fields: z
    .array(z.enum(SUGGESTED_FIELDS))
    .min(1)
    .max(SUGGESTED_FIELDS.length)
    .optional()
    .describe('What to complete; holders are shown to the owner only. Default: all'),
  limit: z.int().min(1).max(100).optional().describe('Names per field. Default: 10'),
})

export type SuggestInput = ReadonlyDeep<z.output<typeof suggestSchema>>
export const suggestInput: z.ZodType<SuggestInput> = suggestSchema

/** Schema of suggested names, grouped by field, the most frequent names of a field first. */
const suggestions = z.strictObject({
  suggestions: z
    .array(
      z.strictObject({
        field: z.enum(SUGGESTED_FIELDS).describe('Field that the name belongs to'),
        value: z.string().describe('The name in full'),
        count: z.int().min(0).describe('Number of visible entries that have it'),
      }),
    )
    .describe('Names by field, the most frequent first'),
})

export type Suggestions = ReadonlyDeep<z.output<typeof suggestions>>
export type Suggestion = Suggestions['suggestions'][number]
export const suggestOutput: z.ZodType<Suggestions> = suggestions

// Cost of a query in units (BQ-190). It is computed from the request alone, so that the price reveals nothing about the store.

/** Number of requested results that cost one unit. */
const RESULTS = 100
/** Number of requested results above which the cost no longer grows, since some operations have no limit of their own. */
const MAX_RESULTS = 10_000

/** The fields of a query request that determine its cost in units. */
export interface Priced {
  readonly limit?: number | undefined
  readonly explain?: boolean | undefined
  readonly trace?: boolean | undefined
  readonly passages?: number | undefined
  readonly group?: Group | undefined
  readonly diversity?: number | undefined
  readonly approximate?: boolean | undefined
}

/**
 * Cost of a query in units, at least 1. Each started hundred of requested results costs 1, plus 1 for explanations or a trace, 1 for
 * diversity, and 1 for several passages per result or passages as results. Exact vectors cost 1 more for the whole query.
 *
 * @example
 * costOfAsking({ limit: 1000, explain: true, diversity: 0.5, approximate: false }) // 31
 */
export function costOfAsking(asked: Priced): number {
  const { limit = 0, explain = false, trace = false, diversity = 1, passages = 1, group, approximate = true } = asked
  const ranksPassages = passages > 1 || group === 'passage'
  const hundreds = Math.max(1, Math.ceil(Math.min(limit, MAX_RESULTS) / RESULTS))
  return (
    hundreds * (1 + (explain || trace ? 1 : 0) + (diversity < 1 ? 1 : 0) + (ranksPassages ? 1 : 0)) +
    (approximate ? 0 : 1)
  )
}

/**
 * Cost of a count in units. A count ranks up to 10,000 results but does not build them, so it costs less than a page of as many results.
 */
export function costOfCounting(asked: Priced): number {
  return costOfAsking({ ...asked, limit: COUNTED, explain: false, trace: false, passages: 1 })
}

/** Number of results whose page costs as much as a count. */
const COUNTED = 1_000

/** Number of code points of a query's text that cost one unit; the first 1,000 are free. */
const TEXT = 1_000
/** Fields with tokens from an earlier answer, which cost nothing since the requester cannot choose their length. */
const TOKENS: ReadonlySet<string> = new Set(['cursor', 'resume_token'])

/**
 * Cost of the length of a query's texts, in units, 0 or more: 1 for each started 1,000 code points beyond the first 1,000, counted over all
 * texts in the input, at any depth (BQ-190, QE-019). `input` is plain JSON.
 *
 * @example
 * costOfText({ text: 'fox '.repeat(500) }) // 1
 */
export function costOfText(input: unknown): number {
  return Math.max(0, Math.ceil(codePoints(input) / TEXT) - 1)
}

/** Counts the code points of all texts in the input. Uses its own stack, since input may be nested deeper than the call stack allows. */
function codePoints(input: unknown): number {
  let sum = 0
  const left: unknown[] = [input]
  while (left.length > 0) {
    const value = left.pop()
    // Subtracts the number of surrogate pairs, instead of splitting the text into an array of code points: a text may be a megabyte long.
    if (typeof value === 'string') sum += value.length - (value.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0)
    else if (Array.isArray(value)) for (const item of value) left.push(item)
    else if (typeof value === 'object' && value !== null) {
      for (const [name, item] of Object.entries(value)) if (!TOKENS.has(name)) left.push(item)
    }
  }
  return sum
}
