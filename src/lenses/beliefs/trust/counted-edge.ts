/** Edges as they are counted: resolved for the domains of a question (BQ-062, BQ-063), faded to its moment (BQ-070). */
import type { Instant } from '../../../base/clock.ts'
import { meanEntry } from '../measures/domains.ts'
import type { TrustEdge } from './edge.ts'
import { daysSince, faded, fadingRate, tenthsHoldUntil, tenthsOf } from './fading.ts'
import type { TrustQuestion } from './trust-in.ts'

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

/** By owner, then by target. */
export type EdgesByOwner = ReadonlyMap<string, ReadonlyMap<string, CountedEdge>>

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
  /** Until when it counts so many. */
  readonly until: Instant
}

/** As somebody else's edge (BQ-078). */
export function tenthsIn(edge: CountedEdge, question: TrustQuestion, asOf: Instant): Tenths {
  const base = baseOf(edge, question)
  const tenths = tenthsOf(faded(base, edge.rate, daysSince(edge.lastUsed, asOf)))
  return { tenths, until: tenthsHoldUntil(base, edge.rate, edge.lastUsed, asOf, tenths) }
}
