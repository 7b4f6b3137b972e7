/** Trust as the rows say it (BQ-062 to BQ-081), by recursion over every route that never returns. */
import { DAY_MS, isBelow, type PlainBeliefs, type PlainEdge } from './beliefs-plain.ts'

export interface PlainTrustQuestion {
  readonly domains: readonly string[]
  readonly domainTrustWeight: number
  readonly maxHops: number
  readonly damping: number
}

export interface PlainTrust {
  readonly value: number
  readonly kind: 'self' | 'direct' | 'transitive' | 'reputation' | 'default'
  /** Of the viewer's own edge; of itself 1. */
  readonly direct: number | null
}

const STRANGER = 0.1
const REPUTATION_SHARE = 0.3
const CAP = 0.3
const SOURCES = 2
const WORTH_COUNTING = 0.01

export function trustIn(
  world: PlainBeliefs,
  viewer: string,
  target: string,
  q: PlainTrustQuestion,
  now: number,
): PlainTrust {
  if (target === viewer) return { value: 1, kind: 'self', direct: 1 }
  const own = world.edges.get(viewer)?.get(target)
  if (own !== undefined) {
    const base = baseOf(own, q)
    const value = base === 0 ? 0 : Math.max(decayed(lastTimeUsed(own, now), q, now), Math.min(base, STRANGER))
    return { value, kind: 'direct', direct: value }
  }
  const transitive = transitiveIn(world, viewer, target, q, now)
  const reputation = reputationFor(world, target, q.domains) * REPUTATION_SHARE
  const value = Math.max(transitive, reputation, STRANGER)
  if (value === STRANGER) return { value, kind: 'default', direct: null }
  return { value, kind: value === reputation ? 'reputation' : 'transitive', direct: null }
}

/** BQ-104: in a member known by a pseudonym, by the middle of its band; the federation's reputation stands for the member's. */
export function trustInMember(
  world: PlainBeliefs,
  viewer: string,
  { member, federation }: { readonly member: string; readonly federation: string },
  q: PlainTrustQuestion,
  now: number,
): PlainTrust {
  const own = trustIn(world, viewer, member, q, now)
  const direct = trustIn(world, viewer, federationTarget(federation), q, now).direct
  if (own.kind === 'direct') return { value: middle(own.value), kind: 'direct', direct }
  const transitive = transitiveIn(world, viewer, member, q, now)
  const reputation = (world.federations.get(federation)?.reputation ?? 0) * REPUTATION_SHARE
  const value = Math.max(transitive, reputation, STRANGER)
  const kind = value === STRANGER ? 'default' : value === reputation ? 'reputation' : 'transitive'
  return { value: middle(value), kind, direct }
}

function middle(value: number): number {
  return value < 0.2 ? 0.1 : value < 0.4 ? 0.3 : 0.7
}

/** Null: nobody has said. */
export function overallReputation(world: PlainBeliefs, target: string): number | null {
  return reputationsOf(world, target)?.overall ?? null
}

/** BQ-104: in a federation as a whole. */
export function federationTarget(id: string): string {
  return `federation:${id}`
}

function reputationsOf(world: PlainBeliefs, target: string) {
  const federation = [...world.federations].find(([id]) => federationTarget(id) === target)?.[1]
  return federation === undefined ? world.agents.get(target) : { overall: federation.reputation, byDomain: {} }
}

function reputationFor(world: PlainBeliefs, target: string, domains: readonly string[]): number {
  const reputations = reputationsOf(world, target)
  return mean(reputations?.byDomain ?? {}, domains) ?? reputations?.overall ?? 0
}

function transitiveIn(world: PlainBeliefs, viewer: string, target: string, q: PlainTrustQuestion, now: number): number {
  const own = world.edges.get(viewer) ?? new Map<string, PlainEdge>()
  const isDistrusted = (agent: string) => {
    const edge = own.get(agent)
    return edge !== undefined && baseOf(edge, q) === 0
  }
  const best = new Map<string, number>()
  const walk = (path: readonly string[], worth: number): void => {
    const at = path.at(-1) as string
    const isHosted = at === 'owner' || world.agents.has(at)
    for (const [next, edge] of world.edges.get(at) ?? []) {
      if (next === viewer || path.includes(next) || isDistrusted(next)) continue
      if (!isHosted && !edge.exposed) continue
      const reached = worth * q.damping * tenths(decayed(edge, q, now))
      if (reached === 0) continue
      const hop = path[0] as string
      if (next === target) best.set(hop, Math.max(best.get(hop) ?? 0, reached))
      if (path.length + 1 < q.maxHops) walk([...path, next], reached)
    }
  }
  for (const [hop, edge] of own) {
    if (q.maxHops > 1 && !isDistrusted(hop)) walk([hop], decayed(lastTimeUsed(edge, now), q, now) * q.damping)
  }
  const level = Math.max(0, ...best.values())
  const sources = [...best.values()].filter(worth => worth >= WORTH_COUNTING).length
  return sources < SOURCES ? Math.min(level, CAP) : level
}

/** BQ-062, before decay. */
function baseOf({ level, domains }: PlainEdge, q: PlainTrustQuestion): number {
  const entries = mean(domains, q.domains)
  return entries === null ? level : (1 - q.domainTrustWeight) * level + q.domainTrustWeight * entries
}

/** One's own: what is asked twice at one moment is answered alike. */
function lastTimeUsed(own: PlainEdge, now: number): PlainEdge {
  return { ...own, lastUsed: own.lastUsed < now ? own.lastUsed : (own.usedBefore ?? own.lastUsed) }
}

function decayed(edge: PlainEdge, q: PlainTrustQuestion, now: number): number {
  if (edge.persistent) return baseOf(edge, q)
  const rate = 0.001 * (edge.manual ? 0.1 : 1) * (edge.level > 0.9 ? 0.5 : 1)
  return baseOf(edge, q) * Math.exp((-rate * Math.max(0, now - edge.lastUsed)) / DAY_MS)
}

/** Half up; float noise does not count. */
function tenths(value: number): number {
  return Math.floor(Math.round(value * 1e13) / 1e12 + 0.5) / 10
}

/** BQ-063: the entry for itself, else for its nearest ancestor. */
function mean(entries: Readonly<Record<string, number>>, domains: readonly string[]): number | null {
  const met = domains.flatMap(domain => {
    const above = Object.keys(entries).filter(name => isBelow(domain, name))
    const nearest = above.sort((a, b) => b.length - a.length)[0]
    return nearest === undefined ? [] : [entries[nearest] as number]
  })
  return met.length === 0 ? null : met.reduce((sum, one) => sum + one, 0) / met.length
}
