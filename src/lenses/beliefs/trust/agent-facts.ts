/**
 * What is known of agents here: since when, which reputation (BQ-081), and which key. An agent that came with a
 * did:key signs its own statements; for one that did not, this node makes a key when it is first needed, and keeps the
 * seed in the store's `meta`, which no export reads.
 */
import type { Instant } from '../../../base/clock.ts'
import { fromBase64Url, type Keys, keysOf, publicKeyOf, SEED_BYTES, toBase64Url } from '../../../identity/keys.ts'
import { AGENTS, FEDERATIONS } from '../../../store/core-tables.ts'
import type { StoreReader, StoreWriter } from '../../../store/store.ts'
import { meanEntry } from '../schema/values.ts'
import { raiseRevision } from './revisions.ts'
import { federationTarget } from './trust-in.ts'

/** What trust needs of agents: which key, since when, and which reputation (BQ-081). */
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

/** What an agent's statements are checked with; null: nothing is known of it that could be. */
export function didOfAgent(reader: StoreReader, agent: string): string | null {
  const told = reader.table(AGENTS).get({ id: agent })?.['did'] as string | null | undefined
  if (typeof told === 'string') return told
  if (publicKeyOf(agent) !== null) return agent
  return keptKeys(reader, metaName(agent))?.did ?? null
}

/** The key this node keeps for an agent; null: it keeps none, or the agent now has one of its own. */
export function signingKeys(reader: StoreReader, agent: string): Keys | null {
  const keys = keptKeys(reader, metaName(agent))
  return keys !== null && didOfAgent(reader, agent) === keys.did ? keys : null
}

/** As `signingKeys`, made when the agent has none at all. Null: the agent has a key of its own and must sign itself. */
export function ensureKeys(writer: StoreWriter, agent: string, random: (bytes: number) => Uint8Array): Keys | null {
  if (didOfAgent(writer, agent) !== null) return signingKeys(writer, agent)
  const keys = makeKeys(writer, metaName(agent), random)
  const row = writer.table(AGENTS).get({ id: agent })
  if (row !== undefined) {
    writer.table(AGENTS).put({ ...row, did: keys.did })
    raiseRevision(writer, 'agents')
  }
  return keys
}

/** A new pair, whose seed is kept under this name of the store's `meta`. */
export function makeKeys(writer: StoreWriter, name: string, random: (bytes: number) => Uint8Array): Keys {
  const seed = random(SEED_BYTES)
  writer.setMeta(name, toBase64Url(seed))
  return keysOf(seed)
}

/** Null: none is kept under this name. */
export function keptKeys(reader: StoreReader, name: string): Keys | null {
  const seed = fromBase64Url(reader.meta(name) ?? '', SEED_BYTES)
  return seed === null ? null : keysOf(seed)
}

function metaName(agent: string): string {
  return `agent_key:${agent}`
}
