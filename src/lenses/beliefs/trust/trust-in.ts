/** What is known of one agent's trust in another, for which question, by which rules, and how much of it may be told. */
import type { BeliefsSettings } from '../beliefs-settings.ts'

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
  /** First hops worth counting; under the rule `disjoint`, routes that share nobody, as far as they matter. */
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
