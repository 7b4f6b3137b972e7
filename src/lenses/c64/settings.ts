/**
 * Settings of the lens `c64`, in layers, each overriding the one before: defaults, the configuration file (`lenses.c64`), environment
 * variables, values that the caller passes (such as flags).
 */
import { z } from 'zod'
import { MAX_QUERY_LENGTH } from '../../model/limits.ts'
import { parseInput } from '../../model/parse-input.ts'
import { questionFields } from '../../model/query-input.ts'
import { type CamelCased, camelCased, snakeCased } from '../camel-name.ts'

/** Schemas of the settings of the lens `c64`, by their names in the configuration file (snake_case). */
const FIELDS = {
  backend: z
    .enum(['embedded', 'qdrant'])
    .describe('The store itself, which needs neither server nor key, or a Qdrant server. Default: embedded'),
  collection: z.string().min(1).describe('Collection of the store'),
  limit: z.int().min(1).max(1_000).describe('Most results. Default: 15'),
  fetch_limit: z.int().min(1).max(1_000).describe('Fetched by each search, if more than limit. Default: 20'),
  min_score_ratio: z
    .number()
    .min(0)
    .max(1)
    .describe('Results below this share of the best one are dropped. Default: 0.6'),
  fusion: z
    .enum(['tags-first', 'rrf'])
    .describe('Results with the tags first, or one list of two by rank. Default: tags-first'),
  expand_addresses: z.boolean().describe('Whether an address also searches for the name of its register or routine'),
  qdrant_url: z.string().min(1).describe('Address of the Qdrant server. Default: http://localhost:6333'),
  qdrant_collection: z.string().min(1).describe('Collection of the Qdrant server. Default: c64_training'),
  qdrant_public: z.boolean().describe('Whether viewers other than the owner may query the Qdrant server'),
  embedding_model: z.string().min(1).describe('Model that embeds queries for Qdrant. Default: text-embedding-3-large'),
  embedding_url: z.string().min(1).optional().describe("A server with OpenAI's interface; absent: OpenAI's own"),
  timeout_ms: z.int().min(1).max(300_000).describe('Time limit of a query to Qdrant, in milliseconds'),
} as const

export type Field = keyof typeof FIELDS
type Values = { readonly [Name in Field]: z.output<(typeof FIELDS)[Name]> }

/** The settings of the lens `c64` by their names in the library (camelCase). */
export type C64Settings = CamelCased<Values>

/**
 * Settings of one source (file, environment or caller). A setting that is left out or undefined is taken from the source with the next
 * lower priority.
 */
export type GivenSettings = { readonly [Name in keyof C64Settings]?: C64Settings[Name] | undefined }

export type SearchSettings = Pick<C64Settings, 'limit' | 'fetchLimit' | 'minScoreRatio' | 'fusion'>

export const DEFAULTS: C64Settings = {
  backend: 'embedded',
  collection: 'c64',
  limit: 15,
  fetchLimit: 20,
  minScoreRatio: 0.6,
  fusion: 'tags-first',
  expandAddresses: false,
  qdrantUrl: 'http://localhost:6333',
  qdrantCollection: 'c64_training',
  qdrantPublic: false,
  embeddingModel: 'text-embedding-3-large',
  embeddingUrl: undefined,
  timeoutMs: 30_000,
}

/** Schema of the section `lenses.c64` in the configuration file. */
export const settingsSchema = z.strictObject(FIELDS).partial()

/** Environment variables that set a setting but do not have the lens's name in theirs, because other programs read them too. */
const SHARED_VARIABLES: Readonly<Partial<Record<Field, string>>> = {
  qdrant_url: 'QDRANT_URL',
  qdrant_collection: 'QDRANT_COLLECTION',
  embedding_model: 'EMBEDDING_MODEL',
}

export interface SettingsLayers {
  readonly file?: unknown
  /** The process's environment variables; one with an empty value counts as not set. */
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined
  readonly constructed?: GivenSettings | undefined
}

/**
 * Combines defaults, configuration file, environment variables and the caller's values into the settings. Throws `invalid_argument` or
 * `unknown_field`, naming the source and the setting at fault.
 */
export function resolveSettings({ file, environment = {}, constructed = {} }: SettingsLayers): C64Settings {
  return {
    ...DEFAULTS,
    ...camelCased(parseInput(settingsSchema, file ?? {}, 'lenses.c64')),
    ...camelCased(parseInput(settingsSchema, fromEnvironment(environment), 'environment')),
    ...camelCased(parseInput(settingsSchema, snakeCased(constructed), 'c64')),
  }
}

/** Names of the environment variables that can set a setting; the first one that has a value counts. */
export function variablesOf(field: Field): readonly string[] {
  const shared = SHARED_VARIABLES[field]
  return [`C64_${field.toUpperCase()}`, ...(shared === undefined ? [] : [shared])]
}

function fromEnvironment(environment: Readonly<Record<string, string | undefined>>): object {
  const fields = Object.keys(FIELDS) as Field[]
  const values = fields.map(field => {
    const [own = '', shared = ''] = variablesOf(field)
    const text = environment[own] || environment[shared]
    return [field, text ? readAs(field, text) : undefined] as const
  })
  return Object.fromEntries(values.filter(([, value]) => value !== undefined))
}

/**
 * Converts the text of an environment variable to the type of its setting. Text that cannot be converted is returned unchanged, and the
 * schema then refuses it.
 */
function readAs(field: Field, text: string): unknown {
  const of = FIELDS[field]
  if (of instanceof z.ZodNumber) return Number.isFinite(Number(text)) ? Number(text) : text
  if (of instanceof z.ZodBoolean) return ['1', 'true'].includes(text) || (['0', 'false'].includes(text) ? false : text)
  return text
}

// Schemas of the fields of a `c64` query, used by every interface: other programs give them in snake_case, library callers in camelCase.

export const query = z
  .string()
  .trim()
  .min(1)
  .max(MAX_QUERY_LENGTH)
  .describe(`The query, with its numbers and names, at most ${MAX_QUERY_LENGTH} characters, such as What is at $D020?`)
export const raw = z.boolean().optional().describe('Skip enrichment and search the query as it is. Default: false')
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

/** Schema of the `options` of a query for the lens `c64`. */
export const c64Options = z.strictObject({ raw, fetch_limit: fetchLimit, min_score_ratio: minScoreRatio, fusion })
export type C64Options = z.output<typeof c64Options>

const question = z.strictObject({ query, raw, limit, fetchLimit, minScoreRatio, fusion, cursor: questionFields.cursor })

/**
 * A query of a library caller; fields that are left out take the lens's settings. `cursor`: from an earlier answer of the embedded store,
 * to get the next page; answers from a Qdrant server have no cursor.
 */
export type C64Question = Readonly<z.input<typeof question>>

/** Checks a `c64` query of a library caller against its schema. Throws `invalid_argument` or `unknown_field`, naming the field. */
export function checkedQuestion(given: C64Question): C64Question {
  return parseInput(question, given)
}
