/**
 * A trust edge is one agent's statement of trust in another agent. This module defines how an edge is stored, how it is signed (BQ-068,
 * BQ-069), and how much it counts for the domains of a question (BQ-062, BQ-063) at a given time. Unused edges fade (BQ-070), and edges
 * count for agents other than their owner in steps of a tenth (BQ-078).
 */
import { canonicalJson, type JsonObject } from '../../../base/canonical.ts'
import type { Instant } from '../../../base/clock.ts'
import type { Row } from '../../../model/table.ts'
import type { BeliefsSettings } from '../beliefs-settings.ts'
import { DAY_MS, twelveDecimals } from '../measures/confidence.ts'
import { meanEntry, normaliseDomain } from '../schema/values.ts'

export const BASIS_TYPES = [
  'DIRECT_INTERACTION',
  'VERIFICATION_HISTORY',
  'FEDERATION_MEMBER',
  'TRANSITIVE',
  'EXTERNAL_REPUTATION',
  'MANUAL',
] as const
type BasisType = (typeof BASIS_TYPES)[number]

/** One reason that an agent gives for a statement of trust. */
interface TrustBasis extends JsonObject {
  readonly type: BasisType
  /** The agent's confidence in this reason for trust, 0 to 1. */
  readonly confidence: number
}

/**
 * Who may benefit from a trust edge. `private`: it counts only in the store where its owner is hosted. `exposed`: it counts for the
 * transitive trust of other agents even if its owner is not hosted on this node.
 */
export const EXPOSURES = ['private', 'exposed'] as const
type Exposure = (typeof EXPOSURES)[number]

export interface TrustEdge {
  readonly owner: string
  readonly target: string
  /** Level of trust in the target agent, 0 to 1. 0 means distrust, which differs from having no edge to the agent. */
  readonly level: number
  /** Levels of trust for single domains, by domain in normal form; 0 to 1. */
  readonly domains: Readonly<Record<string, number>>
  readonly basis: readonly TrustBasis[]
  readonly createdAt: Instant
  readonly updatedAt: Instant
  /** Whether the edge never fades, however long it is unused. */
  readonly persistent: boolean
  readonly exposure: Exposure
  /** Signature of the owner's key over `edgeStatement`, in base64url. */
  readonly signature: string
  /** Time when the edge last contributed to an answer. This field and the next are not covered by the signature. */
  readonly lastUsed: Instant
  /** Earlier times of use, ascending, kept for as long as cursors are valid, so that trust as of an earlier moment can be computed. */
  readonly usedBefore: readonly Instant[]
}

export type UnsignedEdge = Omit<TrustEdge, 'signature' | 'lastUsed' | 'usedBefore'>

/** The statement of trust in the form that the owner signs. Times are ISO 8601 in UTC with milliseconds. */
export function edgeStatement(edge: UnsignedEdge) {
  return {
    type: 'querent.trust.v1',
    owner: edge.owner,
    target: edge.target,
    trust_level: edge.level,
    domain_trust: edge.domains,
    basis: edge.basis,
    created: new Date(edge.createdAt).toISOString(),
    updated: new Date(edge.updatedAt).toISOString(),
    persistent: edge.persistent,
    exposure: edge.exposure,
  }
}

export type EdgeFault = 'self' | 'level' | 'domains' | 'basis'

/** The first fault that makes a statement of trust invalid, whoever signed it; null: the statement is valid. */
export function faultOf({ owner, target, level, domains, basis }: UnsignedEdge): EdgeFault | null {
  if (owner === target) return 'self'
  if (!isShare(level)) return 'level'
  const sound = Object.entries(domains).every(([domain, entry]) => normaliseDomain(domain) === domain && isShare(entry))
  if (!sound) return 'domains'
  return basis.every(({ type, confidence }) => BASIS_TYPES.includes(type) && isShare(confidence)) ? null : 'basis'
}

function isShare(value: unknown): boolean {
  return typeof value === 'number' && value >= 0 && value <= 1
}

/** Reads a trust edge from its row. Null: the row does not contain a readable statement of trust. */
export function edgeOf(row: Row): TrustEdge | null {
  try {
    const [domains, basis]: unknown[] = [JSON.parse(row['domains'] as string), JSON.parse(row['basis'] as string)]
    if (typeof domains !== 'object' || domains === null || !Array.isArray(basis) || !basis.every(isObject)) return null
    return {
      owner: row['owner'] as string,
      target: row['target'] as string,
      level: row['level'] as number,
      domains: domains as TrustEdge['domains'],
      basis: basis as TrustBasis[],
      createdAt: row['created_at'] as number,
      updatedAt: row['updated_at'] as number,
      persistent: row['persistent'] === 1,
      exposure: row['exposure'] === 'exposed' ? 'exposed' : 'private',
      signature: row['signature'] as string,
      lastUsed: row['last_used'] as number,
      usedBefore: usesIn(row),
    }
  } catch {
    return null
  }
}

export function usesIn(row: Row): readonly Instant[] {
  const text = row['used_before']
  return typeof text === 'string' ? (JSON.parse(text) as readonly Instant[]) : []
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}

export function rowOf(edge: TrustEdge): Row {
  return {
    owner: edge.owner,
    target: edge.target,
    level: edge.level,
    domains: canonicalJson(edge.domains),
    basis: canonicalJson(edge.basis),
    created_at: edge.createdAt,
    updated_at: edge.updatedAt,
    persistent: edge.persistent ? 1 : 0,
    exposure: edge.exposure,
    signature: edge.signature,
    last_used: edge.lastUsed,
    used_before: edge.usedBefore.length === 0 ? null : JSON.stringify(edge.usedBefore),
  }
}

const RATE_PER_DAY = 0.001
const MANUAL = 0.1
const HIGH = 0.5
const HIGH_ABOVE = 0.9
/**
 * Safety margin in milliseconds around the computed time at which an edge's level, rounded to tenths, changes by fading. Within the margin
 * the level is computed by the exact formula, because rounding may shift the computed time by some hundredths of a second.
 */
const SLACK_MS = 1000

/** Exponential rate per day at which an unused trust edge fades; 0 for an edge that never fades. */
function fadingRate(level: number, manual: boolean, persistent: boolean): number {
  if (persistent) return 0
  return RATE_PER_DAY * (manual ? MANUAL : 1) * (level > HIGH_ABOVE ? HIGH : 1)
}

/**
 * Days from the last use of an edge to `asOf`; 0 if the use is later than `asOf`, which happens if the use was recorded by a machine with
 * another clock.
 */
export function daysSince(lastUsed: Instant, asOf: Instant): number {
  return Math.max(0, asOf - lastUsed) / DAY_MS
}

export function faded(base: number, rate: number, days: number): number {
  return base * Math.exp(-rate * days)
}

/**
 * Converts a value to a whole number of tenths, rounded half up: 0.85 gives 9, 0.8499 gives 8. The value is first rounded to twelve
 * decimals, so that rounding errors of sums have no effect.
 */
export function tenthsOf(value: number): number {
  return Math.floor(twelveDecimals(value) * 10 + 0.5)
}

/**
 * Time until which the level of a fading edge, rounded to tenths, certainly stays the given number of tenths. It may be earlier than the
 * true time, but is at least one millisecond after `asOf`.
 */
export function tenthsHoldUntil(base: number, rate: number, lastUsed: Instant, asOf: Instant, tenths: number): Instant {
  if (tenths === 0 || rate === 0) return Number.POSITIVE_INFINITY
  const days = Math.log((base * 10) / (tenths - 0.5)) / rate
  return Math.max(asOf + 1, Math.floor(lastUsed + days * DAY_MS) - SLACK_MS)
}

/**
 * Time since which the level of a fading edge, rounded to tenths, has certainly been the given number of tenths. It may be later than the
 * true time, but not later than `asOf`.
 */
function tenthsHoldFrom(base: number, rate: number, lastUsed: Instant, asOf: Instant, tenths: number): Instant {
  if (rate === 0 || tenths === tenthsOf(base)) return Number.NEGATIVE_INFINITY
  const days = Math.log((base * 10) / (tenths + 0.5)) / rate
  return Math.min(asOf, Math.ceil(lastUsed + days * DAY_MS) + SLACK_MS)
}

/**
 * A trust edge with the fields from which its level is computed: for the domains of a question (BQ-062, BQ-063), and faded at a given time
 * (BQ-070).
 */
export interface CountedEdge {
  readonly level: number
  /** Exponential rate per day at which the edge fades while it is not used. */
  readonly rate: number
  readonly lastUsed: Instant
  /** Times of earlier uses of the edge, ascending. */
  readonly usedBefore: readonly Instant[]
  /** Whether the edge counts for other agents' transitive trust even if its owner is not hosted on this node (BQ-079). */
  readonly isExposed: boolean
  /** Levels of trust for single domains, by domain in normal form; null: the edge has none. */
  readonly byDomain: ReadonlyMap<string, number> | null
}

export function countedEdge({ level, basis, persistent, exposure, domains, ...edge }: TrustEdge): CountedEdge {
  const isManual = basis.some(({ type }) => type === 'MANUAL')
  const entries = Object.entries(domains)
  return {
    level,
    rate: fadingRate(level, isManual, persistent),
    lastUsed: edge.lastUsed,
    usedBefore: edge.usedBefore,
    isExposed: exposure === 'exposed',
    byDomain: entries.length === 0 ? null : new Map(entries),
  }
}

/** A trust edge together with the number of its target agent. */
export interface PlacedEdge {
  readonly edge: CountedEdge
  /** Number of the agent to which the edge leads, for use as an array index. */
  readonly to: number
}

/** A period of time that includes its first instant and excludes its last. */
export interface Span {
  readonly from: Instant
  readonly until: Instant
}

/**
 * The trust edges of one owner with their levels rounded to tenths, as they count for the transitive trust of other agents. Edges whose
 * level rounds to 0 are left out.
 */
export interface Links {
  /** Numbers of the target agents; and for each target the level of the edge in tenths, 1 to 10. */
  readonly targets: readonly number[]
  readonly tenths: readonly number[]
  /** Period during which the levels of all these edges, rounded to tenths, stay unchanged although unused edges fade. */
  readonly span: Span
  /**
   * Whether some of the owner's edges also have levels for single domains, so that `tenths`, computed from the general levels, is not valid
   * for a question about particular domains.
   */
  readonly hasEntries: boolean
}

const NO_EDGES: ReadonlyMap<string, PlacedEdge> = new Map()

/**
 * All trust edges in memory, by owner and then by target. Each agent that an edge leads from or to has a fixed number, counted from 0, so
 * that arrays can be indexed by agent.
 */
export class CountedEdges {
  /**
   * By number of an agent: the agent's own trust edges with their levels rounded to tenths, as last computed for a question without
   * domains. An element is absent after one of the agent's edges, or the set of hosted agents, has changed.
   */
  links: (Links | undefined)[] = []
  /** Names of the agents, in the order of their numbers. */
  readonly names: string[] = []
  readonly #byOwner = new Map<string, Map<string, PlacedEdge>>()
  readonly #numbers = new Map<string, number>()
  #size = 0

  get size(): number {
    return this.#size
  }

  /** Number of an agent; -1: no edge has led from or to the agent. */
  numberOf(name: string): number {
    return this.#numbers.get(name) ?? -1
  }

  of(owner: string): ReadonlyMap<string, PlacedEdge> {
    return this.#byOwner.get(owner) ?? NO_EDGES
  }

  put(owner: string, target: string, edge: CountedEdge): void {
    this.links[this.#numbered(owner)] = undefined
    const placed = { edge, to: this.#numbered(target) }
    const own = this.#byOwner.get(owner)
    if (!own?.has(target)) this.#size++
    if (own === undefined) this.#byOwner.set(owner, new Map([[target, placed]]))
    else own.set(target, placed)
  }

  remove(owner: string, target: string): void {
    const own = this.#byOwner.get(owner)
    if (!own?.delete(target)) return
    this.#size--
    this.links[this.#numbered(owner)] = undefined
    if (own.size === 0) this.#byOwner.delete(owner)
  }

  #numbered(name: string): number {
    const known = this.#numbers.get(name)
    if (known !== undefined) return known
    this.#numbers.set(name, this.names.length)
    return this.names.push(name) - 1
  }
}

/**
 * Level of a trust edge for a question, before fading: the general level, or a weighted mean of it and the levels for the question's
 * domains. The question's domains must be sorted and unique, so that rounding is always equal.
 */
export function baseOf({ level, byDomain }: CountedEdge, { domains, domainTrustWeight }: TrustQuestion): number {
  const mean = byDomain === null ? null : meanEntry(byDomain, domains)
  return mean === null ? level : (1 - domainTrustWeight) * level + domainTrustWeight * mean
}

/** Time of the edge's last use before `asOf`; if the edge was not used before, the time of its latest use. */
export function lastUsedBefore({ lastUsed, usedBefore }: CountedEdge, asOf: Instant): Instant {
  return lastUsed < asOf ? lastUsed : (usedBefore.findLast(use => use < asOf) ?? lastUsed)
}

interface Tenths {
  /** Level of the edge, 0 to 10 tenths. */
  readonly tenths: number
  /** Period during which the edge keeps this number of tenths. */
  readonly span: Span
}

/** The level of an edge in tenths, in which it counts for agents other than its owner (BQ-078), and the period for which this is valid. */
export function tenthsIn(edge: CountedEdge, question: TrustQuestion, asOf: Instant): Tenths {
  const base = baseOf(edge, question)
  const tenths = tenthsOf(faded(base, edge.rate, daysSince(edge.lastUsed, asOf)))
  const from = tenthsHoldFrom(base, edge.rate, edge.lastUsed, asOf, tenths)
  return { tenths, span: { from, until: tenthsHoldUntil(base, edge.rate, edge.lastUsed, asOf, tenths) } }
}

// Types for one agent's trust in another: what is asked for, the rules of computation, and how much of the result may be shown.

export interface TrustQuestion {
  /** Domains for which trust is asked, in normal form; empty: trust in general. */
  readonly domains: readonly string[]
  /** Weight of an edge's levels for the question's domains, 0 to 1; the edge's general level has the remaining weight. */
  readonly domainTrustWeight: number
  /** Maximum number of edges on a route, 1 to 5. A route is a chain of trust edges that leads from the viewer to an agent. */
  readonly maxHops: number
  /**
   * Damping: factor, 0.1 to 0.9, by which each edge on a route lowers transitive trust. A route is a chain of trust edges that leads from
   * the viewer to an agent.
   */
  readonly damping: number
}

export type TrustRules = Pick<
  BeliefsSettings,
  'defaultTrust' | 'sybilThreshold' | 'sybilCap' | 'sybilRule' | 'newAgentCap'
>

/**
 * Name under which a federation is the target of a trust edge. No agent can have this name: local names contain no colon, and a did:key
 * begins differently.
 */
export function federationTarget(federation: string): string {
  return `federation:${federation}`
}

/** Trust by the viewer's own edge to an agent, of which the viewer may see the exact numbers (BQ-107). */
export interface DirectTrust {
  readonly level: number
  /** Levels that the edge states for domains of the question, by domain. */
  readonly entries: Readonly<Record<string, number>>
  /** Weighted mean of the edge's general level and its levels for the question's domains, before fading. 0 means distrust. */
  readonly base: number
  /** Days since the edge's last use, and the exponential rate per day at which it fades. */
  readonly days: number
  readonly rate: number
  readonly decayed: number
  /**
   * Trust in the agent by this edge: the level `base`, lowered by fading while the edge is unused. Fading alone never lowers it below the
   * trust in a stranger (BQ-071).
   */
  readonly value: number
  readonly distrusted: boolean
}

/**
 * Trust that results from edges of other agents. The viewer may only be shown its band (low, medium or high), and whether it has one source
 * or several (BQ-107).
 */
export interface TransitiveTrust {
  readonly level: number
  /**
   * Number of independent sources of the trust. A source is an agent that the viewer trusts by an own edge and from which a chain of edges
   * (a route) with a sufficient level leads to the agent. Under the rule `disjoint`: number of routes that share no other agent, counted
   * only up to the number required.
   */
  readonly sources: number
  /** Whether the level was lowered to a maximum because there are too few sources or the agent is too new. */
  readonly capped: boolean
}

export type TrustKind = 'self' | 'direct' | 'transitive' | 'reputation' | 'default'

export interface TrustIn {
  /** The viewer's trust in the agent, 0 to 1. */
  readonly value: number
  readonly kind: TrustKind
  readonly direct: DirectTrust | null
  /**
   * Trust that results from edges of other agents. Null: no chain of edges leads from the viewer to the agent, or the viewer's trust in the
   * agent does not depend on such edges, for example because the viewer has an own edge to the agent.
   */
  readonly transitive: TransitiveTrust | null
  /** Reputation of the agent for the domains of the question, which is public; null: it has none. */
  readonly reputation: number | null
  readonly distrusted: boolean
}

export type TrustBand = 'low' | 'medium' | 'high'

/**
 * The band in which a level of trust lies, which may be shown where the level rests on edges of other agents: `low` below 0.2, `medium`
 * below 0.4, otherwise `high`.
 */
export function trustBand(level: number): TrustBand {
  if (level < 0.2) return 'low'
  return level < 0.4 ? 'medium' : 'high'
}

/**
 * Value that replaces the exact trust in each band. It is used for a federation member whom the requester knows only by a pseudonym
 * (BQ-104).
 */
const MIDDLES: Readonly<Record<TrustBand, number>> = { low: 0.1, medium: 0.3, high: 0.7 }

export function middleOfBand(level: number): number {
  return MIDDLES[trustBand(level)]
}

/**
 * The agents or federations in whom the requester's trust counts for a belief, if that is not simply trust in its holder, for example if
 * the belief came through a federation.
 */
export interface TrustedAs {
  /** Agent or federation to which the requester's trust edge is looked up; filters on trust and reputation use this target. */
  readonly target: string
  /**
   * The belief's holder, if the requester's trust in the holder counts; the trust is then reduced to its band (low, medium or high). Null:
   * trust in `target` counts instead.
   */
  readonly member: string | null
}
