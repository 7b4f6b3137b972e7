/** What operations on trust tell, and the note that an answer rested on trust. Each acts on the trust graph of the requester, and no other. */
import type { Instant } from '../../../base/clock.ts'
import type { Store, StoreReader } from '../../../store/store.ts'
import type { EdgeView, edgesAnswer, trustAnswer, trustListInput } from '../schema/agents.ts'
import type { Value } from '../schema/values.ts'
import { TRUST } from '../tables.ts'
import { didOfAgent } from './agent-facts.ts'
import { edgeOf, edgeStatement, type TrustEdge, type TrustQuestion, trustBand } from './edge.ts'
import { touchEdges } from './edges.ts'
import type { TrustGraph } from './trust-graph.ts'

/** Use is written after an answer, which should not wait for other processes' writes. */
const TOUCH_WAIT_MS = 0
const MAX_LISTED = 1000

export function listTrust(
  reader: StoreReader,
  owner: string,
  { after = null, limit = MAX_LISTED }: Value<typeof trustListInput> = {},
): Value<typeof edgesAnswer> {
  const page = {
    limit: Math.min(limit, MAX_LISTED) + 1,
    ...(after === null ? {} : { after: { owner, target: after } }),
  }
  const rows = reader.table(TRUST).scan({ owner }, page)
  const more = rows.length === page.limit
  const edges = (more ? rows.slice(0, -1) : rows).flatMap(row => edgeOf(row) ?? [])
  return {
    edges: edges.map(shownEdge),
    after: more ? (edges.at(-1)?.target ?? null) : null,
    did: didOfAgent(reader, owner),
  }
}

/** The trust of one agent in another: its own edge in full; of what rests on others' edges a band (BQ-107). */
export function computeTrust(
  graph: TrustGraph,
  viewer: string,
  target: string,
  question: TrustQuestion,
  asOf: Instant,
  look?: () => void,
): Value<typeof trustAnswer> {
  const found = graph.trustOf(viewer, question, asOf, look)
  const { value, kind, direct, transitive, reputation, distrusted } = found.of(target)
  return {
    target,
    trust: value,
    kind,
    distrusted,
    direct: direct && {
      trust_level: direct.level,
      entries: direct.entries,
      base: direct.base,
      days_unused: direct.days,
      daily_rate: direct.rate,
      decayed: direct.decayed,
    },
    transitive: transitive && {
      band: trustBand(transitive.level),
      sources: transitive.sources > 1 ? 'several' : 'one',
      capped: transitive.capped,
    },
    reputation,
    as_of: new Date(asOf).toISOString(),
  }
}

/**
 * Notes that the viewer was given something by these agents (BQ-072). Never in the way of an answer: where the store is
 * busy or cannot be written, use is not noted. Says how many edges were.
 */
export function noteUse(
  { store, now }: { readonly store: Store; readonly now: Instant },
  graph: TrustGraph,
  viewer: string,
  holders: readonly string[],
): number {
  const due = graph.unused(viewer, holders, now)
  if (due.length === 0) return 0
  try {
    return store.write(now, writer => touchEdges(writer, viewer, due, now), TOUCH_WAIT_MS)
  } catch {
    return 0
  }
}

export function shownEdge(edge: TrustEdge): EdgeView {
  const { type: _, ...statement } = edgeStatement(edge)
  return { ...statement, last_used: new Date(edge.lastUsed).toISOString(), signature: edge.signature }
}
