/**
 * Filters of a query: presets, objects, and lists of both, where a belief must meet every item of the list (BQ-044 to BQ-057). Also the
 * context of a query: the requester, and how trust and confidence are weighted (BQ-017, BQ-060 to BQ-067).
 */
import { z } from 'zod'
import type { Instant } from '../../../base/clock.ts'
import { DIMENSIONS, type Dimension } from '../dimensions.ts'
import { unauthorized } from '../errors.ts'
import {
  DAY_MS,
  DEFAULT_TRUST_WEIGHT,
  DEFAULT_WEIGHTS,
  dimensionWeights,
  rankingWeights,
} from '../measures/confidence.ts'
import {
  byDimension,
  DERIVATION_TYPES,
  type DerivationType,
  type RankingWeights,
  VISIBILITIES,
  type Visibility,
} from '../model.ts'
import {
  across,
  anyCase,
  domain,
  field,
  id,
  integerIn,
  list,
  normalDomains,
  numberIn,
  object,
  oneOf,
  oneOfAnyCase,
  share,
  time,
  toInstant,
  toInstantOrNull,
  type Value,
} from './values.ts'

const MAX_PARTS = 8
const MAX_FILTER_DOMAINS = 50
const MAX_HOLDERS = 1_000
/** Maximum length of a list whose possible values are few and known in advance, such as visibility levels. */
export const MAX_KNOWN = 50

const PRESETS = ['high_confidence', 'recent', 'verified', 'from_trusted'] as const
const preset = oneOf(PRESETS)
const PRESET_TEXT =
  'high_confidence: overall above 0.7. recent: written in the last 30 days. verified: corroboration above 0.5. from_trusted: direct trust in the holder above 0.5. Default: none'

/** Minimum confidence of a belief: bounds by dimension, or a single number, which is a bound on the overall confidence (BQ-044). */
export const minConfidence = z.union(
  [
    share,
    object({
      overall: field(share.nullable(), 'Lowest weighted mean of all dimensions, 0 to 1; null: no bound', null),
      ...byDimension(meaning => field(share.nullable(), `Lowest value, 0 to 1, of: ${meaning}; null: no bound`, null)),
    }),
  ],
  'a number from 0 to 1, or an object of such numbers',
)

const holders = list(id, MAX_HOLDERS, 'holders')
const filterDomains = list(domain, MAX_FILTER_DOMAINS, 'domains')

const filter = object({
  preset: field(z.union([preset, list(preset, MAX_PARTS, 'presets')], 'a preset, or a list'), PRESET_TEXT),
  min_confidence: field(
    minConfidence.nullable(),
    'Lowest confidence: a number, 0 to 1, bounds the overall one; null: no bound',
    null,
  ),
  valid_at: field(time.nullable(), 'Holds at this moment. Default: now'),
  created_after: field(time.nullable(), 'Written at this moment or later; null: no bound', null),
  created_before: field(time.nullable(), 'Written at this moment or earlier; null: no bound', null),
  domains_include: field(filterDomains, 'In one of these domains or below it, at most 50; empty: in any', []),
  domains_exclude: field(filterDomains, 'In none of these domains and not below them, at most 50', []),
  holder_ids: field(
    holders.nullable(),
    'Held by one of these agents, at most 1,000; null: by any, empty: by none',
    null,
  ),
  exclude_holders: field(holders, 'Held by none of these agents, at most 1,000', []),
  min_holder_reputation: field(share.nullable(), 'Lowest reputation of the holder, 0 to 1; null: no bound', null),
  derivation_types: field(
    list(oneOf(DERIVATION_TYPES), MAX_KNOWN, 'types').nullable(),
    'Derived in one of these ways; null: in any, empty: in none',
    null,
  ),
  max_derivation_depth: field(
    integerIn(0).nullable(),
    'Most steps to what it rests on, 0 or more (0: it rests on no belief); null: no bound',
    null,
  ),
  visibility_levels: field(
    list(oneOfAnyCase(VISIBILITIES), MAX_KNOWN, 'levels').nullable(),
    'With one of these visibilities, in any case; null: with any; empty: with none',
    null,
  ),
})
  .refine(
    ({ created_after: after, created_before: before }) => !after || !before || toInstant(after) <= toInstant(before),
    across<{ created_before: string }>(
      ['created_after', 'created_before'],
      'created_window',
      ({ created_before: before }) => `a time not after created_before, ${new Date(before).toISOString()}`,
      ['created_after'],
    ),
  )
  .register(z.globalRegistry, { id: 'BeliefFilter' })
export type BeliefFilter = Value<typeof filter>

type Preset = (typeof PRESETS)[number]
export type Filters = Preset | BeliefFilter | readonly (Preset | BeliefFilter)[]

const PART = `a preset (${PRESETS.join(', ')}), an object of filters, or a list of both`
const part = z.union([preset, filter], PART)

export const filters = z
  .union([preset, filter, list(part, MAX_PARTS, 'parts')], PART)
  .refine(given => partsOf(given).length <= MAX_PARTS, {
    error: `at most ${MAX_PARTS} parts, presets counted`,
    params: { reason: 'too_complex' },
  })

/**
 * A lower bound on one confidence value of a belief. `temporal_freshness` is compared after it has decayed until as_of (BQ-045). An unknown
 * value (null) does not meet any bound.
 */
export interface ConfidenceBound {
  readonly of: 'overall' | Dimension
  /** The bound with which the confidence value is compared, 0 to 1. */
  readonly bound: number
  /** True: the confidence value must be above the bound. False: it must be equal to or above the bound. */
  readonly strict: boolean
}

/**
 * One item of a query's filters in normal form. A belief must meet all conditions of all items; a condition that is null, or an empty list
 * of exclusions, accepts every belief.
 */
export interface CheckedFilters {
  readonly confidence: readonly ConfidenceBound[]
  readonly validAt: Instant | null
  /** Bounds on the time of a belief's creation, both inclusive; null: no bound. */
  readonly createdAfter: Instant | null
  readonly createdBefore: Instant | null
  /** Maximum age of a belief in milliseconds: time from its creation to as_of; null: any age. */
  readonly createdWithinMs: number | null
  /**
   * Domains in normal form; a belief needs at least one domain equal to or below one of these. Null: any domain; the list is never empty.
   */
  readonly domainsInclude: readonly string[] | null
  readonly domainsExclude: readonly string[]
  /**
   * Accepted and excluded holders, by their names as the requester sees them. An empty set of accepted holders accepts no belief; null
   * accepts any holder.
   */
  readonly holderIds: ReadonlySet<string> | null
  readonly excludeHolders: ReadonlySet<string>
  /** Minimum reputation of the belief's holder, 0 to 1, inclusive; null: any. */
  readonly minHolderReputation: number | null
  /**
   * The requester's own direct trust in the belief's holder must be above this value; the requester's own beliefs are always accepted.
   * Null: any trust.
   */
  readonly directTrustAbove: number | null
  /** Accepted derivation types; an empty set accepts no belief, null accepts all types. */
  readonly derivationTypes: ReadonlySet<DerivationType> | null
  readonly maxDerivationDepth: number | null
  /** Accepted visibility levels; an empty set accepts no belief, null accepts all levels. */
  readonly visibilityLevels: ReadonlySet<Visibility> | null
}

/** A filter that accepts every belief; other filters are made from it by setting one or two conditions. */
export const NO_FILTER: CheckedFilters = {
  confidence: [],
  validAt: null,
  createdAfter: null,
  createdBefore: null,
  createdWithinMs: null,
  domainsInclude: null,
  domainsExclude: [],
  holderIds: null,
  excludeHolders: new Set(),
  minHolderReputation: null,
  directTrustAbove: null,
  derivationTypes: null,
  maxDerivationDepth: null,
  visibilityLevels: null,
}

/** For each preset name, the filter that it means (BQ-055). */
const PRESET_FILTERS: Readonly<Record<Preset, CheckedFilters>> = {
  high_confidence: { ...NO_FILTER, confidence: [{ of: 'overall', bound: 0.7, strict: true }] },
  recent: { ...NO_FILTER, createdWithinMs: 30 * DAY_MS },
  verified: { ...NO_FILTER, confidence: [{ of: 'corroboration', bound: 0.5, strict: true }] },
  from_trusted: { ...NO_FILTER, directTrustAbove: 0.5 },
}

/** Converts the filters of a request to normal form; items that accept every belief are left out. */
export function filtersOf(given: Filters = []): readonly CheckedFilters[] {
  return partsOf(given).filter(asksForSomething)
}

function partsOf(given: Filters): readonly CheckedFilters[] {
  // The cast is needed because `Array.isArray` does not recognise the type of a readonly list.
  const parts = Array.isArray(given) ? (given as readonly (Preset | BeliefFilter)[]) : [given as Preset | BeliefFilter]
  return parts.flatMap(part => {
    if (typeof part === 'string') return [PRESET_FILTERS[part]]
    const { preset = [] } = part
    return [toFilter(part), ...(typeof preset === 'string' ? [preset] : preset).map(name => PRESET_FILTERS[name])]
  })
}

export function toFilter(given: BeliefFilter): CheckedFilters {
  const include = normalDomains(given.domains_include ?? [])
  return {
    ...NO_FILTER,
    confidence: toBounds(given.min_confidence),
    validAt: toInstantOrNull(given.valid_at),
    createdAfter: toInstantOrNull(given.created_after),
    createdBefore: toInstantOrNull(given.created_before),
    domainsInclude: include.length === 0 ? null : include,
    domainsExclude: normalDomains(given.domains_exclude ?? []),
    holderIds: asSet(given.holder_ids),
    excludeHolders: new Set(given.exclude_holders),
    minHolderReputation: given.min_holder_reputation ?? null,
    derivationTypes: asSet(given.derivation_types),
    maxDerivationDepth: given.max_derivation_depth ?? null,
    visibilityLevels: asSet(given.visibility_levels?.map(anyCase)),
  }
}

const BOUNDED: readonly ('overall' | Dimension)[] = ['overall', ...DIMENSIONS]

export function toBounds(given: Value<typeof minConfidence> | null = null): readonly ConfidenceBound[] {
  const bounds = typeof given === 'number' ? { overall: given } : (given ?? {})
  return BOUNDED.flatMap(of => {
    const bound = (bounds as Partial<Record<typeof of, number | null>>)[of] ?? null
    return bound === null ? [] : [{ of, bound, strict: false }]
  })
}

function asksForSomething(part: CheckedFilters): boolean {
  return Object.entries(part).some(([name, member]) => {
    if (Array.isArray(member)) return member.length > 0
    return name === 'excludeHolders' ? part.excludeHolders.size > 0 : member !== null
  })
}

function asSet<T>(items: readonly T[] | null | undefined): ReadonlySet<T> | null {
  return items === null || items === undefined ? null : new Set(items)
}

const MAX_QUERY_DOMAINS = 32

const weight = numberIn(0)

const rankingWeightsInput = object({
  semantic: field(weight, 'Weight of meaning, 0 or more', 0.35),
  confidence: field(weight, 'Weight of confidence, 0 or more', 0.25),
  trust: field(weight, 'Weight of trust, 0 or more', 0.3),
  recency: field(weight, 'Weight of recency, 0 or more', 0.1),
})

const GRAPH = 'a reference to your own graph, "ref:" and your id; its content is what the node knows'

/** Schema of the context of a query: the requester, and how trust and confidence are weighted (BQ-017, BQ-060 to BQ-067). */
export const context = object({
  requester_id: field(id, 'Requesting agent: the one that the host knows; any other is refused. Default: that one'),
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
    'Domains that the query is about, at most 32 paths: trust by domain and decay are computed for them',
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
      error: 'weights, of which at least one is above 0',
      params: { reason: 'zero_sum' },
    }),
    'Weights of the dimensions in the confidence; they are divided by their sum',
    { ...DEFAULT_WEIGHTS },
  ),
  ranking_weights: field(
    rankingWeightsInput.refine(given => weightsOf(given, false) !== null, {
      error: 'weights, of which at least one is above 0',
      params: { reason: 'zero_sum' },
    }),
    'Weights of the parts of the score; they are divided by their sum. Default: they follow trust_weight',
  ),
})
export type BeliefContext = Value<typeof context>

/** The requester of a query, as authenticated by the host. */
export interface Requester {
  readonly id: string
  /** Name by which a request may refer to the requester's trust graph, in addition to the requester's id; null: there is no other name. */
  readonly trustGraph: string | null
}

export interface CheckedWarning {
  readonly code: string
  readonly message: string
}

export type CheckedContext = ReturnType<typeof toContext>

/**
 * Checks and completes the context of a query. `listMode`: the query has no text, so that semantic similarity gets weight 0. The resulting
 * ranking weights have the sum 1.
 */
export function toContext(given: BeliefContext | undefined, requester: Requester, listMode = false) {
  const {
    requester_id: claimed,
    trust_graph: graph = null,
    trust_weight: trustWeight = DEFAULT_TRUST_WEIGHT,
  } = given ?? {}
  // The host determines the requester, whatever a request states (BQ-066). A reference to another agent's trust graph is refused with the
  // error for one that does not exist (BQ-065).
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
    // The cast is safe: weights are null only if their sum is 0; the default weights never have the sum 0, and given weights with the sum 0
    // were refused.
    weights: (weights === undefined
      ? rankingWeights({ trustWeight, given: null, listMode })
      : weightsOf(weights, listMode)) as RankingWeights,
    /** One warning for each parameter that was out of range and was set to the nearest allowed value. */
    warnings: [...hops.warnings, ...damping.warnings] as readonly CheckedWarning[],
  }
}

/** Normalises given ranking weights to the sum 1; null: the given weights have the sum 0. */
export function weightsOf(given: Partial<Record<keyof RankingWeights, number | undefined>>, listMode: boolean) {
  return rankingWeights({ trustWeight: 0, given: known(given), listMode })
}

/** Removes members whose value is undefined, because they would override defaults when the object is merged with them. */
function known<T extends object>(given: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  // The cast is safe: members with the value undefined were removed.
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as never
}

interface Clamp {
  readonly min: number
  readonly max: number
  readonly usual: number
}

const HOPS: Clamp = { min: 1, max: 5, usual: 3 }
const DAMPING: Clamp = { min: 0.1, max: 0.9, usual: 0.7 }

/** Sets a value that is out of range to the nearest end of the range, and returns a warning for the answer (BQ-064). */
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
