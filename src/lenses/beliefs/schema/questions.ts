/** The questions beside a query (BQ-005, BQ-089, BQ-110, BQ-156, BQ-157, BQ-170 to BQ-176). */
import { z } from 'zod'
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

/** Each is checked on its own, for one that fails leaves the others be (BQ-175). */
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
    target_tokens: field(tokens, 'Nothing is added once there are so many tokens. Default: max_tokens'),
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
  // The cast: the fields of a query, which `queryWith` cannot name beside others.
  return { query: toQuery(given as Query, requester), purpose, maxTokens, targetTokens }
}

/** One belief, as whom, and how many others are found, from where, with the options of the question itself. */
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
  // All must hold for what contradicts.
  return { ...toAbout(given, requester), confidence: toBounds(given.options?.min_confidence) }
}

export const derivationInput = request(
  object({ belief_id: beliefId, max_depth: field(integerIn(1, 10), 'Most steps back', 5) }),
)

export const getInput = request(
  object({
    belief_id: beliefId,
    include_superseded: field(flag, 'Find versions of the past too, and give all versions as history', false),
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
  notify_on_connect: field(flag, 'Report the result as it is at first', true),
})

/** A query, and how it is watched. */
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
      // Whether it is one is found out by opening it.
      z.string('the resume token of an event of a subscription to this query'),
      'Token of the last event that was received: continues after it. Default: starts over',
    ),
  }),
)
export type Watch = Value<typeof watchInput>
