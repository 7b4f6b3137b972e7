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
import { REVISIONS, TRUST_CHANGES } from '../tables.ts'
import { federationTarget } from './edge.ts'

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
/** The trust that reputation alone gives (BQ-080). */
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

/** Its reputation for these domains: the mean of the known ones, else the overall reputation. */
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
  const named = reader.table(AGENTS).get({ id: agent })?.['did'] as string | null | undefined
  if (typeof named === 'string') return named
  if (publicKeyOf(agent) !== null) return agent
  return keptKeys(reader, agent)?.did ?? null
}

/** The key this node keeps for an agent; null: it keeps none, or the agent now has one of its own. */
export function signingKeys(reader: StoreReader, agent: string): Keys | null {
  const keys = keptKeys(reader, agent)
  return keys !== null && didOfAgent(reader, agent) === keys.did ? keys : null
}

/** As `signingKeys`, made when the agent has none at all. Null: the agent has a key of its own and must sign itself. */
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

/** A new pair, whose seed is kept in the store's `meta`. */
function makeKeys(writer: StoreWriter, agent: string, random: (bytes: number) => Uint8Array): Keys {
  const seed = random(SEED_BYTES)
  writer.setMeta(metaName(agent), toBase64Url(seed))
  return keysOf(seed)
}

/** Null: none is kept for this agent. */
function keptKeys(reader: StoreReader, agent: string): Keys | null {
  const seed = fromBase64Url(reader.meta(metaName(agent)) ?? '', SEED_BYTES)
  return seed === null ? null : keysOf(seed)
}

function metaName(agent: string): string {
  return `agent_key:${agent}`
}

// How other processes notice changes: counters that rise with each write, and the log of changed edges, numbered without gaps and of bounded
// length. A reader looks up the numbers after the last one it saw; where the first of them is gone, it reads all edges again.

/** `agents`: who is hosted, with which key and reputation. `members`: federations and who is in them. */
type RevisionName = 'agents' | 'members' | 'trust'

/** 0: nothing changed ever. */
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

/** Of many at once only the newest are reported, so that readers find a gap and read all again. */
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
  /** Each once; null: more than are reported. */
  readonly edges: readonly EdgeName[] | null
  readonly last: number
}

/** What happened after the number `seen`. */
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
