/**
 * A query: text, filters, context and options (BQ-024 to BQ-026). Its schemas are what is published and what checks it; the
 * functions give what a checked one comes to inside the lens, complete and in normal form.
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
/** Results of one node (BQ-118). */
export const MAX_PER_NODE = 1_000
/** By default, for each result that is wanted: later pages have candidates too. */
const PER_RESULT = 3
/** What one node may take of the whole time: some is left to merge the answers. */
const NODE_SHARE = 0.8
/** As `min_similarity`: nothing is too far from the text. */
export const NO_FLOOR = -1
/** Of operations whose input names no limit, too (BQ-088). */
export const DEFAULT_TIMEOUT_MS = 5_000
export const DEFAULT_LIMIT = 20

/** In a scope that is given, what is left out is off (BQ-086). */
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

/** What `stream: true` is refused with where no stream can be given (BQ-155). */
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
  approximate: field(flag, 'Accept approximate nearest neighbours, which is faster over many beliefs', false),
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

/** How a query is run and answered (BQ-084 to BQ-089). */
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

/** What the rules over several fields of a query look at. */
interface QueryParts {
  readonly semantic: string
  readonly filters?: Filters
  readonly context?: BeliefContext
}

/** Fields of a query beside others, with the rules over several of them. */
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
/** `options.stream` may be asked for. */
export const streamedInput = request(
  queryWith({ options: field(optionsWith(flag), 'How the query is run and answered', {}) }),
)

export interface CheckedQuery {
  /** Null: list mode, which ranks without meaning. There is at least one filter then. */
  readonly semantic: CheckedText | null
  /** All must hold. Empty exactly if nothing is filtered; parts that ask for nothing are left out. */
  readonly filters: readonly CheckedFilters[]
  readonly context: CheckedContext
  readonly options: CheckedOptions
  /** Together 1: those of the context, with list mode and words of time worked in. */
  readonly weights: RankingWeights
  readonly warnings: readonly CheckedWarning[]
}

/** Throws UNAUTHORIZED where the query claims to be of somebody else. */
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
  /** Null: all. */
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
    /** 0 beside a cursor. */
    offset,
    cursor: given.cursor ?? null,
    includeDerivation: given.include_derivation ?? false,
    includeExplanation: given.include_explanation ?? false,
    maxDerivationDepth: given.max_derivation_depth ?? 5,
    timeoutMs,
    /** Raw cosine; null: the floor of the embedder in use. */
    minSimilarity: given.any === true ? NO_FLOOR : (given.min_similarity ?? null),
    diversity: {
      enabled: diversity?.enabled ?? false,
      /** Null: no such bound. */
      minDistance: diversity?.min_semantic_distance ?? null,
      maxPerHolder: diversity?.max_per_holder ?? null,
      maxPerDomain: diversity?.max_per_domain ?? null,
      lambda: diversity?.lambda ?? 0.7,
    },
    temporalIntent: given.temporal_intent ?? false,
    dryRun: given.dry_run ?? false,
    // Larger requests are cut to the bound, not refused.
    maxResultsPerNode: Math.min(MAX_PER_NODE, given.max_results_per_node ?? PER_RESULT * (limit + offset)),
    timeoutPerNodeMs: Math.min(perNodeMs, given.timeout_per_node_ms ?? perNodeMs),
    mergeStrategy: given.merge_strategy ?? ('rerank' as const),
    chunkSize: given.chunk_size ?? 20,
  }
}
