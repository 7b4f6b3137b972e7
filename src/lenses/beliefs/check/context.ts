/** Who asks, and what trust and confidence count for (BQ-017, BQ-060 to BQ-067). */
import { DEFAULT_WEIGHTS, dimensionWeights } from '../measures/confidence.ts'
import { DEFAULT_TRUST_WEIGHT, rankingWeights } from '../measures/weights.ts'
import type { Dimension, DimensionWeights, RankingWeights } from '../model.ts'
import type { Asker, CheckedContext, CheckedWarning } from './checked.ts'
import { type Check, checked, type Place } from './faults.ts'
import { refusedMember } from './refused.ts'
import { listOf, members, orNull, uniqueItems } from './shapes.ts'
import { domain, finiteInteger, finiteNumber, id, numberIn, SHARE } from './values.ts'

/** For operations that take a context apart from a query; undefined is an empty one. */
export function checkContext(input: unknown, asker: Asker, path = 'context'): CheckedContext {
  return checked(input === undefined ? {} : input, contextOf(asker), path)
}

/** `listMode`: there is no text, so meaning counts nothing. */
export function contextOf(asker: Asker, listMode = false): Check<CheckedContext> {
  const shape = {
    requester_id: requesterOf(asker),
    trust_graph: orNull(graphOf(asker)),
    trust_weight: numberIn(SHARE),
    query_domains: listOf(domain, MOST_DOMAINS, 'domains'),
    domain_trust_weight: numberIn(SHARE),
    max_trust_hops: finiteInteger,
    transitive_damping: finiteNumber,
    confidence_weights: confidenceWeights,
    ranking_weights: rankingWeightsOf(listMode),
  }
  return (value, at) => {
    const given = members(value, at, shape, { unknown: refusedMember })
    if (given === undefined) return undefined
    const trustWeight = given.trust_weight ?? DEFAULT_TRUST_WEIGHT
    const hops = clamped('max_trust_hops', given.max_trust_hops, HOPS)
    const damping = clamped('transitive_damping', given.transitive_damping, DAMPING)
    return {
      requesterId: asker.id,
      trustWeight,
      queryDomains: uniqueItems(given.query_domains ?? []),
      domainTrustWeight: given.domain_trust_weight ?? DEFAULT_DOMAIN_TRUST_WEIGHT,
      maxTrustHops: hops.value,
      transitiveDamping: damping.value,
      confidenceWeights: given.confidence_weights ?? DEFAULT_WEIGHTS,
      // The cast: a trust weight leaves something for the others, so their sum is above 0.
      weights: given.ranking_weights ?? (rankingWeights({ trustWeight, given: null, listMode }) as RankingWeights),
      warnings: [...hops.warnings, ...damping.warnings],
    }
  }
}

const DEFAULT_DOMAIN_TRUST_WEIGHT = 0.5

const MOST_DOMAINS = 32

interface Clamp {
  readonly least: number
  readonly most: number
  readonly usual: number
}

const HOPS: Clamp = { least: 1, most: 5, usual: 3 }
const DAMPING: Clamp = { least: 0.1, most: 0.9, usual: 0.7 }

const weight = numberIn({ least: 0, most: Number.POSITIVE_INFINITY })
const DIMENSION_WEIGHTS: Readonly<Record<Dimension, Check<number>>> = {
  source_reliability: weight,
  method_quality: weight,
  internal_consistency: weight,
  temporal_freshness: weight,
  corroboration: weight,
  domain_applicability: weight,
}
const RANKING_WEIGHTS: Readonly<Record<keyof RankingWeights, Check<number>>> = {
  semantic: weight,
  confidence: weight,
  trust: weight,
  recency: weight,
}

/** The requester is whom the host knows, whatever a request says of it (BQ-066). */
function requesterOf({ id: established, isAnybody = false }: Asker): Check<string> {
  return (value, at) => {
    const given = id(value, at)
    if (given !== undefined && given !== established && !isAnybody) at.deny()
    return given
  }
}

/** Only its own graph; a foreign one and one that there is not are refused alike (BQ-065). */
function graphOf({ id: own, trustGraph, isAnybody = false }: Asker): Check<string> {
  return (value, at) => {
    if (typeof value === 'object') return at.fault('inline_trust', GRAPH)
    if (typeof value !== 'string') return at.fault('type', GRAPH, value)
    const isOwn = value === `ref:${own}` || (trustGraph !== null && value === `ref:${trustGraph}`)
    if (!isOwn && !isAnybody) at.deny()
    return value
  }
}

const GRAPH = 'a reference to your own graph, "ref:" and your id; its content is what the node knows'

function confidenceWeights(value: unknown, at: Place): DimensionWeights | undefined {
  const given = members(value, at, DIMENSION_WEIGHTS)
  return given && (dimensionWeights(given) ?? at.fault('zero_sum', 'weights of which one at least is above 0'))
}

function rankingWeightsOf(listMode: boolean): Check<RankingWeights> {
  const expected = `weights of which one at least${listMode ? ', beside semantic (there is no text),' : ''} is above 0`
  return (value, at) => {
    const given = members(value, at, RANKING_WEIGHTS)
    return given && (rankingWeights({ trustWeight: 0, given, listMode }) ?? at.fault('zero_sum', expected))
  }
}

/** Brought to the nearest end of its range, which the answer tells (BQ-064). */
function clamped(
  name: string,
  given: number | undefined,
  { least, most, usual }: Clamp,
): { readonly value: number; readonly warnings: readonly CheckedWarning[] } {
  const wished = given ?? usual
  const value = Math.min(Math.max(wished, least), most)
  if (value === wished) return { value, warnings: [] }
  const message = `context.${name} is ${value} instead of ${wished}: it may be from ${least} to ${most}`
  return { value, warnings: [{ code: 'clamped', message }] }
}
