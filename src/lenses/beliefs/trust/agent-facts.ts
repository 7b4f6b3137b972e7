/**
 * What this node knows about agents: time of creation, reputation (BQ-081), and key. An agent registered with a did:key signs its own
 * statements. For any other agent, this node makes a key when one is first needed and stores the seed in the store's `meta`, which is never
 * exported.
 */
import type { Instant } from '../../../base/clock.ts'
import { fromBase64Url, type Keys, keysOf, publicKeyOf, SEED_BYTES, toBase64Url } from '../../../identity/keys.ts'
import { AGENTS, FEDERATIONS } from '../../../store/core-tables.ts'
import type { StoreReader, StoreWriter } from '../../../store/store.ts'
import { meanEntry } from '../schema/values.ts'
import { REVISIONS, TRUST_CHANGES } from '../tables.ts'
import { federationTarget } from './edge.ts'

/** Facts about an agent that trust needs: its key, its time of creation, and its reputation (BQ-081). */
export interface AgentFacts {
  readonly did: string | null
  readonly createdAt: Instant
  /** Overall reputation, 0 to 1; null: the agent has none. */
  readonly reputation: number | null
  /** Reputation by normalised domain. */
  readonly byDomain: ReadonlyMap<string, number>
}

const NO_ENTRIES: ReadonlyMap<string, number> = new Map()
/** Share of the reputation that counts as trust without any edge or route (BQ-080). */
const REPUTATION_SHARE = 0.3

/** Facts about the agents hosted here. Federations are included for their reputation; they make no statements. */
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

/** Reputation for these domains: the mean of the known values, otherwise the overall reputation. */
export function reputationFor(facts: AgentFacts | undefined, domains: readonly string[]): number | null {
  if (facts === undefined) return null
  return (facts.byDomain.size === 0 ? null : meanEntry(facts.byDomain, domains)) ?? facts.reputation
}

/** Trust that a reputation gives by itself, as a lower bound. */
export function floorOf(reputation: number | null): number {
  return (reputation ?? 0) * REPUTATION_SHARE
}

function byDomain(json: unknown): ReadonlyMap<string, number> {
  if (typeof json !== 'string') return NO_ENTRIES
  return new Map(Object.entries(JSON.parse(json) as Record<string, number>))
}

/** did:key with which an agent's statements are checked; null: no key of this agent is known. */
export function didOfAgent(reader: StoreReader, agent: string): string | null {
  const named = reader.table(AGENTS).get({ id: agent })?.['did'] as string | null | undefined
  if (typeof named === 'string') return named
  if (publicKeyOf(agent) !== null) return agent
  return keptKeys(reader, agent)?.did ?? null
}

/** Keys that this node stores for an agent; null: it stores none, or the agent now has its own key. */
export function signingKeys(reader: StoreReader, agent: string): Keys | null {
  const keys = keptKeys(reader, agent)
  return keys !== null && didOfAgent(reader, agent) === keys.did ? keys : null
}

/** Like `signingKeys`, but makes keys if the agent has none at all. Null: the agent has its own key, and must sign itself. */
export function ensureKeys(writer: StoreWriter, agent: string, random: (bytes: number) => Uint8Array): Keys | null {
  if (didOfAgent(writer, agent) !== null) return signingKeys(writer, agent)
  const keys = makeKeys(writer, agent, random)
  const row = writer.table(AGENTS).get({ id: agent })
  if (row !== undefined) {
    writer.table(AGENTS).put({ ...row, did: keys.did })
    raiseRevision(writer, 'agents')
  }
  return keys
}

/** Makes a new pair of keys, and stores its seed in the store's `meta`. */
function makeKeys(writer: StoreWriter, agent: string, random: (bytes: number) => Uint8Array): Keys {
  const seed = random(SEED_BYTES)
  writer.setMeta(metaName(agent), toBase64Url(seed))
  return keysOf(seed)
}

/** Keys stored for an agent; null: none. */
function keptKeys(reader: StoreReader, agent: string): Keys | null {
  const seed = fromBase64Url(reader.meta(metaName(agent)) ?? '', SEED_BYTES)
  return seed === null ? null : keysOf(seed)
}

function metaName(agent: string): string {
  return `agent_key:${agent}`
}

// How other processes notice changes: by counters that increase with each write, and by a log of changed edges. The log is numbered without
// gaps and has a bounded length. A reader reads the entries after the last one it saw; if the first of these is already deleted, it reads
// all edges again.

/** `agents`: hosted agents with their keys and reputations. `members`: federations and their members. */
type RevisionName = 'agents' | 'members' | 'trust'

/** Value of a counter; 0: nothing has changed yet. */
export function revision(reader: StoreReader, name: RevisionName): number {
  return (reader.table(REVISIONS).get({ name })?.['revision'] as number | undefined) ?? 0
}

export function raiseRevision(writer: StoreWriter, name: RevisionName, by = 1): number {
  const raised = revision(writer, name) + by
  writer.table(REVISIONS).put({ name, revision: raised })
  return raised
}

const KEPT = 8192

export interface EdgeName {
  readonly owner: string
  readonly target: string
}

/** Logs changed edges. Of a large number only the newest are logged: readers then find a gap and read all edges again. */
export function noteEdges(writer: StoreWriter, edges: readonly EdgeName[]): void {
  const table = writer.table(TRUST_CHANGES)
  const before = revision(writer, 'trust')
  const last = raiseRevision(writer, 'trust', edges.length)
  for (let seq = Math.max(before, last - KEPT) + 1; seq <= last; seq++) {
    const { owner, target } = edges[seq - before - 1] as EdgeName
    table.put({ seq, owner, target })
  }
  for (let old = Math.max(1, before - KEPT + 1); old <= Math.min(before, last - KEPT); old++) table.delete({ seq: old })
}

interface EdgeNews {
  /** Changed edges, each once; null: more than the log holds. */
  readonly edges: readonly EdgeName[] | null
  readonly last: number
}

/** Changes with a number above `seen`. */
export function edgesSince(reader: StoreReader, seen: number): EdgeNews {
  const last = revision(reader, 'trust')
  if (last - seen > KEPT || last < seen) return { edges: null, last }
  const table = reader.table(TRUST_CHANGES)
  const edges = new Map<string, EdgeName>()
  for (let seq = seen + 1; seq <= last; seq++) {
    const row = table.get({ seq })
    if (row === undefined) return { edges: null, last }
    const edge = { owner: row['owner'] as string, target: row['target'] as string }
    edges.set(JSON.stringify([edge.owner, edge.target]), edge)
  }
  return { edges: [...edges.values()], last }
}
