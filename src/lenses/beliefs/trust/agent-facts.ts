/** What trust needs of agents: which key, since when, and which reputation (BQ-081). */
import type { Instant } from '../../../base/clock.ts'
import { AGENTS, FEDERATIONS } from '../../../store/core-tables.ts'
import type { StoreReader } from '../../../store/store.ts'
import { meanEntry } from '../measures/domains.ts'
import { federationTarget } from './trust-in.ts'

export interface AgentFacts {
  readonly did: string | null
  readonly createdAt: Instant
  /** Overall, 0 to 1; null: it has none. */
  readonly reputation: number | null
  /** By normalised domain. */
  readonly byDomain: ReadonlyMap<string, number>
}

const NO_ENTRIES: ReadonlyMap<string, number> = new Map()
/** What reputation alone is worth as trust (BQ-080). */
const REPUTATION_SHARE = 0.3

/** Those that this node hosts. Federations are among them for their reputation alone: they state nothing. */
export function agentFacts(reader: StoreReader): ReadonlyMap<string, AgentFacts> {
  const facts = new Map<string, AgentFacts>()
  for (const row of reader.table(AGENTS).scan()) {
    facts.set(row['id'] as string, {
      did: row['did'] as string | null,
      createdAt: row['created_at'] as number,
      reputation: row['reputation'] as number | null,
      byDomain: byDomain(row['reputation_by_domain']),
    })
  }
  for (const row of reader.table(FEDERATIONS).scan()) {
    facts.set(federationTarget(row['id'] as string), {
      did: null,
      createdAt: row['created_at'] as number,
      reputation: row['reputation'] as number | null,
      byDomain: NO_ENTRIES,
    })
  }
  return facts
}

/** Its reputation for these domains: the mean of what there is of them, else overall. */
export function reputationFor(facts: AgentFacts | undefined, domains: readonly string[]): number | null {
  if (facts === undefined) return null
  return (facts.byDomain.size === 0 ? null : meanEntry(facts.byDomain, domains)) ?? facts.reputation
}

/** The least trust that a reputation for the question's domains makes. */
export function floorOf(reputation: number | null): number {
  return (reputation ?? 0) * REPUTATION_SHARE
}

function byDomain(json: unknown): ReadonlyMap<string, number> {
  if (typeof json !== 'string') return NO_ENTRIES
  return new Map(Object.entries(JSON.parse(json) as Record<string, number>))
}
