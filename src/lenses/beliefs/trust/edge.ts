/** One agent's statement of trust in another: as it is kept in a row, and as it is signed (BQ-068, BQ-069). */
import { canonicalJson, type JsonObject } from '../../../base/canonical.ts'
import type { Instant } from '../../../base/clock.ts'
import type { Row } from '../../../model/table.ts'
import { normaliseDomain } from '../measures/domains.ts'

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
export interface TrustBasis extends JsonObject {
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
