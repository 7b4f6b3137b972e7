/**
 * Types and schemas that the parts of the lens `chroma` share. Times are Unix seconds (CQ-009); colours are CIELAB coordinates as doubles.
 */
import { z } from 'zod'
import type { ReadonlyDeep } from '../../base/readonly-deep.ts'
import { anyJson, anyObject, recordInput } from '../../model/parse-input.ts'
import type { CamelCased } from '../camel-name.ts'
import { MODE_NAMES } from './memory/formulas.ts'

export type { NodeMemory, ScoreWeights } from './memory/formulas.ts'

export const ZONES = ['Core', 'Mid', 'Outer'] as const
export type Zone = (typeof ZONES)[number]

/**
 * One of the 10,000 fixed points of colour space to which hashtags can be bound. L is 0 to 100, a and b are -128 to 127, all whole numbers;
 * mass, the point's weight in a node's colour, has two decimals.
 */
export interface Anchor {
  /** Id of the anchor (fixed colour position), from 1 to 10000. Anchors with higher ids are farther from the centre (50, 0, 0). */
  readonly id: number
  readonly zone: Zone
  readonly L: number
  readonly a: number
  readonly b: number
  readonly mass: number
}

const zoneName = z.enum(ZONES)

/** Schema of a zone's name (Core, Mid or Outer), accepted in any letter case. */
export const zone = z.preprocess(
  given => ZONES.find(name => typeof given === 'string' && name.toLowerCase() === given.toLowerCase()) ?? given,
  zoneName,
)

/** Schema of a binding, which is a hashtag with the anchor it is bound to; interfaces return it as JSON (CQ-026). */
export const binding = z.lazy(() =>
  z.strictObject({
    hashtag: z.string().describe('Normalised: #lower-case'),
    anchor_id: z.int().min(1).max(10_000).describe('Number of the anchor it is bound to, by distance from the middle'),
    zone: zoneName.describe('Zone of the anchor: Core near the middle, then Mid, then Outer'),
    L: z.number().describe('Lightness of the anchor, 0 to 100'),
    a: z.number().describe('Green to red, -128 to 127'),
    b: z.number().describe('Blue to yellow, -128 to 127'),
    mass: z.number().min(0).describe('Weight in the colour of a set of hashtags; larger in the middle'),
  }),
)
export type Binding = ReadonlyDeep<z.infer<typeof binding>>

/** A colour as its CIELAB coordinates [L, a, b]. */
export const color = z.tuple([z.number(), z.number(), z.number()])
export type Color = readonly [number, number, number]

const EXAMPLE_TAGS = ['#code', '#rust', '#error', '#types', '#async', '#compiler', '#tooling', '#note']

/**
 * Schema of a list of hashtags in JSON. It checks only the format; which sets may be stored or queried is decided by rules for the number
 * of tags per zone (CQ-034 to CQ-036).
 */
export const hashtagList = z
  .array(z.string())
  .describe(
    'Assigned hashtags, with or without #, in any letter case: at least 8 different ones, of them at least 1 of the zone Core, 1 Outer and 65 % Mid',
  )
  .meta({ examples: [EXAMPLE_TAGS] })

const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()])
const ordered = z.union([z.number(), z.string()]).optional()

/** Operators of a condition on a metadata field (CQ-061); a value must satisfy all operators that are given. */
const operators = z
  .strictObject({
    $eq: scalar.optional().describe('Equal to this value, type included'),
    $ne: scalar.optional().describe('Not equal to this value, or absent'),
    $in: z.array(scalar).optional().describe('Equal to one of these values'),
    $nin: z.array(scalar).optional().describe('Equal to none of these values, or absent'),
    $gt: ordered.describe('Above this number, or after this text by code units'),
    $gte: ordered.describe('At least this number, or not before this text'),
    $lt: ordered.describe('Below this number, or before this text'),
    $lte: ordered.describe('At most this number, or not after this text'),
    $contains: z.string().optional().describe('A text that holds this text, in any letter case'),
    $exists: z.boolean().optional().describe('true: the field is present and not null; false: it is absent or null'),
  })
  .refine(given => Object.values(given).some(operand => operand !== undefined), 'at least one operator')
  .meta({ minProperties: 1 })

const condition = z.union([scalar, z.array(scalar), operators])

export const scoreWeights = z
  .strictObject({
    relevance: z.number().min(0).max(1).describe('Share of colour nearness in the score, 0 to 1'),
    recency: z.number().min(0).max(1).describe('Share of the time since the last use, 0 to 1'),
    strength: z.number().min(0).max(1).describe('Share of memory strength, 0 to 1'),
  })
  // The weights must sum to 1; a tolerance of 1e-9 allows for the rounding of decimal fractions.
  .refine(
    ({ relevance, recency, strength }) => Math.abs(relevance + recency + strength - 1) <= 1e-9,
    'weights whose sum is 1',
  )

/**
 * Query parameters that both a call and a query profile can give (CQ-003 to CQ-018). Null means "none" and overrides a configured value.
 */
export const queryParams = z.strictObject({
  k: z.int().min(1).nullish().describe('Most results, at least 1. Default: 5 (setting query.default_k)'),
  max_distance: z
    .number()
    .min(0)
    .nullish()
    .describe(
      'Farthest a result may lie from the colour of the query, as a distance in CIELAB, at least 0; null: any distance. Default: null (setting query.default_max_distance)',
    ),
  temporal_range: z
    .tuple([z.int(), z.int()])
    .refine(([start, end]) => start <= end, 'a start that is not after the end')
    .nullish()
    .describe(
      '[start, end] in Unix seconds, UTC, both included: only nodes created or last used within; null: any time. Default: null',
    )
    .meta({ examples: [[1767225600, 1769903999]] }),
  metadata_filters: recordInput(z.string().min(1), condition)
    .nullish()
    .describe(
      'Conditions by field of the metadata (or dotted path, or column of a plug-in), all of which must hold: a value, a list of values (any of them), or operators. Default: null, none',
    )
    .meta({ examples: [{ language: 'rust', year: { $gte: 2024 } }] }),
  include_rotten: z
    .boolean()
    .nullish()
    .describe('Find rotten nodes too; those returned are rescued. Default: false (setting query.include_rotten)'),
  score_weights: scoreWeights
    .nullish()
    .describe(
      'Weights of the score, together 1; null: those of the memory mode of each node. Default: null (setting query.default_score_weights)',
    )
    .meta({ examples: [{ relevance: 0.6, recency: 0.2, strength: 0.2 }] }),
})

/** Schema of the options of a chroma query, by their snake_case names. */
export const queryOptions = z.strictObject({
  ...queryParams.shape,
  profile: z
    .string()
    .nullish()
    .describe(
      'Name of the query profile that reads a text: default, code_search, knowledge_patch or that of a plug-in. Default: default (setting query.default_profile)',
    ),
  update_access: z
    .boolean()
    .nullish()
    .describe('Count the results as used, which strengthens their memory. Default: true'),
  complete_hashtags: z
    .boolean()
    .nullish()
    .describe('Add tags if a text names too few. Default: true (setting query.complete_hashtags)'),
  fallback_to_default: z
    .boolean()
    .nullish()
    .describe('Whether the profile default reads a text that the named profile cannot. Default: false'),
})

/** Schema of a whole query: hashtags, or a text that a query profile reads, and the options. */
export const queryInput = z
  .strictObject({
    hashtags: hashtagList.optional().describe(`${hashtagList.description}; or give input`),
    input: z.string().optional().describe('A text, which the profile reads; instead of hashtags'),
    ...queryOptions.shape,
  })
  .refine(({ hashtags, input }) => (hashtags === undefined) !== (input === undefined), {
    path: ['hashtags'],
    error: 'a list of hashtags, or `input` with a text, and not both',
  })
  .meta({
    oneOf: [{ required: ['hashtags'] }, { required: ['input'] }],
    examples: [{ input: 'errors in rust' }, { hashtags: EXAMPLE_TAGS, k: 10 }],
  })

export type Scalar = z.infer<typeof scalar>
export type ConditionOperators = ReadonlyDeep<z.infer<typeof operators>>
export type Condition = ReadonlyDeep<z.infer<typeof condition>>
export type MetadataFilters = NonNullable<QueryOptions['metadataFilters']>
/**
 * Options of a query for the TypeScript API, in camelCase (CQ-001, CQ-003 to CQ-005). An option that is left out is taken from the query
 * profile, else from the configuration, else from the built-in defaults.
 */
export type QueryOptions = CamelCased<ReadonlyDeep<z.infer<typeof queryOptions>>>

/** The parameters that a query profile derives from a text (CQ-079). */
export interface QueryParams
  extends Pick<
    QueryOptions,
    'k' | 'maxDistance' | 'temporalRange' | 'metadataFilters' | 'includeRotten' | 'scoreWeights'
  > {
  readonly hashtags: readonly string[]
  /**
   * A value of any type that a query profile's parse hook (text to parameters) hands to the same profile's post-process hook (change of
   * result rows) for this query.
   */
  readonly state?: unknown
}

/** Schema of a query after every parameter was taken from call, profile or settings, and checked. */
export const effectiveQuery = z.lazy(() =>
  z.strictObject({
    hashtags: z.array(z.string()).describe('Normalised (#lower-case) and distinct, by ascending anchor'),
    k: z.int().min(1).describe('Most results'),
    max_distance: z.number().min(0).nullable().describe('Farthest distance in CIELAB; null: any'),
    temporal_range: z.tuple([z.int(), z.int()]).nullable().describe('[start, end] in Unix seconds; null: any time'),
    metadata_filters: z.record(z.string(), condition).nullable().describe('Conditions by field; null: none'),
    include_rotten: z.boolean().describe('Whether rotten nodes were candidates'),
    score_weights: scoreWeights.nullable().describe('Weights; null: those of the mode of each node'),
    profile: z.string().describe('The profile that read the text, or would have'),
    update_access: z.boolean().describe('Whether the results counted as used'),
    color: color.describe('[L, a, b] of the query: L 0 to 100, a and b -128 to 127'),
    completed_hashtags: z.array(z.string()).describe('Tags that completion added to those of a text'),
    profile_state: anyJson.describe('What the profile noted about a text, if that is JSON; else null'),
    now: z.int().describe('The one clock reading of the query, Unix seconds'),
  }),
)
export type EffectiveQuery = ReadonlyDeep<z.infer<typeof effectiveQuery>>

export const warning = z.lazy(() =>
  z.strictObject({
    code: z.string().describe('Code in snake_case, such as no_results_within_distance'),
    message: z.string().describe('A sentence for people'),
    details: anyObject.optional().describe('Figures and names of the message'),
  }),
)
export type Warning = ReadonlyDeep<z.infer<typeof warning>>

/**
 * Schema of a node without the fields that depend on a query (CQ-074, CQ-075). Columns of plug-ins are fields at the top level of the row
 * (CQ-077).
 */
export const nodeRow = z.lazy(() =>
  z
    .object({
      entry_id: z.string().describe('Id of the node, for chroma.get, chroma.update and chroma.delete'),
      node_id: z.string().describe('Name of the colour: nodes of the same hashtags share it'),
      color_L: z.number().describe('Lightness, 0 to 100'),
      color_a: z.number().describe('Green to red, -128 to 127'),
      color_b: z.number().describe('Blue to yellow, -128 to 127'),
      hashtags: z.array(z.string()).describe('Normalised (#lower-case), by ascending anchor'),
      label: z.string().describe('Title'),
      content: z.string().describe('Full text'),
      metadata: anyObject.nullable().describe('Data that its writer added; null: none'),
      created_at: z.int().describe('Unix seconds'),
      last_accessed: z.int().describe('Last use by this viewer, Unix seconds'),
      strength_raw: z.number().min(0).describe('Memory strength before normalising, at least 0'),
      decay_health: z.number().min(0).max(1).describe('1 when fresh, towards 0 without use'),
      ascension: z.boolean().describe('Whether it stays for good: it neither decays nor rots'),
      rotten: z.boolean().describe('Whether it is forgotten: found only with include_rotten'),
      mode_name: z.enum(MODE_NAMES).describe('Memory mode: how fast it fades and what a use adds'),
      access_count: z.int().min(0).describe('Uses by this viewer'),
      decay_enabled: z.boolean().describe('Whether it fades when it is not used'),
      state: z.enum(['ASCENDED', 'ROTTEN', 'ACTIVE']).describe('State in one word, from ascension and rotten'),
    })
    .catchall(anyJson),
)
export type NodeRow = ReadonlyDeep<z.infer<typeof nodeRow>>

/** Schema of a query's result row: a node with its score and its distance from the query (CQ-076). */
export const resultRow = z.lazy(() =>
  nodeRow.unwrap().extend({
    distance: z.number().min(0).describe('Distance from the colour of the query, in CIELAB'),
    relevance: z.number().min(0).max(1).describe('Nearness in colour: 1 at the same colour, towards 0 far away'),
    recency: z.number().min(0).max(1).describe('1 when used just now, towards 0'),
    strength_norm: z.number().min(0).max(1).describe('Memory strength, normalised'),
    score: z.number().describe('Weighted sum of relevance, recency and strength_norm; a profile may blend in its own'),
  }),
)
export type ResultRow = ReadonlyDeep<z.infer<typeof resultRow>>

export const detailedAnswer = z.lazy(() =>
  z.strictObject({
    results: z.array(resultRow).describe('Best first'),
    query: effectiveQuery.describe('The query as it was run, with the value of every parameter'),
    verdict: z
      .enum(['answered', 'weak', 'nothing_relevant'])
      .describe('Whether a node answers the query; nothing_relevant: none passes the filters'),
    reason: z.string().nullable().describe('Why, if the verdict is not answered'),
    warnings: z.array(warning).describe('Problems that are not errors'),
  }),
)
export type DetailedAnswer = ReadonlyDeep<z.infer<typeof detailedAnswer>>
