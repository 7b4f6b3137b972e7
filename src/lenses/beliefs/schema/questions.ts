/**
 * Input schemas of the operations on beliefs other than plain queries and the writing of versions (BQ-005, BQ-089, BQ-110, BQ-156, BQ-157,
 * BQ-170 to BQ-176).
 */
import { z } from 'zod'
import { DIMENSIONS } from '../dimensions.ts'
import {
  belief,
  count,
  effectiveWeights,
  explanationTree,
  level,
  moment,
  percentile,
  queryResult,
  rankedWith,
  score,
  source,
  summary,
  text,
  warnings,
} from '../model.ts'
import { request } from './faults.ts'
import {
  type BeliefContext,
  context,
  MAX_KNOWN,
  minConfidence,
  type Requester,
  toBounds,
  toContext,
} from './filters.ts'
import {
  type BeliefScope,
  DEFAULT_LIMIT,
  limit,
  type Query,
  query,
  queryWith,
  scope,
  toQuery,
  toScope,
} from './query.ts'
import { across, field, flag, id, integerIn, list, numberIn, object, oneOf, unchecked, type Value } from './values.ts'

export const FACET_FIELDS = ['domains', 'holder_id', 'derivation_type', 'visibility', 'confidence_bucket'] as const
export type FacetField = (typeof FACET_FIELDS)[number]

export const PURPOSES = ['answer', 'verify', 'explore', 'decide', 'create'] as const
export type Purpose = (typeof PURPOSES)[number]

const MAX_QUERIES = 20

const beliefId = id.describe('Version of a belief that you may see')
const asContext = field(context, 'The requester, and how trust and confidence are weighed, as in a query', {})
const asScope = field(scope, 'Where to look', { local: true })
const tokens = integerIn(1, 1_000_000)

export const explainInput = request(
  object({
    belief_id: beliefId,
    query: query.describe('Query that its rank is explained for'),
    other_id: field(id.nullable(), 'Version of a belief to compare it with; null: none', null),
  }),
)

export const facetsInput = request(
  object({
    query: query.describe('Query whose matches are counted'),
    fields: list(oneOf(FACET_FIELDS), MAX_KNOWN, 'fields').describe('What to count by'),
  }),
)

export type CheckedExplain = ReturnType<typeof toExplain>

export function toExplain(given: Value<typeof explainInput>, requester: Requester) {
  return { beliefId: given.belief_id, otherId: given.other_id ?? null, query: toQuery(given.query, requester) }
}

export type CheckedFacets = ReturnType<typeof toFacets>

export function toFacets({ query, fields }: Value<typeof facetsInput>, requester: Requester) {
  return { query: toQuery(query, requester), fields: [...new Set(fields)] }
}

/**
 * Input with a batch of queries. Each query is checked separately, so that an invalid one does not prevent the others from being answered
 * (BQ-175).
 */
export const batchInput = request(
  object({
    queries: list(unchecked(query), MAX_QUERIES, 'queries')
      .min(1, `1 to ${MAX_QUERIES} queries`)
      .describe('1 to 20 queries, each answered or refused on its own'),
  }),
)

export const contextQueryInput = request(
  queryWith({
    purpose: oneOf(PURPOSES).describe(
      'What the beliefs are for: it weighs confidence, trust, recency, novelty and density',
    ),
    max_tokens: tokens.describe('Most tokens of all contents together, by an estimate; never exceeded'),
    target_tokens: field(tokens, 'No belief is added once there are this many tokens. Default: max_tokens'),
  }).refine(
    ({ target_tokens: target = 0, max_tokens: max }) => target <= max,
    across<{ max_tokens: number }>(
      ['target_tokens', 'max_tokens'],
      'range',
      ({ max_tokens: max }) => `at most max_tokens, ${max}`,
      ['target_tokens'],
    ),
  ),
)

export type CheckedContextQuery = ReturnType<typeof toContextQuery>

export function toContextQuery(given: Value<typeof contextQueryInput>, requester: Requester) {
  const { purpose, max_tokens: maxTokens, target_tokens: targetTokens = maxTokens } = given
  // The cast is safe: the remaining fields are those of a query, which the type of `queryWith` does not express when there are additional
  // fields.
  return { query: toQuery(given as Query, requester), purpose, maxTokens, targetTokens }
}

/**
 * Makes the input schema of a question about one belief: the belief's id, the requester, the number of results wanted, the scope, and
 * further options.
 */
function aboutBelief<S extends z.core.$ZodLooseShape>(more: S, description: string) {
  const options = object({ limit: field(limit, 'Most results', DEFAULT_LIMIT), scope: asScope, ...more })
  return request(object({ belief_id: beliefId, context: asContext, options: field(options, description, {}) }))
}

interface AboutBelief {
  readonly belief_id: string
  readonly context?: BeliefContext | undefined
  readonly options?: { readonly limit?: number | undefined; readonly scope?: BeliefScope | undefined } | undefined
}

function toAbout({ belief_id: beliefId, context, options = {} }: AboutBelief, requester: Requester) {
  const { limit = DEFAULT_LIMIT, scope } = options
  return { beliefId, context: toContext(context, requester), limit, scope: toScope(scope) }
}

export const similarInput = aboutBelief(
  {
    include_same_holder: field(flag, 'Whether beliefs of the same holder count too', false),
    min_similarity: field(numberIn(-1, 1), 'Lowest cosine with the belief, -1 to 1', 0.7),
  },
  'How many results, from where, and how near',
)

export type CheckedSimilar = ReturnType<typeof toSimilar>

export function toSimilar(given: Value<typeof similarInput>, requester: Requester) {
  const { include_same_holder: includeSameHolder = false, min_similarity: minSimilarity = 0.7 } = given.options ?? {}
  return { ...toAbout(given, requester), includeSameHolder, minSimilarity }
}

export const contradictionsInput = aboutBelief(
  {
    min_confidence: field(minConfidence, 'Lowest confidence, 0 to 1, as in the filters of a query. Default: no bound'),
  },
  'How many results, from where, and how sure',
)

export type CheckedContradictions = ReturnType<typeof toContradictions>

export function toContradictions(given: Value<typeof contradictionsInput>, requester: Requester) {
  // Lower bounds on confidence that a contradicting belief must meet to be reported.
  return { ...toAbout(given, requester), confidence: toBounds(given.options?.min_confidence) }
}

export const derivationInput = request(
  object({ belief_id: beliefId, max_depth: field(integerIn(1, 10), 'Most steps back', 5) }),
)

export const getInput = request(
  object({
    belief_id: beliefId,
    include_superseded: field(flag, 'Find old versions too, and return all versions as history', false),
  }),
)

export const deleteInput = request(object({ belief_id: id.describe('Current version of a belief that you hold') }))

export const diagnosticsInput = request(
  object({ calibrate: field(flag, 'Whether to run the calibration of the model, which takes some seconds', true) }),
)

const NOT_WATCHED = 'no position further down: a live query watches its first results, options.limit of them'

const liveOptions = object({
  debounce_ms: field(integerIn(0, 60_000), 'Milliseconds that changes are collected for', 1_000),
  include_removals: field(flag, 'Report beliefs that leave the result', true),
  include_reranks: field(flag, 'Report beliefs that only change their rank', false),
  max_events_per_minute: field(integerIn(1, 600), 'Most events in a minute; more of them are merged', 60),
  notify_on_connect: field(flag, 'Report the initial result', true),
})

/** Schema of the input for watching a query: the query, and how changes of its answer are reported. */
export const watchInput = request(
  object({
    query: query
      .superRefine(({ options: { offset = 0, cursor = null } = {} }, check) => {
        const refuse = (name: string) =>
          check.addIssue({
            code: 'custom',
            path: ['options', name],
            message: NOT_WATCHED,
            params: { reason: 'not_watched' },
          })
        if (offset !== 0) refuse('offset')
        if (cursor !== null) refuse('cursor')
      })
      .describe('As beliefs.query takes it, without offset and cursor: its first limit results are watched'),
    options: field(liveOptions, 'What is reported, and how often', {}),
    resume_token: field(
      // The schema only checks that the token is a text; whether it is valid is found out when it is decrypted.
      z.string('the resume token of an event of a subscription to this query'),
      'Token of the last event that was received: continues after it. Default: starts over',
    ),
  }),
)
export type Watch = Value<typeof watchInput>

// Answer schemas of the operations on beliefs; the schemas of query answers are in `model.ts`.

const shown = belief.describe('The belief as you may see it')
const versionId = text.describe('Version in the request')
const asOf = moment.describe('Moment that all ages in the answer refer to')
const matches = count.describe('Matches that you may see')

const writingWarnings = warnings.optional().describe('Warnings; absent: none')
export const oneBelief = object({ belief: shown, warnings: writingWarnings })
export const putAnswer = object({
  belief: belief.optional().describe('The belief that was stored; only where one was given'),
  beliefs: z.array(belief).optional().describe('Those that were stored, in their order; only where a list was given'),
  warnings: writingWarnings,
})
export const deleted = object({
  belief_id: text.describe('Version that was deleted'),
  tombstone_id: text.describe('Last version, without content, that takes its place'),
  deleted_at: moment.describe('When it was deleted'),
})
export const versions = object({
  belief: shown,
  source: source.describe('Origin of the belief'),
  history: z.array(belief).optional().describe('All versions that you may see, oldest first; with include_superseded'),
})

export const countAnswer = object({
  total: count.describe('Matches that you may see; copies count once'),
  exact: flag.describe('Whether the figures are exact'),
  by_scope: object({
    local: count.describe('Your own beliefs'),
    federated: count.describe('Beliefs through federations'),
    network: count.describe('Public'),
  }).describe('The same by origin'),
  warnings,
})

const facet = object({
  values: z
    .array(
      object({
        value: text.describe('Value as results show it; for confidence: low below 0.4, medium below 0.7, else high'),
        count: count.describe('Matches with this value'),
        selected: flag.describe('Whether a filter of the query names it'),
      }),
    )
    .describe('The most frequent values, at most 50'),
  other_count: count.describe(
    'Matches with other values, or with values that fewer than five holders of a federation have',
  ),
})
export const facetsAnswer = object({
  total: matches,
  facets: object(
    Object.fromEntries(
      FACET_FIELDS.map(name => [name, facet.optional().describe(`Values of ${name}, if requested`)]),
    ) as Record<(typeof FACET_FIELDS)[number], z.ZodOptional<typeof facet>>,
  ).describe('Values by field'),
  warnings,
})

const refused = object({
  type: z.literal('QueryError').describe('Kind of object'),
  code: text.describe('One of the codes of the lens, such as INVALID_QUERY'),
  message: text.describe('Message for people'),
  details: z.record(z.string(), z.json()).describe('Facts about this error, such as path, constraint and reason'),
  source: source.optional().describe('Source that failed; absent: none did'),
  retryable: flag.describe('Whether a retry may help'),
  request_id: text.describe('For the log of the node'),
})
export const batchAnswer = object({
  results: z
    .array(
      z.discriminatedUnion('ok', [
        object({
          ok: z.literal(true).describe('It was answered'),
          result: queryResult.describe('Answer of beliefs.query'),
        }),
        object({ ok: z.literal(false).describe('It failed'), error: refused.describe('Why it failed') }),
      ]),
    )
    .describe('Result of each query, in their order'),
  total_time_ms: z.number().min(0).describe('Milliseconds that all of them took'),
  succeeded: count.describe('Queries that were answered'),
  failed: count.describe('Queries that failed'),
})

const contradiction = object({
  type: z.enum(['direct', 'implied', 'temporal', 'tension']).describe('How the two contradict each other'),
  score: z.number().describe('How sure the detector is, 0 to 1'),
  text: text.describe('What opposes what, in words'),
}).describe('What the detector found')

export const similarAnswer = object({
  belief_id: versionId,
  beliefs: z
    .array(
      rankedWith({ similarity: z.number().nullable().describe('Cosine with the belief, -1 to 1; null: not known') }),
    )
    .describe('Beliefs about the same, ranked as a query ranks'),
  total_count: matches,
  warnings,
})
export const contradictionsAnswer = object({
  belief_id: versionId,
  contradictions: z.array(rankedWith({ contradiction })).describe('Beliefs that contradict it, the most certain first'),
  total_count: matches,
  detector: object({
    name: text.describe('Which detector judged'),
    note: text.describe('Capabilities'),
  }).describe('How contradictions were found'),
  warnings,
})

const tokenCount = count.describe('Tokens of its text, by an estimate')
const counter = object({
  name: text.describe('Which estimate'),
  counts: z.literal('content').describe('What is counted: contents only, without the text around them'),
  exact: z.literal(false).describe('It is an estimate for no model in particular'),
}).describe('How tokens are counted')

export const contextAnswer = object({
  purpose: z.enum(PURPOSES).describe('What the beliefs are for'),
  beliefs: z
    .array(
      rankedWith({
        tokens: tokenCount,
        utility: z.number().describe('Value for the purpose when it was selected, 0 to 1; more is better'),
        novelty: z.number().describe('1 minus the cosine with the nearest one selected before, 0 to 2'),
      }),
    )
    .describe('In the order in which they were taken, the most useful first'),
  total_tokens: count.describe('Tokens of all contents, by an estimate'),
  max_tokens: count.describe('Bound in the request'),
  target_tokens: count.describe('Target of the request'),
  truncated: flag.describe('Whether there are more matches'),
  confidence_floor: z.number().nullable().describe('Lowest confidence among them, 0 to 1; null: there are none'),
  expandable: z.array(text).describe('Those of them that rest on beliefs you may see, for beliefs.derivation'),
  token_counter: counter,
  total_count: matches,
  as_of: asOf,
  warnings,
})
const dropped = object({
  stage: z
    .enum([
      ...['current', 'scope', 'time', 'filters', 'phrases', 'exclusions', 'inclusions', 'candidates', 'copies'],
      ...['diversity', 'conflicts', 'page'],
    ] as const)
    .describe('First step of the evaluation that left it out'),
  reason: text.describe('Why, in words'),
})
export type Dropped = Value<typeof dropped>
const weights = object({
  semantic: z.number().describe('Share of meaning, 0 to 1'),
  confidence: z.number().describe('Share of confidence, 0 to 1'),
  trust: z.number().describe('Share of trust, 0 to 1'),
  recency: z.number().describe('Share of recency, 0 to 1'),
})
const difference = object({
  difference: z.number().describe('Value of the one ahead minus that of the other, -1 to 1'),
  weight: z.number().describe('Share of the part in the score, 0 to 1'),
  contribution: z.number().describe('Difference times weight, -1 to 1'),
})
const versus = object({
  matched: flag.describe('Whether the other belief matches the query'),
  dropped_by: dropped.optional().describe('What left the other one out'),
  ahead: text.optional().describe('Version that ranks higher'),
  behind: text.optional().describe('Version that ranks lower'),
  gap: z.number().optional().describe('Score of the one ahead minus that of the other, 0 to 1'),
  parts: object({
    semantic: difference.optional().describe('By meaning; absent in a list'),
    confidence: difference.optional().describe('By confidence'),
    trust: difference.optional().describe('By trust'),
    recency: difference.optional().describe('By recency'),
  })
    .optional()
    .describe('Where the gap comes from'),
  decided_by: z.enum(['created_at', 'id', 'holder_id']).optional().describe('What decides between equal scores'),
  smallest_change: object({
    weights: weights.describe('Weights with which the two swap, together 1'),
    moved: z.number().describe('Weight that moves from some parts to another, 0 to 1'),
  })
    .nullable()
    .optional()
    .describe('Least change of the weights that swaps the two; null: none does'),
})

export type Versus = Value<typeof versus>

export const explainAnswer = object({
  belief_id: versionId,
  matched: flag.describe('Whether it matches the query'),
  shown: flag.describe('Whether the page of the query shows it'),
  dropped_by: dropped.nullable().describe('What left it out; null: nothing did'),
  rank: z.int().min(1).optional().describe('Position in the order of all matches, from 1; only for a match'),
  of: count.optional().describe('Number of matches; only for a match'),
  percentile: percentile.optional().describe('100 for the first match, 0 for the last; only for a match'),
  summary,
  score: score.optional().describe('Score that the order is computed from; only for a match'),
  explanation: explanationTree.optional().describe('Why it has this score; only for a match'),
  hints: z
    .array(
      object({
        dimension: z.enum(DIMENSIONS).describe('Dimension of its confidence'),
        current: level.nullable().describe('Value now, 0 to 1; null: not known'),
        target: level.describe('Smallest value in steps of 0.1 that lifts it, with all else unchanged'),
        rank: z.int().min(1).describe('Position that it would have then, from 1'),
      }),
    )
    .optional()
    .describe('What would lift it, the strongest first; only for a match'),
  versus: versus.optional().describe('How it compares with other_id; absent: none was named'),
  effective_weights: effectiveWeights.describe('What the score was computed with'),
  as_of: asOf,
  warnings,
})

const calibrated = object({
  threshold: z.number().describe('Cosine from which a text counts as meaning a term, -1 to 1'),
  related_pairs: count.describe('Pairs that should reach it'),
  related_passed: count.describe('Those of them that do'),
  unrelated_pairs: count.describe('Pairs that should not reach it'),
  unrelated_passed: count.describe('Those of them that do'),
})
export const diagnosticsAnswer = object({
  calibration: object({
    model: text.describe('Key of the model of the embedder'),
    in_use: object({
      include: z.number().describe('Cosine from which a required term matches, -1 to 1'),
      exclude: z.number().describe('Cosine from which an excluded term matches, -1 to 1'),
      floor: z
        .number()
        .nullable()
        .describe('Lowest cosine of a belief that takes part in a query, -1 to 1; null: none'),
    })
      .nullable()
      .describe('Thresholds that apply; null: words decide'),
    from: z.enum(['settings', 'nothing', 'shipped']).describe('Where they come from'),
    shipped: calibrated.nullable().describe('Calibration that comes with Querent; null: none for this model'),
    rerun: calibrated.nullable().describe('Calibration that ran now; null: not requested'),
  })
    .nullable()
    .describe('Thresholds for + and - operators; null: there is no embedder'),
  counters: object({
    queries_total: count.describe('Queries that were answered'),
    query_duration_ms: z.number().min(0).describe('Milliseconds of all of them together, without their embedding'),
    results_returned: count.describe('Results of all of them together'),
    cache_hits: count.describe('Cached answers of other nodes that were used'),
    cache_misses: count.describe('Answers of other nodes that were not cached'),
    errors_by_code: z.record(z.string(), count).describe('How often each code was returned'),
    subscriptions_active: count.describe('Live queries at the moment'),
  }).describe('Since this engine was opened'),
})
