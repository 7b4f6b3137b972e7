/**
 * One agent's statement of trust in another (a trust edge): how it is stored, how it is signed (BQ-068, BQ-069), and how it counts for the
 * domains of a question (BQ-062, BQ-063) at a moment. Unused edges fade (BQ-070), and edges of other agents count in steps of a tenth
 * (BQ-078).
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

/** One reason for a statement of trust. */
interface TrustBasis extends JsonObject {
  readonly type: BasisType
  /** Confidence in this reason, 0 to 1. */
  readonly confidence: number
}

/** `private`: used only in this store. `exposed`: counts in routes of other agents even if its owner is not hosted here. */
export const EXPOSURES = ['private', 'exposed'] as const
type Exposure = (typeof EXPOSURES)[number]

export interface TrustEdge {
  readonly owner: string
  readonly target: string
  /** Level of trust, 0 to 1. 0 is distrust, which differs from having no edge. */
  readonly level: number
  /** Levels of trust by normalised domain. */
  readonly domains: Readonly<Record<string, number>>
  readonly basis: readonly TrustBasis[]
  readonly createdAt: Instant
  readonly updatedAt: Instant
  /** Whether the edge never fades. */
  readonly persistent: boolean
  readonly exposure: Exposure
  /** Signature by the owner's key over `edgeStatement`, in base64url. */
  readonly signature: string
  /** Time of the last use. This and the following fields are not signed. */
  readonly lastUsed: Instant
  /** Earlier uses, ascending, for as long as cursors are valid. Trust as of an earlier moment is computed from them. */
  readonly usedBefore: readonly Instant[]
}

export type UnsignedEdge = Omit<TrustEdge, 'signature' | 'lastUsed' | 'usedBefore'>

/** The statement that the owner signs. Times are ISO 8601 in UTC with milliseconds. */
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

/** What makes a statement invalid, whoever signed it; null: it is valid. */
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

/** Reads an edge from its row. Null: the row contains no valid statement. */
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
 * Distance from the computed time of a step within which the exact formula is used, because rounding may move the computed time by some
 * hundredths of a second.
 */
const SLACK_MS = 1000

/** Rate per day at which an unused edge fades. */
function fadingRate(level: number, manual: boolean, persistent: boolean): number {
  if (persistent) return 0
  return RATE_PER_DAY * (manual ? MANUAL : 1) * (level > HIGH_ABOVE ? HIGH : 1)
}

/** Days since the last use. 0 if `asOf` is earlier, which happens if another clock wrote the last use. */
export function daysSince(lastUsed: Instant, asOf: Instant): number {
  return Math.max(0, asOf - lastUsed) / DAY_MS
}

export function faded(base: number, rate: number, days: number): number {
  return base * Math.exp(-rate * days)
}

/**
 * A value in tenths, rounded half up: 0.85 gives 9, 0.8499 gives 8. The value is first rounded to twelve decimals, so that rounding errors
 * of sums have no effect.
 */
export function tenthsOf(value: number): number {
  return Math.floor(twelveDecimals(value) * 10 + 0.5)
}

/**
 * Time until which a value certainly keeps this number of tenths. Rather too early than too late, but at least one millisecond after
 * `asOf`.
 */
export function tenthsHoldUntil(base: number, rate: number, lastUsed: Instant, asOf: Instant, tenths: number): Instant {
  if (tenths === 0 || rate === 0) return Number.POSITIVE_INFINITY
  const days = Math.log((base * 10) / (tenths - 0.5)) / rate
  return Math.max(asOf + 1, Math.floor(lastUsed + days * DAY_MS) - SLACK_MS)
}

/** Time since which a value certainly has this number of tenths. Rather too late than too early, but not after `asOf`. */
function tenthsHoldFrom(base: number, rate: number, lastUsed: Instant, asOf: Instant, tenths: number): Instant {
  if (rate === 0 || tenths === tenthsOf(base)) return Number.NEGATIVE_INFINITY
  const days = Math.log((base * 10) / (tenths + 0.5)) / rate
  return Math.min(asOf, Math.ceil(lastUsed + days * DAY_MS) + SLACK_MS)
}

/**
 * A trust edge in the form in which its level is computed, for the domains of a question (BQ-062, BQ-063) and faded at a moment (BQ-070).
 */
export interface CountedEdge {
  readonly level: number
  /** Rate per day at which the edge fades while unused. */
  readonly rate: number
  readonly lastUsed: Instant
  /** Earlier uses of the edge, ascending. */
  readonly usedBefore: readonly Instant[]
  /** Whether the edge counts in routes of other agents even if its owner is not hosted here (BQ-079). */
  readonly isExposed: boolean
  /** Levels of trust by normalised domain; null: there are none. */
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

/** An edge in a `CountedEdges`. */
export interface PlacedEdge {
  readonly edge: CountedEdge
  /** Number of the agent that the edge leads to. */
  readonly to: number
}

/** A period of time: from the first instant, inclusive, to the second, exclusive. */
export interface Span {
  readonly from: Instant
  readonly until: Instant
}

/** One owner's edges as they count for other agents. Edges with zero tenths are left out. */
export interface Links {
  /** Numbers of the target agents, and the tenths of each edge, 1 to 10. */
  readonly targets: readonly number[]
  readonly tenths: readonly number[]
  /** Period in which the edges have these tenths. */
  readonly span: Span
  /** Whether some edges have levels by domain. Then a question with domains needs other tenths. */
  readonly hasEntries: boolean
}

const NO_EDGES: ReadonlyMap<string, PlacedEdge> = new Map()

/** Edges by owner, then by target. Each agent has a fixed number, counted from 0, so that arrays can be indexed by agent. */
export class CountedEdges {
  /**
   * By number of the owner: its links as last computed for a question without domains. Absent after one of its edges, or the set of hosted
   * agents, has changed.
   */
  links: (Links | undefined)[] = []
  /** Names of the agents, by number. */
  readonly names: string[] = []
  readonly #byOwner = new Map<string, Map<string, PlacedEdge>>()
  readonly #numbers = new Map<string, number>()
  #size = 0

  get size(): number {
    return this.#size
  }

  /** Number of an agent. -1: there was never an edge from or to it. */
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
 * Level of an edge for a question, before fading. The domains of the question must be sorted and unique, so that the sum is always the
 * same.
 */
export function baseOf({ level, byDomain }: CountedEdge, { domains, domainTrustWeight }: TrustQuestion): number {
  const mean = byDomain === null ? null : meanEntry(byDomain, domains)
  return mean === null ? level : (1 - domainTrustWeight) * level + domainTrustWeight * mean
}

/** Time of the last use before a moment; if there was none, of the last use of all. */
export function lastUsedBefore({ lastUsed, usedBefore }: CountedEdge, asOf: Instant): Instant {
  return lastUsed < asOf ? lastUsed : (usedBefore.findLast(use => use < asOf) ?? lastUsed)
}

interface Tenths {
  /** Level of the edge in tenths, 0 to 10. */
  readonly tenths: number
  /** Period in which the edge has this number of tenths. */
  readonly span: Span
}

/** Tenths that an edge counts for agents other than its owner (BQ-078). */
export function tenthsIn(edge: CountedEdge, question: TrustQuestion, asOf: Instant): Tenths {
  const base = baseOf(edge, question)
  const tenths = tenthsOf(faded(base, edge.rate, daysSince(edge.lastUsed, asOf)))
  const from = tenthsHoldFrom(base, edge.rate, edge.lastUsed, asOf, tenths)
  return { tenths, span: { from, until: tenthsHoldUntil(base, edge.rate, edge.lastUsed, asOf, tenths) } }
}

// One agent's trust in another: the question, the rules, and how much of the result may be shown.

export interface TrustQuestion {
  /** Normalised domains of the question. */
  readonly domains: readonly string[]
  /** Weight of the levels by domain against the general level, 0 to 1. */
  readonly domainTrustWeight: number
  /** Maximum number of edges of a route, 1 to 5. */
  readonly maxHops: number
  /** Factor for each edge of a route, 0.1 to 0.9. */
  readonly damping: number
}

export type TrustRules = Pick<
  BeliefsSettings,
  'defaultTrust' | 'sybilThreshold' | 'sybilCap' | 'sybilRule' | 'newAgentCap'
>

/** A federation as a target of trust. No agent has such a name: names contain no colon, and a did begins differently. */
export function federationTarget(federation: string): string {
  return `federation:${federation}`
}

/** Trust by the viewer's own edge. The viewer may see it exactly (BQ-107). */
export interface DirectTrust {
  readonly level: number
  /** Levels that the edge gives for domains of the question, by these domains. */
  readonly entries: Readonly<Record<string, number>>
  /** Combination of the level and the levels by domain, before fading. 0 is distrust. */
  readonly base: number
  /** Days since the last use, and the rate per day at which the edge fades. */
  readonly days: number
  readonly rate: number
  readonly decayed: number
  /** Trust that counts: the faded base, but fading alone never makes it lower than trust in a stranger (BQ-071). */
  readonly value: number
  readonly distrusted: boolean
}

/** Trust by edges of other agents. Of this, show only `trustBand`, and whether there is one source or several (BQ-107). */
export interface TransitiveTrust {
  readonly level: number
  /**
   * Number of first hops that count as sources. Under the rule `disjoint`: number of routes without a common agent, counted only as far as
   * it matters.
   */
  readonly sources: number
  /** Whether the level was lowered because there are too few sources or the agent is too new. */
  readonly capped: boolean
}

export type TrustKind = 'self' | 'direct' | 'transitive' | 'reputation' | 'default'

export interface TrustIn {
  /** Trust in the agent, 0 to 1. */
  readonly value: number
  readonly kind: TrustKind
  readonly direct: DirectTrust | null
  /** Transitive trust. Null: there is no route, or none was needed. */
  readonly transitive: TransitiveTrust | null
  /** Reputation for the domains of the question; null: there is none. It is public. */
  readonly reputation: number | null
  readonly distrusted: boolean
}

export type TrustBand = 'low' | 'medium' | 'high'

/** What may be shown of a level that rests on edges of other agents. */
export function trustBand(level: number): TrustBand {
  if (level < 0.2) return 'low'
  return level < 0.4 ? 'medium' : 'high'
}

/** Middle of each band. It replaces the exact trust in a member of a federation that the requester knows only by a pseudonym (BQ-104). */
const MIDDLES: Readonly<Record<TrustBand, number>> = { low: 0.1, medium: 0.3, high: 0.7 }

export function middleOfBand(level: number): number {
  return MIDDLES[trustBand(level)]
}

/** The agents whose trust counts for a belief, instead of its holder. */
export interface TrustedAs {
  /** Agent, or federation as a target of trust. Filters read its edge and its reputation. */
  readonly target: string
  /** Holder of the belief, if trust in it counts by its band only; null: trust in the target counts. */
  readonly member: string | null
}
