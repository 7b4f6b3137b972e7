/**
 * Schemas of a query over beliefs: text, filters, context and options (BQ-024 to BQ-026). They are published and used to check requests;
 * the functions in this module convert a checked query to the complete, normalised form with which the lens works.
 */
import type { z } from 'zod'
import { temporalFactor, withTemporalFactor } from '../measures/confidence.ts'
import { MERGE_STRATEGIES, type RankingWeights } from '../model.ts'
import { request } from './faults.ts'
import {
  type BeliefContext,
  type CheckedContext,
  type CheckedFilters,
  type CheckedWarning,
  context,
  type Filters,
  filters,
  filtersOf,
  type Requester,
  toContext,
  weightsOf,
} from './filters.ts'
import {
  across,
  type CheckedText,
  field,
  flag,
  id,
  integerIn,
  isBlankText,
  list,
  numberIn,
  object,
  oneOf,
  readText,
  semantic,
  share,
  textUpTo,
  type Value,
} from './values.ts'

const MAX_NODES = 32
const MAX_CURSOR = 4_096
/** Maximum number of results requested from one other node (BQ-118). */
export const MAX_PER_NODE = 1_000
/**
 * Number of results that are requested from each other node for each result wanted, if the request gives no number. It is above 1 so that
 * later pages have results of other nodes too.
 */
const PER_RESULT = 3
/** Share of a query's time limit that a query to one other node may take; the rest is left for merging the answers. */
const NODE_SHARE = 0.8
/** Value of `min_similarity` with which every belief can match, however far it is from the text. */
export const NO_FLOOR = -1
/** Default time limit in milliseconds. It also applies to operations whose input contains no time limit (BQ-088). */
export const DEFAULT_TIMEOUT_MS = 5_000
export const DEFAULT_LIMIT = 20

/**
 * Schema of the scope of a query: which sources are searched. If a scope is given, sources that it does not mention are not searched
 * (BQ-086).
 */
export const scope = object({
  local: field(flag, 'Your own beliefs', false),
  federated: field(flag, 'Beliefs shared with federations you are a member of', false),
  network: field(flag, 'Public beliefs', false),
  nodes: field(
    list(id, MAX_NODES, 'nodes').nullable(),
    'Other nodes that may be queried, at most 32 names; null: all, empty: none',
    null,
  ),
}).refine(
  ({ local, federated, network }) => local === true || federated === true || network === true,
  across(
    ['local', 'federated', 'network', 'nodes'],
    'empty_scope',
    'at least one of local, federated, network to be true',
  ),
)
export type BeliefScope = Value<typeof scope>

export const limit = integerIn(1, 1_000)

/** The reason with which `stream: true` is refused by operations and interfaces that cannot answer with a stream (BQ-155). */
export const NO_STREAM = { constraint: 'false: results are not streamed here', reason: 'not_supported' }
const noStream = flag.refine(value => !value, { error: NO_STREAM.constraint, params: { reason: NO_STREAM.reason } })

const optionFields = {
  scope: field(scope, 'Where to look', { local: true }),
  limit: field(limit, 'Most results of a page', DEFAULT_LIMIT),
  offset: field(integerIn(0, 10_000), 'Results to skip; not with a cursor', 0),
  cursor: field(
    textUpTo(MAX_CURSOR).nullable(),
    'next_cursor of an answer to this query: continues after that page',
    null,
  ),
  include_derivation: field(flag, 'Return with each result the chain of what it rests on', false),
  include_explanation: field(flag, 'Return with each result the reasons for its score', false),
  max_derivation_depth: field(integerIn(1, 10), 'Most steps in these chains', 5),
  timeout_ms: field(
    integerIn(1, 30_000),
    'Milliseconds for the answer; what was found by then is returned',
    DEFAULT_TIMEOUT_MS,
  ),
  max_results_per_node: field(
    integerIn(1),
    'Most results of each other node, 1 or more; cut to 1,000. Default: three times limit and offset together',
  ),
  timeout_per_node_ms: field(
    integerIn(1),
    'Milliseconds for each other node, 1 or more; cut to eight tenths of timeout_ms, which is the default',
  ),
  merge_strategy: field(
    oneOf(MERGE_STRATEGIES),
    'How results of several nodes become one list. rerank: by score. interleave: in turn. waterfall: node by node',
    'rerank',
  ),
  approximate: field(
    flag,
    'Accept approximate nearest neighbours: faster over many beliefs, but one in a hundred may be missed, and cosines may be wrong by 0.01',
    false,
  ),
  min_similarity: field(
    numberIn(-1, 1),
    'Lowest cosine with the text, -1 to 1, of a belief that takes part; -1: all take part. Default: calibrated for the embedder',
  ),
  any: field(flag, 'Let the nearest beliefs take part however far they are, as min_similarity -1 does', false),
  ef_search: field(integerIn(10, 1_000), "Breadth of an approximate search. Default: the index's own"),
  chunk_size: field(integerIn(1, 100), 'Results in a piece, where the answer is a stream', 20),
  diversity: field(
    object({
      enabled: field(flag, 'Whether results that are similar to better ones are ranked lower', false),
      min_semantic_distance: field(share, 'Least distance in meaning between two results, 0 to 1. Default: none'),
      max_per_holder: field(integerIn(1), 'Most results of one holder, 1 or more. Default: no bound'),
      max_per_domain: field(integerIn(1), 'Most results of one domain, 1 or more. Default: no bound'),
      lambda: field(share, 'Share of relevance against novelty, 0 to 1; 1 is relevance alone', 0.7),
    }),
    'Spread the results over unlike beliefs',
    { enabled: false },
  ),
  temporal_intent: field(flag, 'Let words such as latest or origin raise or lower the weight of recency', false),
  dry_run: field(flag, 'Do not count the answer as use of trust', false),
}

function optionsWith<T extends z.ZodType>(stream: T) {
  return object({ ...optionFields, stream: field(stream, 'Give the answer piece by piece', false) }).refine(
    ({ offset = 0, cursor = null }) => offset === 0 || cursor === null,
    across(['offset', 'cursor'], 'offset_with_cursor', '0 or absent with a cursor, which has its own position', [
      'offset',
    ]),
  )
}

/** Schema of the options for running and answering a query, without streaming (BQ-084 to BQ-089). */
export const options = optionsWith(noStream)
export type BeliefOptions = Value<typeof options>

export const queryFields = {
  semantic,
  filters: field(
    filters,
    'Conditions that a belief must meet: a preset, an object, or a list of at most 8 of them, which must all hold',
    [],
  ),
  context: field(context, 'The requester, and how trust and confidence are weighed', {}),
  options: field(options, 'How the query is run and answered', {}),
}

/** Fields of a query that are compared by rules over several fields. */
interface QueryParts {
  readonly semantic: string
  readonly filters?: Filters
  readonly context?: BeliefContext
}

/** Makes a schema of a query with the additional fields `more`, including the rules that compare several fields of a query. */
export function queryWith<S extends z.core.$ZodLooseShape>(more: S) {
  return object({ ...queryFields, ...more })
    .refine(
      given => {
        const { semantic, filters } = given as unknown as QueryParts
        return !isBlankText(semantic) || filtersOf(filters).length > 0
      },
      across(['semantic', 'filters'], 'empty_query', 'a text to search by, or at least one filter to list by', [
        'semantic',
      ]),
    )
    .refine(
      given => {
        const { semantic, context } = given as unknown as QueryParts
        const weights = context?.ranking_weights
        return weights === undefined || !isBlankText(semantic) || weightsOf(weights, true) !== null
      },
      across(
        ['semantic', 'context'],
        'zero_sum',
        'weights, of which at least one besides semantic is above 0, as there is no text',
        ['context', 'ranking_weights'],
      ),
    )
}

export const query = queryWith({})
export type Query = Value<typeof query>
export type BeliefQuery = Value<typeof query>

export const queryInput = request(query)
/** Input of a query that may set `options.stream`. */
export const streamedInput = request(
  queryWith({ options: field(optionsWith(flag), 'How the query is run and answered', {}) }),
)

export interface CheckedQuery {
  /**
   * The checked text of the query. Null: the query has no text, so matches are ranked without semantic similarity; it then has at least one
   * filter.
   */
  readonly semantic: CheckedText | null
  /**
   * Filters of the query; a belief must meet all of them. Filters that accept every belief are left out, so the list is empty exactly if
   * nothing is filtered.
   */
  readonly filters: readonly CheckedFilters[]
  readonly context: CheckedContext
  readonly options: CheckedOptions
  /**
   * Ranking weights of meaning, confidence, trust and recency, with the sum 1: those of the context, adjusted if the query has no text, and
   * for words about time in the text.
   */
  readonly weights: RankingWeights
  readonly warnings: readonly CheckedWarning[]
}

/** Checks and completes a query. Throws UNAUTHORIZED if the query names a requester other than the authenticated one. */
export function toQuery({ semantic, filters, context, options }: Query, requester: Requester): CheckedQuery {
  const text = readText(semantic)
  if (text !== null && 'reason' in text) throw new Error('invariant broken: a text that was not checked')
  const checkedContext = toContext(context, requester, text === null)
  const checkedOptions = toOptions(options)
  const factor = checkedOptions.temporalIntent && text !== null ? temporalFactor(text.base) : 1
  return {
    semantic: text,
    filters: filtersOf(filters),
    context: checkedContext,
    options: checkedOptions,
    weights: withTemporalFactor(checkedContext.weights, factor),
    warnings: checkedContext.warnings,
  }
}

export interface CheckedScope {
  readonly local: boolean
  readonly federated: boolean
  readonly network: boolean
  /** Names of the other nodes that may be queried; null: all listed nodes. */
  readonly nodes: readonly string[] | null
}

export function toScope(given: BeliefScope = { local: true }): CheckedScope {
  const { local = false, federated = false, network = false, nodes = null } = given
  return { local, federated, network, nodes: nodes && [...new Set(nodes)] }
}

export type CheckedOptions = ReturnType<typeof toOptions>
export type CheckedDiversity = CheckedOptions['diversity']

export function toOptions(given: BeliefOptions = {}) {
  const { limit = DEFAULT_LIMIT, offset = 0, timeout_ms: timeoutMs = DEFAULT_TIMEOUT_MS, diversity } = given
  const perNodeMs = Math.round(NODE_SHARE * timeoutMs)
  return {
    scope: toScope(given.scope),
    limit,
    /** Number of results to skip at the beginning; always 0 if the request continues from a cursor. */
    offset,
    cursor: given.cursor ?? null,
    includeDerivation: given.include_derivation ?? false,
    includeExplanation: given.include_explanation ?? false,
    maxDerivationDepth: given.max_derivation_depth ?? 5,
    timeoutMs,
    /** Minimum raw cosine between a match and the text; null: the default for the embedding model in use. */
    minSimilarity: given.any === true ? NO_FLOOR : (given.min_similarity ?? null),
    approximate: given.approximate ?? false,
    diversity: {
      enabled: diversity?.enabled ?? false,
      /** Minimum semantic distance (1 minus cosine) between two results of a diverse answer; null: no minimum. */
      minDistance: diversity?.min_semantic_distance ?? null,
      maxPerHolder: diversity?.max_per_holder ?? null,
      maxPerDomain: diversity?.max_per_domain ?? null,
      lambda: diversity?.lambda ?? 0.7,
    },
    temporalIntent: given.temporal_intent ?? false,
    dryRun: given.dry_run ?? false,
    // A number above the maximum is reduced to the maximum, not refused.
    maxResultsPerNode: Math.min(MAX_PER_NODE, given.max_results_per_node ?? PER_RESULT * (limit + offset)),
    timeoutPerNodeMs: Math.min(perNodeMs, given.timeout_per_node_ms ?? perNodeMs),
    mergeStrategy: given.merge_strategy ?? ('rerank' as const),
    chunkSize: given.chunk_size ?? 20,
  }
}
