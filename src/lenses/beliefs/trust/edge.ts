/**
 * One agent's statement of trust in another: as it is kept in a row, as it is signed (BQ-068, BQ-069), and as it
 * counts for the domains of a question (BQ-062, BQ-063) at its moment: it fades while it is not used (BQ-070), and
 * others' edges count in steps (BQ-078).
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

/** What a statement rests on. */
interface TrustBasis extends JsonObject {
  readonly type: BasisType
  /** 0 to 1. */
  readonly confidence: number
}

/** `private`: for this store only. `exposed`: takes part in others' routes even when its owner is not hosted here. */
export const EXPOSURES = ['private', 'exposed'] as const
type Exposure = (typeof EXPOSURES)[number]

export interface TrustEdge {
  readonly owner: string
  readonly target: string
  /** 0 to 1; 0 is distrust, which is not the same as no edge. */
  readonly level: number
  /** By normalised domain. */
  readonly domains: Readonly<Record<string, number>>
  readonly basis: readonly TrustBasis[]
  readonly createdAt: Instant
  readonly updatedAt: Instant
  /** Does not decay. */
  readonly persistent: boolean
  readonly exposure: Exposure
  /** By the owner's key over `edgeStatement`; base64url. */
  readonly signature: string
  /** Not part of what is signed, like what follows. */
  readonly lastUsed: Instant
  /** Uses before that, ascending: what trust as of a moment ago goes by. As far back as cursors reach. */
  readonly usedBefore: readonly Instant[]
}

export type UnsignedEdge = Omit<TrustEdge, 'signature' | 'lastUsed' | 'usedBefore'>

/** What the owner signs. Times in ISO 8601, UTC, milliseconds. */
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

/** What is wrong with a statement whoever signed it; null: nothing. */
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

/** Null: the row holds what no statement of ours is. */
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
/** Around the computed instant of a step the formula itself is asked: its rounding may move the step by some hundredths of a second. */
const SLACK_MS = 1000

/** A day. */
function fadingRate(level: number, manual: boolean, persistent: boolean): number {
  if (persistent) return 0
  return RATE_PER_DAY * (manual ? MANUAL : 1) * (level > HIGH_ABOVE ? HIGH : 1)
}

/** 0 before the last use, which another clock may have written. */
export function daysSince(lastUsed: Instant, asOf: Instant): number {
  return Math.max(0, asOf - lastUsed) / DAY_MS
}

export function faded(base: number, rate: number, days: number): number {
  return base * Math.exp(-rate * days)
}

/** To tenths, half up: 0.85 counts as 9, 0.8499 as 8. Twelve decimals count, so that no noise of sums decides. */
export function tenthsOf(value: number): number {
  return Math.floor(twelveDecimals(value) * 10 + 0.5)
}

/**
 * Until when a value that counts as so many tenths now is sure to do so: a moment too early rather than too late, and
 * never before the next millisecond.
 */
export function tenthsHoldUntil(base: number, rate: number, lastUsed: Instant, asOf: Instant, tenths: number): Instant {
  if (tenths === 0 || rate === 0) return Number.POSITIVE_INFINITY
  const days = Math.log((base * 10) / (tenths - 0.5)) / rate
  return Math.max(asOf + 1, Math.floor(lastUsed + days * DAY_MS) - SLACK_MS)
}

/** Since when it is sure to have done so: a moment too late rather than too early, and not after this moment. */
function tenthsHoldFrom(base: number, rate: number, lastUsed: Instant, asOf: Instant, tenths: number): Instant {
  if (rate === 0 || tenths === tenthsOf(base)) return Number.NEGATIVE_INFINITY
  const days = Math.log((base * 10) / (tenths + 0.5)) / rate
  return Math.min(asOf, Math.ceil(lastUsed + days * DAY_MS) + SLACK_MS)
}

/** An edge as it is counted: resolved for the domains of a question (BQ-062, BQ-063), faded to its moment (BQ-070). */
export interface CountedEdge {
  readonly level: number
  /** A day. */
  readonly rate: number
  readonly lastUsed: Instant
  /** Uses before the last, ascending. */
  readonly usedBefore: readonly Instant[]
  /** Counts in others' routes though its owner is not hosted (BQ-079). */
  readonly isExposed: boolean
  /** By normalised domain; null: it has no entries. */
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

/** An edge among others. */
export interface PlacedEdge {
  readonly edge: CountedEdge
  /** Number of its target. */
  readonly to: number
}

/** From an instant, and before another. */
export interface Span {
  readonly from: Instant
  readonly until: Instant
}

/** One owner's edges as others may count them, those of zero tenths left out. */
export interface Links {
  /** Numbers of the targets, and 1 to 10 for each. */
  readonly targets: readonly number[]
  readonly tenths: readonly number[]
  /** While they count so. */
  readonly span: Span
  /** Whether some have entries by domain: then they count otherwise for questions with domains. */
  readonly hasEntries: boolean
}

const NO_EDGES: ReadonlyMap<string, PlacedEdge> = new Map()

/** Edges by owner, then by target. Agents have numbers, from 0, which they keep: for arrays by agent. */
export class CountedEdges {
  /**
   * By number of the owner: as they were counted last for a question without domains; absent after a change of its edges, or of who is
   * hosted.
   */
  links: (Links | undefined)[] = []
  /** By number. */
  readonly names: string[] = []
  readonly #byOwner = new Map<string, Map<string, PlacedEdge>>()
  readonly #numbers = new Map<string, number>()
  #size = 0

  get size(): number {
    return this.#size
  }

  /** -1: no edge ever led from or to it. */
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

/** What the edge counts before it fades. The domains of the question are in one order, each once. */
export function baseOf({ level, byDomain }: CountedEdge, { domains, domainTrustWeight }: TrustQuestion): number {
  const mean = byDomain === null ? null : meanEntry(byDomain, domains)
  return mean === null ? level : (1 - domainTrustWeight) * level + domainTrustWeight * mean
}

/** The last use before a moment; the last of all where none was. */
export function lastUsedBefore({ lastUsed, usedBefore }: CountedEdge, asOf: Instant): Instant {
  return lastUsed < asOf ? lastUsed : (usedBefore.findLast(use => use < asOf) ?? lastUsed)
}

interface Tenths {
  /** 0 to 10. */
  readonly tenths: number
  /** While it counts so many. */
  readonly span: Span
}

/** As somebody else's edge (BQ-078). */
export function tenthsIn(edge: CountedEdge, question: TrustQuestion, asOf: Instant): Tenths {
  const base = baseOf(edge, question)
  const tenths = tenthsOf(faded(base, edge.rate, daysSince(edge.lastUsed, asOf)))
  const from = tenthsHoldFrom(base, edge.rate, edge.lastUsed, asOf, tenths)
  return { tenths, span: { from, until: tenthsHoldUntil(base, edge.rate, edge.lastUsed, asOf, tenths) } }
}

// One agent's trust in another: for which question, by which rules, and how much of it may be shown.

export interface TrustQuestion {
  /** Normalised. */
  readonly domains: readonly string[]
  /** 0 to 1. */
  readonly domainTrustWeight: number
  /** 1 to 5. */
  readonly maxHops: number
  /** 0.1 to 0.9. */
  readonly damping: number
}

export type TrustRules = Pick<
  BeliefsSettings,
  'defaultTrust' | 'sybilThreshold' | 'sybilCap' | 'sybilRule' | 'newAgentCap'
>

/** A federation as somebody to trust. No agent can be called so: names have no colon, and a did begins otherwise. */
export function federationTarget(federation: string): string {
  return `federation:${federation}`
}

/** The viewer's own edge, which it may be shown exactly (BQ-107). */
export interface DirectTrust {
  readonly level: number
  /** Entries that the question's domains met, by domain of the question. */
  readonly entries: Readonly<Record<string, number>>
  /** Level and entries together, before decay; 0 is distrust. */
  readonly base: number
  /** Days since it was last used, and the daily rate at which it fades. */
  readonly days: number
  readonly rate: number
  readonly decayed: number
  /** What it counts: decayed, but never below a stranger for neglect alone (BQ-071). */
  readonly value: number
  readonly distrusted: boolean
}

/** Rests on others' edges: show no more of it than `trustBand` and one or several sources (BQ-107). */
export interface TransitiveTrust {
  readonly level: number
  /** First hops that count; under the rule `disjoint`, routes that share nobody, as far as they matter. */
  readonly sources: number
  /** Too few sources, or too new an agent: the level was lowered. */
  readonly capped: boolean
}

export type TrustKind = 'self' | 'direct' | 'transitive' | 'reputation' | 'default'

export interface TrustIn {
  /** 0 to 1. */
  readonly value: number
  readonly kind: TrustKind
  readonly direct: DirectTrust | null
  /** Null: there is no route, or none was needed. */
  readonly transitive: TransitiveTrust | null
  /** For the question's domains, as far as there is any; public. */
  readonly reputation: number | null
  readonly distrusted: boolean
}

export type TrustBand = 'low' | 'medium' | 'high'

/** What may be said of a level that rests on others' edges. */
export function trustBand(level: number): TrustBand {
  if (level < 0.2) return 'low'
  return level < 0.4 ? 'medium' : 'high'
}

/** Middle of each band: what a member of a federation counts whom the requester knows by a pseudonym (BQ-104). */
const MIDDLES: Readonly<Record<TrustBand, number>> = { low: 0.1, medium: 0.3, high: 0.7 }

export function middleOfBand(level: number): number {
  return MIDDLES[trustBand(level)]
}

/** Whose trust counts in place of trust in the holder of a belief. */
export interface TrustedAs {
  /** Agent, or federation as somebody to trust: its edge and its reputation are what filters ask for. */
  readonly target: string
  /** The holder, whose trust counts by its band; null: trust in the target counts. */
  readonly member: string | null
}
