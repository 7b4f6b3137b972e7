/** From routes and the viewer's own edges as they stand at one moment to its trust in everybody. Costs what those edges cost to read. */
import type { Instant } from '../../../base/clock.ts'
import { nearestEntry } from '../measures/domains.ts'
import type { BeliefsSettings } from '../settings.ts'
import type { AgentArrays } from './agent-arrays.ts'
import { disjointRoutes, type RouteWorld } from './disjoint-routes.ts'
import { daysSince, faded } from './fading.ts'
import { HolderTrust } from './holders.ts'
import { LEAST_WORTH, Levels } from './levels.ts'
import type { Reputations } from './reputations.ts'
import type { ResolvedEdges, TrustQuestion } from './resolved-edges.ts'
import { NEW_AGENT_MS, type Routes, THROUGH_NEW } from './routes.ts'
import type { DirectTrust } from './trust-in.ts'

export type TrustRules = Pick<
  BeliefsSettings,
  'defaultTrust' | 'sybilThreshold' | 'sybilCap' | 'sybilRule' | 'newAgentCap'
>

const NEW_AGENT_CAP = 0.3

interface Weighing {
  /** -1: not known here, and so without edges. */
  readonly viewer: number
  readonly viewerId: string
  readonly agents: AgentArrays
  readonly edges: ResolvedEdges
  readonly question: TrustQuestion
  readonly rules: TrustRules
  readonly routes: Routes
  readonly reputations: Reputations
  readonly asOf: Instant
  /** Called for each agent of whose routes those that share nobody are counted; may throw. */
  readonly look?: (() => void) | undefined
}

export function weigh(weighing: Weighing): HolderTrust {
  const { viewer, agents, edges, question, rules, routes, look } = weighing
  const direct = new Map<string, DirectTrust>()
  const own = new Map<number, DirectTrust>()
  for (let slot = edges.arrays.begin(viewer), end = edges.arrays.end(viewer); slot < end; slot++) {
    const target = edges.arrays.target[slot] as number
    const trust = directTrust(edges, slot, weighing)
    direct.set(agents.id(target), trust)
    own.set(target, trust)
  }
  const startOf = (first: number) => (own.get(first)?.decayed ?? 0) * question.damping
  const world = rules.sybilRule === 'disjoint' ? routeWorld(weighing, startOf) : null
  const levelRules = {
    ...rules,
    disjoint: world && countDisjoint(world, look),
    cap: (agent: number) => (isYoung(weighing, agent) ? NEW_AGENT_CAP : 1),
  }
  const levels = new Levels(routes, startOf, levelRules, agents.size)
  // These rules look at edges and agents, which may be others when somebody asks.
  if (world !== null || rules.newAgentCap) levels.all
  return new HolderTrust({
    viewer: weighing.viewerId,
    viewerNumber: viewer,
    agents,
    holdsUntil: routes.until,
    known: agents.known,
    domains: question.domains,
    defaultTrust: rules.defaultTrust,
    direct,
    own,
    reputations: weighing.reputations,
    levels,
  })
}

function countDisjoint(world: RouteWorld, look: Weighing['look']): (agent: number, wanted: number) => number {
  return (agent, wanted) => {
    look?.()
    return disjointRoutes(world, agent, wanted)
  }
}

function isYoung({ rules, agents, asOf }: Weighing, agent: number): boolean {
  return rules.newAgentCap && agents.isYoungerThan(agent, asOf - NEW_AGENT_MS)
}

function directTrust(edges: ResolvedEdges, slot: number, { viewer, question, rules, asOf }: Weighing): DirectTrust {
  const [base, rate] = [edges.base(slot), edges.arrays.rate(slot)]
  const days = daysSince(edges.arrays.lastUsedBefore(viewer, slot, asOf), asOf)
  const decayed = faded(base, rate, days)
  const byDomain = edges.arrays.entries[edges.arrays.domains[slot] as number] as ReadonlyMap<string, number>
  const met = question.domains.flatMap(domain => {
    const entry = byDomain.size === 0 ? undefined : nearestEntry(byDomain, domain)
    return entry === undefined ? [] : [[domain, entry] as const]
  })
  return {
    level: edges.arrays.level[slot] as number,
    entries: Object.fromEntries(met),
    base,
    days,
    rate,
    decayed,
    value: Math.max(decayed, Math.min(base, rules.defaultTrust)),
    distrusted: base === 0,
  }
}

/** The edges that the search looked at, from where they end. */
function routeWorld(weighing: Weighing, startOf: (first: number) => number): RouteWorld {
  const { viewer, agents, edges, question, routes, asOf } = weighing
  const into = new Map<number, { from: number; factor: number }[]>()
  for (const from of routes.expanded) {
    const half = isYoung(weighing, from) ? THROUGH_NEW : 1
    for (let slot = edges.arrays.begin(from), end = edges.arrays.end(from); slot < end; slot++) {
      const target = edges.arrays.target[slot] as number
      if (target === viewer || routes.distrusted.has(target)) continue
      if (!agents.isHosted(from) && !edges.arrays.isExposed(slot)) continue
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
    own: startOf,
    maxHops: question.maxHops,
    least: LEAST_WORTH,
  }
}
