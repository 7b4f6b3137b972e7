/** The requester, and how trust and confidence are weighed (BQ-017, BQ-060 to BQ-067). */
import { z } from 'zod'
import { unauthorized } from '../errors.ts'
import { DEFAULT_WEIGHTS, dimensionWeights } from '../measures/confidence.ts'
import { DEFAULT_TRUST_WEIGHT, rankingWeights } from '../measures/weights.ts'
import { byDimension, type RankingWeights } from '../model.ts'
import { domain, field, id, list, normalDomains, numberIn, object, share, type Value } from './values.ts'

const MAX_QUERY_DOMAINS = 32

const weight = numberIn(0)

const rankingWeightsInput = object({
  semantic: field(weight, 'Weight of meaning, 0 or more', 0.35),
  confidence: field(weight, 'Weight of confidence, 0 or more', 0.25),
  trust: field(weight, 'Weight of trust, 0 or more', 0.3),
  recency: field(weight, 'Weight of recency, 0 or more', 0.1),
})

const GRAPH = 'a reference to your own graph, "ref:" and your id; its content is what the node knows'

/** The requester, and how trust and confidence are weighed (BQ-017, BQ-060 to BQ-067). */
export const context = object({
  requester_id: field(id, 'Agent that asks: the one that the host knows, any other is refused. Default: that one'),
  trust_graph: field(
    z
      .custom<string | null>()
      .check(({ value, issues }) => {
        if (value === null || typeof value === 'string') return
        const reason = typeof value === 'object' ? 'inline_trust' : 'type'
        issues.push({ code: 'custom', input: value, message: GRAPH, params: { reason } })
      })
      .meta({ type: ['string', 'null'] }),
    'Your own trust graph, as "ref:" and your id or its name. Default: that graph',
  ),
  trust_weight: field(share, 'How much trust counts in ranking, 0 to 1; ranking_weights wins over it', 0.5),
  query_domains: field(
    list(domain, MAX_QUERY_DOMAINS, 'domains'),
    'Domains that the query is about, at most 32 paths: trust by domain and decay go by them',
    [],
  ),
  domain_trust_weight: field(share, 'How much trust by domain counts beside trust in general, 0 to 1', 0.5),
  max_trust_hops: field(
    z.int('an integer'),
    'Longest chain of trust that counts, in steps; a number outside 1 to 5 is moved to the nearer end, with a warning',
    3,
  ),
  transitive_damping: field(
    z.number('a finite number'),
    'Factor by which trust shrinks with each step; a number outside 0.1 to 0.9 is moved to the nearer end, with a warning',
    0.7,
  ),
  confidence_weights: field(
    object(
      byDimension((meaning, name) => field(weight, `Weight, 0 or more, of: ${meaning}`, DEFAULT_WEIGHTS[name])),
    ).refine(given => dimensionWeights(known(given)) !== null, {
      error: 'weights of which one at least is above 0',
      params: { reason: 'zero_sum' },
    }),
    'Weights of the dimensions in the confidence; they are divided by their sum',
    { ...DEFAULT_WEIGHTS },
  ),
  ranking_weights: field(
    rankingWeightsInput.refine(given => weightsOf(given, false) !== null, {
      error: 'weights of which one at least is above 0',
      params: { reason: 'zero_sum' },
    }),
    'Weights of the parts of the score; they are divided by their sum. Default: they follow trust_weight',
  ),
})
export type BeliefContext = Value<typeof context>

/** The requester, as the host has established it. */
export interface Requester {
  readonly id: string
  /** What its trust graph may be called in a request, beside its id; null: nothing else. */
  readonly trustGraph: string | null
}

export interface CheckedWarning {
  readonly code: string
  readonly message: string
}

export type CheckedContext = ReturnType<typeof toContext>

/** `listMode`: there is no text, so meaning counts nothing. Weights are together 1. */
export function toContext(given: BeliefContext | undefined, requester: Requester, listMode = false) {
  const {
    requester_id: claimed,
    trust_graph: graph = null,
    trust_weight: trustWeight = DEFAULT_TRUST_WEIGHT,
  } = given ?? {}
  // The requester is the one that the host knows, whatever a request says of it (BQ-066). Another's graph and one that does
  // not exist are refused alike (BQ-065).
  if (claimed !== undefined && claimed !== requester.id) throw unauthorized()
  const isOwn =
    graph === `ref:${requester.id}` || (requester.trustGraph !== null && graph === `ref:${requester.trustGraph}`)
  if (graph !== null && !isOwn) throw unauthorized()
  const hops = clamped('max_trust_hops', given?.max_trust_hops, HOPS)
  const damping = clamped('transitive_damping', given?.transitive_damping, DAMPING)
  const { confidence_weights: dimensions, ranking_weights: weights } = given ?? {}
  return {
    requesterId: requester.id,
    trustWeight,
    queryDomains: normalDomains(given?.query_domains ?? []),
    domainTrustWeight: given?.domain_trust_weight ?? 0.5,
    maxTrustHops: hops.value,
    transitiveDamping: damping.value,
    confidenceWeights: (dimensions && dimensionWeights(known(dimensions))) ?? DEFAULT_WEIGHTS,
    // The cast: a trust weight leaves something for the others, and weights that come to nothing were refused.
    weights: (weights === undefined
      ? rankingWeights({ trustWeight, given: null, listMode })
      : weightsOf(weights, listMode)) as RankingWeights,
    /** What was moved into its range. */
    warnings: [...hops.warnings, ...damping.warnings] as readonly CheckedWarning[],
  }
}

/** Together 1; null: they come to 0. */
export function weightsOf(given: Partial<Record<keyof RankingWeights, number | undefined>>, listMode: boolean) {
  return rankingWeights({ trustWeight: 0, given: known(given), listMode })
}

/** Without the members that are undefined, which would hide a default. */
function known<T extends object>(given: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  // The cast: what is undefined is gone.
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as never
}

interface Clamp {
  readonly min: number
  readonly max: number
  readonly usual: number
}

const HOPS: Clamp = { min: 1, max: 5, usual: 3 }
const DAMPING: Clamp = { min: 0.1, max: 0.9, usual: 0.7 }

/** Moved to the nearer end of its range, which the answer says (BQ-064). */
function clamped(
  name: string,
  given: number | undefined,
  { min, max, usual }: Clamp,
): { readonly value: number; readonly warnings: readonly CheckedWarning[] } {
  const wished = given ?? usual
  const value = Math.min(Math.max(wished, min), max)
  if (value === wished) return { value, warnings: [] }
  const message = `context.${name} is ${value} instead of ${wished}: it may be from ${min} to ${max}`
  return { value, warnings: [{ code: 'clamped', message }] }
}
