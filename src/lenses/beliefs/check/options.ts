/** How a query is run and answered (BQ-084 to BQ-089). */
import { MERGE_STRATEGIES, SCOPE_KINDS } from '../model.ts'
import type { CheckedDiversity, CheckedOptions, CheckedScope } from './checked.ts'
import { type Check, checked, type Place } from './faults.ts'
import { refusedMember } from './refused.ts'
import { isWhole, listOf, type Members, members, orNull, uniqueItems } from './shapes.ts'
import { boolean, id, integerIn, numberIn, oneOf, SHARE, textUpTo } from './values.ts'

/** For operations that take options apart from a query; undefined is no options. */
export function checkOptions(input: unknown, path = 'options'): CheckedOptions {
  return checked(input === undefined ? {} : input, options, path)
}

/** Undefined is the scope of a request without one: local. */
export function checkScope(input: unknown, path = 'options.scope'): CheckedScope {
  return input === undefined ? LOCAL : checked(input, scope, path)
}

export const options: Check<CheckedOptions> = (value, at) => completed(members(value, at, OPTIONS, UNKNOWN), at)

/** Of what is answered as a stream: `stream` may be asked for. */
export const streamedOptions: Check<CheckedOptions> = (value, at) =>
  completed(members(value, at, STREAMED, UNKNOWN), at)

const UNKNOWN = { unknown: refusedMember }

function completed(given: Members<typeof OPTIONS> | undefined, at: Place): CheckedOptions | undefined {
  if (given === undefined) return undefined
  const { offset = 0, cursor = null } = given
  if (offset > 0 && cursor !== null) {
    return at.member('offset').fault('offset_with_cursor', '0 or none beside a cursor, which knows its place', offset)
  }
  const { limit = DEFAULT_LIMIT, timeout_ms: timeoutMs = DEFAULT_TIMEOUT_MS } = given
  const perNodeMs = Math.round(NODE_SHARE * timeoutMs)
  return {
    scope: given.scope ?? LOCAL,
    limit,
    offset,
    // Larger requests are cut to the bound, not refused.
    maxResultsPerNode: Math.min(MOST_PER_NODE, given.max_results_per_node ?? PER_RESULT * (limit + offset)),
    timeoutPerNodeMs: Math.min(perNodeMs, given.timeout_per_node_ms ?? perNodeMs),
    mergeStrategy: given.merge_strategy ?? 'rerank',
    cursor,
    includeDerivation: given.include_derivation ?? false,
    includeExplanation: given.include_explanation ?? false,
    maxDerivationDepth: given.max_derivation_depth ?? 5,
    timeoutMs,
    approximate: given.approximate ?? false,
    efSearch: given.ef_search ?? null,
    diversity: given.diversity ?? NO_DIVERSITY,
    temporalIntent: given.temporal_intent ?? false,
    dryRun: given.dry_run ?? false,
    chunkSize: given.chunk_size ?? DEFAULT_CHUNK,
  }
}

/** In an object that is given, what is left out is off (BQ-086). */
export function scope(value: unknown, at: Place): CheckedScope | undefined {
  const given = members(value, at, SCOPE)
  if (given === undefined) return undefined
  const { local = false, federated = false, network = false, nodes = null } = given
  if (!local && !federated && !network) {
    const expected = `at least one of ${SCOPE_KINDS.join(', ')} to be true`
    return isWhole(value, given) ? at.fault('empty_scope', expected, value) : undefined
  }
  return { local, federated, network, nodes: nodes && uniqueItems(nodes) }
}

export const LOCAL: CheckedScope = { local: true, federated: false, network: false, nodes: null }

/** Of questions that say nothing of it, or cannot (BQ-088). */
export const DEFAULT_TIMEOUT_MS = 5_000

/** Results of one page (BQ-088). */
export const DEFAULT_LIMIT = 20
export const limit: Check<number> = integerIn({ least: 1, most: 1_000 })

const NO_DIVERSITY: CheckedDiversity = {
  enabled: false,
  minDistance: null,
  maxPerHolder: null,
  maxPerDomain: null,
  lambda: 0.7,
}

/** Results of one piece of a stream (BQ-150). */
const DEFAULT_CHUNK = 20

const MOST_NODES = 32

/** Results of one node (BQ-118), at most and by default for each that is wanted: later pages have candidates too. */
export const MOST_PER_NODE = 1_000
const PER_RESULT = 3
/** What one node may take of the whole time by default: some is left to put together what the others say. */
const NODE_SHARE = 0.8

const LONGEST_CURSOR = 4_096

const countFromOne = integerIn({ least: 1, most: Number.MAX_SAFE_INTEGER })

const SCOPE = {
  local: boolean,
  federated: boolean,
  network: boolean,
  nodes: orNull(listOf(id, MOST_NODES, 'nodes')),
}

const DIVERSITY = {
  enabled: boolean,
  min_semantic_distance: numberIn(SHARE),
  max_per_holder: countFromOne,
  max_per_domain: countFromOne,
  lambda: numberIn(SHARE),
}

const OPTIONS = {
  scope,
  limit,
  offset: integerIn({ least: 0, most: 10_000 }),
  cursor: orNull(textUpTo(LONGEST_CURSOR)),
  include_derivation: boolean,
  include_explanation: boolean,
  max_derivation_depth: integerIn({ least: 1, most: 10 }),
  timeout_ms: integerIn({ least: 1, most: 30_000 }),
  max_results_per_node: countFromOne,
  timeout_per_node_ms: countFromOne,
  merge_strategy: oneOf(MERGE_STRATEGIES),
  approximate: boolean,
  ef_search: integerIn({ least: 10, most: 1_000 }),
  stream,
  chunk_size: integerIn({ least: 1, most: 100 }),
  diversity,
  temporal_intent: boolean,
  dry_run: boolean,
}

const STREAMED = { ...OPTIONS, stream: boolean }

/** Asked for where no stream can be given, it is refused (BQ-155). */
function stream(value: unknown, at: Place): boolean | undefined {
  if (value !== true) return boolean(value, at)
  return at.fault('not_supported', 'false: results are not streamed here', value)
}

function diversity(value: unknown, at: Place): CheckedDiversity | undefined {
  const given = members(value, at, DIVERSITY)
  if (given === undefined) return undefined
  return {
    enabled: given.enabled ?? false,
    minDistance: given.min_semantic_distance ?? null,
    maxPerHolder: given.max_per_holder ?? null,
    maxPerDomain: given.max_per_domain ?? null,
    lambda: given.lambda ?? NO_DIVERSITY.lambda,
  }
}
