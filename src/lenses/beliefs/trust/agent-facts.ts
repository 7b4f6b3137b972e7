/**
 * What this node knows about agents: time of creation, reputation (BQ-081), and key. An agent that was registered with a did:key signs its
 * own statements. For any other agent this node makes a key pair when one is first needed, and stores its seed in the store's `meta`
 * values, which are never exported.
 */
import type { Instant } from '../../../base/clock.ts'
import { fromBase64Url, type Keys, keysOf, publicKeyOf, SEED_BYTES, toBase64Url } from '../../../identity/keys.ts'
import { AGENTS, FEDERATIONS } from '../../../store/core-tables.ts'
import type { StoreReader, StoreWriter } from '../../../store/store.ts'
import { meanEntry } from '../schema/values.ts'
import { REVISIONS, TRUST_CHANGES } from '../tables.ts'
import { federationTarget } from './edge.ts'

/** Facts about an agent that are needed to compute trust in it: its key, its time of creation, and its reputation (BQ-081). */
export interface AgentFacts {
  readonly did: string | null
  readonly createdAt: Instant
  /** Overall reputation of the agent, 0 to 1; null: it has none. */
  readonly reputation: number | null
  /** Reputation of the agent in single domains, by domain in normal form; 0 to 1. */
  readonly byDomain: ReadonlyMap<string, number>
}

const NO_ENTRIES: ReadonlyMap<string, number> = new Map()
/**
 * Share of an agent's reputation that counts as trust in the agent even if no trust edge leads to it (BQ-080): trust is at least 0.3 ·
 * reputation.
 */
const REPUTATION_SHARE = 0.3

/**
 * Reads the facts about the agents hosted on this node. Federations are included because they have reputations; they make no statements of
 * trust.
 */
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

/**
 * Reputation of an agent for these domains: the mean of its known reputations in them, otherwise its overall reputation; null: it has
 * neither.
 */
export function reputationFor(facts: AgentFacts | undefined, domains: readonly string[]): number | null {
  if (facts === undefined) return null
  return (facts.byDomain.size === 0 ? null : meanEntry(facts.byDomain, domains)) ?? facts.reputation
}

/** Lower bound that a reputation sets for trust in the agent: 0.3 times the reputation; 0 if there is none. */
export function floorOf(reputation: number | null): number {
  return (reputation ?? 0) * REPUTATION_SHARE
}

function byDomain(json: unknown): ReadonlyMap<string, number> {
  if (typeof json !== 'string') return NO_ENTRIES
  return new Map(Object.entries(JSON.parse(json) as Record<string, number>))
}

/** did:key with which the signatures of an agent are checked; null: no key of this agent is known. */
export function didOfAgent(reader: StoreReader, agent: string): string | null {
  const named = reader.table(AGENTS).get({ id: agent })?.['did'] as string | null | undefined
  if (typeof named === 'string') return named
  if (publicKeyOf(agent) !== null) return agent
  return keptKeys(reader, agent)?.did ?? null
}

/** Key pair that this node stores for an agent and signs with; null: it stores none, or the agent has been given a key of its own since. */
export function signingKeys(reader: StoreReader, agent: string): Keys | null {
  const keys = keptKeys(reader, agent)
  return keys !== null && didOfAgent(reader, agent) === keys.did ? keys : null
}

/**
 * Key pair with which this node signs for an agent; it is created if no key of the agent is known. Null: the agent has a key of its own and
 * must sign itself.
 */
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

/** Makes a new key pair for an agent and stores its seed in the store's `meta` values. */
function makeKeys(writer: StoreWriter, agent: string, random: (bytes: number) => Uint8Array): Keys {
  const seed = random(SEED_BYTES)
  writer.setMeta(metaName(agent), toBase64Url(seed))
  return keysOf(seed)
}

/** Key pair that the store contains for an agent; null: none. */
function keptKeys(reader: StoreReader, agent: string): Keys | null {
  const seed = fromBase64Url(reader.meta(metaName(agent)) ?? '', SEED_BYTES)
  return seed === null ? null : keysOf(seed)
}

function metaName(agent: string): string {
  return `agent_key:${agent}`
}

// How other processes notice changes of agents, memberships and trust edges: by counters that increase with each write, and by a log of
// changed edges. The log is numbered without gaps and has a maximum length. A process reads the log entries after the last one that it has
// seen; if the first of these has already been deleted, it reads all edges again.

/**
 * Names of the counters. `agents`: changes of hosted agents, their keys and reputations; `members`: changes of federations and their
 * members; `trust`: changes of trust edges.
 */
type RevisionName = 'agents' | 'members' | 'trust'

/** Value of a change counter; 0: there was no change yet. */
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

/**
 * Adds changed trust edges to the log. Of more edges than the log may contain, only the newest are added; other processes then find a gap
 * and read all edges again.
 */
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
  /** The trust edges changed since a log number, each once; null: the log no longer contains all of these changes. */
  readonly edges: readonly EdgeName[] | null
  readonly last: number
}

/** Reads the entries of the log of changed trust edges with numbers above `seen`. */
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
