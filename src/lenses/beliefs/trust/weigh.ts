/** From routes and the viewer's own edges as they stand at one moment to its trust in everybody. Costs what the routes cost to read. */
import type { Instant } from '../../../base/clock.ts'
import { nearestEntry } from '../measures/domains.ts'
import type { BeliefsSettings } from '../settings.ts'
import type { AgentArrays } from './agent-arrays.ts'
import { daysSince, decayed } from './decay.ts'
import { disjointRoutes, type RouteWorld } from './disjoint-routes.ts'
import { type DirectTrust, HolderTrust, type Reputations } from './holders.ts'
import type { ResolvedEdges, TrustQuestion } from './resolved-edges.ts'
import { NEW_AGENT_MS, type Routes } from './routes.ts'
import type { TrustStamp } from './stamp.ts'

export type TrustRules = Pick<
  BeliefsSettings,
  'defaultTrust' | 'sybilThreshold' | 'sybilCap' | 'sybilRule' | 'newAgentCap'
>

/** First hops (or routes) worth less are not counted as sources. */
const LEAST_WORTH = 0.01
const NEW_AGENT_CAP = 0.3

export interface Weighing {
  /** -1: not known here, and so without edges. */
  readonly viewer: number
  readonly viewerId: string
  readonly agents: AgentArrays
  readonly edges: ResolvedEdges
  readonly question: TrustQuestion
  readonly rules: TrustRules
  readonly routes: Routes
  readonly reputations: Reputations
  readonly stamp: TrustStamp
  readonly asOf: Instant
}

export function weigh(weighing: Weighing): HolderTrust {
  const { viewer, agents, edges, question, rules, routes, asOf } = weighing
  const direct = new Map<string, DirectTrust>()
  const own = new Float64Array(agents.size).fill(Number.NaN)
  if (viewer >= 0) own[viewer] = 1
  /** By agent: what a route that begins with it starts with; 0: none does. */
  const starts = new Float64Array(agents.size)
  for (let slot = edges.edges.begin(viewer), end = edges.edges.end(viewer); slot < end; slot++) {
    const target = edges.edges.target[slot] as number
    const trust = directTrust(edges, slot, weighing)
    direct.set(agents.id(target), trust)
    own[target] = trust.value
    starts[target] = trust.decayed * question.damping
  }
  const levels = new Float64Array(agents.size)
  const sources = new Uint32Array(agents.size)
  for (const { first, targets, worths } of routes.hops) {
    const factor = starts[first] as number
    for (let at = 0; at < targets.length; at++) {
      const target = targets[at] as number
      const worth = factor * (worths[at] as number)
      if (worth > (levels[target] as number)) levels[target] = worth
      if (worth >= LEAST_WORTH) sources[target] = (sources[target] as number) + 1
    }
  }
  const capped = new Uint8Array(agents.size)
  const world = rules.sybilRule === 'disjoint' ? routeWorld(weighing, starts) : null
  for (let agent = 0; agent < levels.length; agent++) {
    const level = levels[agent] as number
    if (level === 0) continue
    // Routes that share nobody begin with different first hops: of these there are never fewer.
    if (world !== null) {
      const wanted = Math.min(sources[agent] as number, rules.sybilThreshold)
      sources[agent] = wanted < 2 ? wanted : disjointRoutes(world, agent, wanted)
    }
    const few = (sources[agent] as number) < rules.sybilThreshold
    const young = rules.newAgentCap && agents.isYoungerThan(agent, asOf - NEW_AGENT_MS)
    const cap = Math.min(few ? rules.sybilCap : 1, young ? NEW_AGENT_CAP : 1)
    if (level <= cap) continue
    levels[agent] = cap
    capped[agent] = 1
  }
  return new HolderTrust({
    viewer: weighing.viewerId,
    isKnown: viewer >= 0,
    agents,
    stamp: weighing.stamp,
    holdsUntil: routes.until,
    known: agents.known,
    domains: question.domains,
    defaultTrust: rules.defaultTrust,
    direct,
    reputations: weighing.reputations,
    own,
    levels,
    sources,
    capped,
  })
}

function directTrust(edges: ResolvedEdges, slot: number, { viewer, question, rules, asOf }: Weighing): DirectTrust {
  const [base, rate] = [edges.base(slot), edges.edges.rate(slot)]
  const days = daysSince(edges.edges.lastUsedBefore(viewer, slot, asOf), asOf)
  const faded = decayed(base, rate, days)
  const byDomain = edges.edges.entries[edges.edges.domains[slot] as number] as ReadonlyMap<string, number>
  const met = question.domains.flatMap(domain => {
    const entry = byDomain.size === 0 ? undefined : nearestEntry(byDomain, domain)
    return entry === undefined ? [] : [[domain, entry] as const]
  })
  return {
    level: edges.edges.level[slot] as number,
    entries: Object.fromEntries(met),
    base,
    days,
    rate,
    decayed: faded,
    value: Math.max(faded, Math.min(base, rules.defaultTrust)),
    distrusted: base === 0,
  }
}

/** The edges that the search looked at, from where they end. */
function routeWorld(
  { viewer, agents, edges, question, rules, routes, asOf }: Weighing,
  starts: Float64Array,
): RouteWorld {
  const into = new Map<number, { from: number; factor: number }[]>()
  for (const from of routes.expanded) {
    const half = rules.newAgentCap && agents.isYoungerThan(from, asOf - NEW_AGENT_MS) ? 0.5 : 1
    for (let slot = edges.edges.begin(from), end = edges.edges.end(from); slot < end; slot++) {
      const target = edges.edges.target[slot] as number
      if (target === viewer || routes.distrusted.has(target)) continue
      if (!agents.isHosted(from) && !edges.edges.isExposed(slot)) continue
      const factor = edges.tenths(slot, asOf) * half * (question.damping / 10)
      if (factor === 0) continue
      const list = into.get(target) ?? []
      list.push({ from, factor })
      into.set(target, list)
    }
  }
  // In an order that does not tell which edge was written first.
  const byId = (a: { from: number }, b: { from: number }) => (agents.id(a.from) < agents.id(b.from) ? -1 : 1)
  for (const list of into.values()) list.sort(byId)
  return {
    agents,
    into: agent => into.get(agent) ?? [],
    own: agent => starts[agent] as number,
    maxHops: question.maxHops,
    least: LEAST_WORTH,
  }
}
