/**
 * Sample data for trying the beliefs lens: twelve agents in three federations, with their beliefs and trust. Nine agents are honest, though
 * some of these are wrong; the other three repeat one false claim and vouch for each other.
 */

import type { Instant } from '../../../base/clock.ts'
import { OWNER } from '../../../model/partition.ts'
import { AGENTS, FEDERATIONS } from '../../../store/core-tables.ts'
import type { StoreWriter } from '../../../store/store.ts'
import type { LensHost } from '../../lens.ts'
import { createAgent, setMember } from '../agents/federations.ts'
import { DIMENSIONS } from '../dimensions.ts'
import { wrong } from '../errors.ts'
import { DAY_MS } from '../measures/confidence.ts'
import type { DerivationType, Visibility } from '../model.ts'
import { putBelief, supersedeBelief, type Together, type WriteContext } from '../record/write.ts'
import { newBelief, revision, toDrafts } from '../schema/belief.ts'
import { parseRequest } from '../schema/faults.ts'
import { putEdge } from '../trust/edges.ts'
import agentsFile from './agents.json' with { type: 'json' }
import beliefsFile from './beliefs.json' with { type: 'json' }
import federationsFile from './federations.json' with { type: 'json' }

/**
 * One version of a belief in the sample. Times are given in days before the time when the sample is loaded; a negative number is in the
 * future.
 */
interface SampleBelief {
  readonly holder: string
  readonly id: string
  readonly content: string
  readonly domains: readonly string[]
  readonly visibility: Visibility
  readonly federations?: readonly string[]
  readonly daysAgo: number
  /** The six confidence values of the belief, in the order of `DIMENSIONS`; null: unknown. */
  readonly confidence: readonly (number | null)[]
  readonly type: DerivationType
  readonly sources?: readonly SampleSource[]
  /** Start of validity, in days before the time of loading. Default: `daysAgo`, the time of creation. */
  readonly validFromDaysAgo?: number
  /** End of validity, in days before the time of loading. Default: no end. */
  readonly validUntilDaysAgo?: number
  /** Id of the earlier version, by the holder of this one, that this version supersedes. */
  readonly supersedes?: string
}

interface SampleSource {
  readonly belief?: string
  readonly external?: string
  /** Contribution type of this source to the belief. Default: `primary`. */
  readonly as?: 'supporting' | 'contradicting' | 'context'
}

interface SampleAgent {
  readonly id: string
  readonly label: string
  readonly sinceDays: number
  readonly reputation: number | null
  readonly reputationByDomain?: Readonly<Record<string, number>>
  readonly trustGraph?: string
  readonly trusts: readonly {
    readonly target: string
    readonly level: number
    readonly domains?: Readonly<Record<string, number>>
  }[]
}

interface SampleFederation {
  readonly id: string
  readonly label: string
  readonly anonymity: 'pseudonyms' | 'strict'
  readonly sinceDays: number
  readonly members: readonly {
    readonly agent: string
    readonly role?: 'founder' | 'admin' | 'moderator'
    readonly status?: 'suspended' | 'departed'
  }[]
}

// The JSON files are not checked against these types when they are loaded; a test loads the whole sample.
export const SAMPLE_AGENTS: readonly SampleAgent[] = agentsFile as unknown as readonly SampleAgent[]
export const SAMPLE_FEDERATIONS: readonly SampleFederation[] = federationsFile as unknown as readonly SampleFederation[]

/** The beliefs of the sample by holder, in the order of the file, which has one line for each version. */
export const SAMPLE_BELIEFS: ReadonlyMap<string, readonly SampleBelief[]> = Map.groupBy(
  beliefsFile as unknown as readonly SampleBelief[],
  ({ holder }) => holder,
)

export interface SampleReport {
  readonly agents: number
  readonly federations: number
  readonly trust_edges: number
  /** Number of current versions of beliefs that were written. */
  readonly beliefs: number
  readonly superseded: number
}

/**
 * Loads the sample into the store. Throws INVALID_QUERY if the store already has an agent with a name from the sample, so that sample data
 * never mixes with existing data.
 */
export function loadSample(host: LensHost): Promise<SampleReport> {
  const now = host.clock.now()
  const random = (bytes: number) => host.random(bytes)
  return host.store.writeWhenFree(now, writer => {
    const taken = SAMPLE_AGENTS.find(({ id }) => writer.table(AGENTS).get({ id }) !== undefined)
    if (taken !== undefined) {
      const expected = 'a store without agents of the sample, which is loaded once; --home names another store'
      throw wrong('home', expected, 'taken', taken.id)
    }
    writeAgents(writer, now, random)
    writeFederations(writer, now, random)
    const edges = writeTrust(writer, now, random)
    const { versions, superseded } = writeAll(writer, now)
    return {
      agents: SAMPLE_AGENTS.length,
      federations: SAMPLE_FEDERATIONS.length,
      trust_edges: edges,
      beliefs: versions - superseded,
      superseded,
    }
  })
}

function writeAgents(writer: StoreWriter, now: Instant, random: (bytes: number) => Uint8Array): void {
  for (const { id, label, sinceDays, reputation, reputationByDomain, trustGraph } of SAMPLE_AGENTS) {
    const writing = { writer, viewer: OWNER, now: ago(now, sinceDays), random }
    createAgent(writing, { id, label, reputation, reputation_by_domain: reputationByDomain, trust_graph: trustGraph })
  }
}

function writeFederations(writer: StoreWriter, now: Instant, random: (bytes: number) => Uint8Array): void {
  for (const { id, label, anonymity, sinceDays, members } of SAMPLE_FEDERATIONS) {
    const created = ago(now, sinceDays)
    const unsaid = { did: null, joining: null, results: null, reputation: null }
    writer.table(FEDERATIONS).put({ id, label, anonymity, created_at: created, ...unsaid })
    for (const { agent, role = 'member', status = 'active' } of members) {
      setMember({ writer, viewer: OWNER, now: created, random }, { federation: id, agent, role, status })
    }
  }
}

function writeTrust(writer: StoreWriter, now: Instant, random: (bytes: number) => Uint8Array): number {
  let edges = 0
  for (const { id, trusts } of SAMPLE_AGENTS) {
    for (const { target, level, domains = {} } of trusts) {
      const draft = { target, level, domains, basis: [], persistent: false, exposure: 'private', signed: null } as const
      putEdge(writer, id, draft, { now, random })
      edges += 1
    }
  }
  return edges
}

/** Writes versions from oldest to newest, so that each version finds the earlier one that it supersedes. */
function writeAll(writer: StoreWriter, now: Instant): { readonly versions: number; readonly superseded: number } {
  const all = [...SAMPLE_BELIEFS].flatMap(([holder, beliefs]) => beliefs.map(belief => ({ holder, belief })))
  const ordered = all.toSorted((a, b) => b.belief.daysAgo - a.belief.daysAgo)
  const together = new Map(all.map(({ holder, belief }) => [belief.id, holder]))
  for (const { holder, belief } of ordered) {
    const context = { writer, holder, now: ago(now, belief.daysAgo), model: null, newId: () => belief.id }
    writeOne(context, belief, now, together)
  }
  return { versions: all.length, superseded: all.filter(({ belief }) => belief.supersedes !== undefined).length }
}

function writeOne(context: WriteContext, belief: SampleBelief, now: Instant, together: Together): void {
  const input = inputOf(belief, now)
  const { supersedes } = belief
  if (supersedes === undefined) {
    for (const draft of toDrafts([parseRequest(newBelief, input, [belief.id])], context.now))
      putBelief(context, draft, together)
  } else supersedeBelief(context, parseRequest(revision, { belief_id: supersedes, ...input }, [belief.id]), together)
}

/** Converts a belief of the sample to an input of `beliefs.put`, so that it is checked like any other belief. */
function inputOf(belief: SampleBelief, now: Instant): object {
  const { id, content, domains, visibility, federations = [], confidence, type, sources = [] } = belief
  const { daysAgo, validFromDaysAgo = daysAgo, validUntilDaysAgo } = belief
  return {
    id,
    content,
    domains,
    visibility,
    federation_ids: federations,
    confidence: Object.fromEntries(DIMENSIONS.map((name, at) => [name, confidence[at] ?? null])),
    derivation: { type, sources: sources.map(sourceOf) },
    valid_from: iso(ago(now, validFromDaysAgo)),
    valid_until: validUntilDaysAgo === undefined ? null : iso(ago(now, validUntilDaysAgo)),
  }
}

function sourceOf({ belief, external, as }: SampleSource): object {
  const reference = belief === undefined ? { external_ref: external } : { belief_id: belief }
  return { ...reference, contribution_type: as ?? 'primary' }
}

function ago(now: Instant, days: number): Instant {
  return Math.round(now - days * DAY_MS)
}

function iso(at: Instant): string {
  return new Date(at).toISOString()
}
