/**
 * The best routes of other agents' edges from each first hop to everybody within the hop bound (BQ-073, BQ-074, BQ-077).
 *
 * The viewer's own edges are used exactly and fade from one millisecond to the next; others' count in tenths and hold
 * for weeks. So what is searched, and kept, is the part of a route behind its first edge. Labels are products of
 * tenths, at most 10,000 and so without rounding; the damping of the edges comes in at the end, which makes a label of
 * fewer edges worth more. A walk that comes back to an agent is worth less than the same without the loop, and has more
 * edges: loops need no bookkeeping.
 */
import type { Instant } from '../../../base/clock.ts'
import { OWNER } from '../../../model/partition.ts'
import { DAY_MS } from '../measures/decay.ts'
import type { AgentFacts } from './agent-facts.ts'
import { baseOf, type CountedEdge, type EdgesByOwner, tenthsIn } from './counted-edge.ts'
import type { TrustQuestion, TrustRules } from './trust-in.ts'

/** How long an agent is new: routes through it are worth half, where the settings say so (BQ-076). */
const NEW_AGENT_MS = 30 * DAY_MS
const THROUGH_NEW = 0.5
/** Edges that are followed between two looks: some milliseconds' work. */
export const EDGES_AT_ONCE = 50_000
/** A label this much worse than one of fewer edges is of no use; one nearer may differ by rounding alone. */
const CLEARLY = 1 - 1e-12
/** Of a route to one agent, near enough. */
const BYTES_A_WORTH = 40

/** Whose trust is asked for, what about, when and by which rules. */
export interface TrustMoment {
  readonly agents: ReadonlyMap<string, AgentFacts>
  readonly rules: TrustRules
  readonly viewer: string
  readonly question: TrustQuestion
  readonly asOf: Instant
}

export interface TrustAsked extends TrustMoment {
  /** As they are now: others may be written while what was made of them is kept. */
  readonly edges: EdgesByOwner
  /** Called every so many edges; may throw, and then nothing was found. */
  readonly look?: (() => void) | undefined
}

export interface RoutesOfHop {
  readonly first: string
  /** By agent reached from it: what the best route from it is worth without the viewer's own edge. */
  readonly worths: ReadonlyMap<string, number>
}

export interface Routes {
  readonly hops: readonly RoutesOfHop[]
  /** Whose edges were looked at. */
  readonly expanded: ReadonlySet<string>
  /** The first instant at which some edge that was looked at may count otherwise. */
  readonly until: Instant
  readonly byteLength: number
}

/** An edge of somebody else that counts. */
export interface Link {
  readonly target: string
  /** 1 to 10, half of that through a new agent. */
  readonly tenths: number
}

export function searchRoutes(asked: TrustAsked): Routes {
  const walk = new Walk(asked)
  const own = asked.edges.get(asked.viewer) ?? new Map<string, CountedEdge>()
  const firsts = [...own].filter(([, edge]) => baseOf(edge, asked.question) > 0).map(([target]) => target)
  const hops = asked.question.maxHops < 2 ? [] : firsts.map(first => walk.from(first))
  const reached = hops.reduce((sum, { worths }) => sum + worths.size, 0)
  const until = Math.min(walk.until, Math.max(agesHoldUntil(asked), asked.asOf + 1))
  const expanded = walk.expanded
  return { hops, expanded, until, byteLength: BYTES_A_WORTH * (reached + expanded.size) }
}

/** Walks from one first hop after the other over the same edges. */
class Walk {
  until: Instant = Number.POSITIVE_INFINITY
  readonly #asked: TrustAsked
  readonly #barred: ReadonlySet<string>
  /** By owner; made when they are first met. */
  readonly #links = new Map<string, readonly Link[]>()
  /** Since the last look. */
  #followed = 0

  constructor(asked: TrustAsked) {
    this.#asked = asked
    this.#barred = barredFor(asked)
  }

  get expanded(): ReadonlySet<string> {
    return new Set(this.#links.keys())
  }

  from(first: string): RoutesOfHop {
    const { maxHops, damping } = this.#asked.question
    const worths = new Map<string, number>()
    let frontier = new Map([[first, 1]])
    let scale = 1
    for (let edges = 1; edges < maxHops; edges++) {
      scale *= damping / 10
      const further = new Map<string, number>()
      for (const [agent, label] of this.#step(frontier, first)) {
        const [worth, best] = [label * scale, worths.get(agent) ?? 0]
        if (worth > best) worths.set(agent, worth)
        if (worth > best * CLEARLY) further.set(agent, label)
      }
      frontier = further
    }
    return { first, worths }
  }

  /** Labels of one edge more, by the agent reached. */
  #step(frontier: ReadonlyMap<string, number>, first: string): ReadonlyMap<string, number> {
    const longer = new Map<string, number>()
    for (const [agent, label] of frontier) {
      for (const { target, tenths } of this.#linksOf(agent)) {
        const reached = label * tenths
        if (target !== first && reached > (longer.get(target) ?? 0)) longer.set(target, reached)
      }
    }
    return longer
  }

  #linksOf(owner: string): readonly Link[] {
    let links = this.#links.get(owner)
    if (links === undefined) {
      links = linksOf(this.#asked, owner, this.#barred, until => {
        this.until = Math.min(this.until, until)
      })
      this.#links.set(owner, links)
    }
    this.#followed += links.length
    if (this.#followed >= EDGES_AT_ONCE) {
      this.#followed = 0
      this.#asked.look?.()
    }
    return links
  }
}

/** Nobody distrusted vouches or relays, and no route leads back to the viewer. */
export function barredFor({ edges, viewer, question }: TrustAsked): ReadonlySet<string> {
  const barred = new Set([viewer])
  for (const [target, edge] of edges.get(viewer) ?? []) if (baseOf(edge, question) === 0) barred.add(target)
  return barred
}

/** Somebody else's edges as far as they count; `holds` is called with how long each counts the same. */
export function linksOf(
  asked: TrustAsked,
  owner: string,
  barred: ReadonlySet<string>,
  holds: (until: Instant) => void = () => undefined,
): readonly Link[] {
  const isHere = isHosted(asked, owner)
  const share = isNew(asked, owner) ? THROUGH_NEW : 1
  const links: Link[] = []
  for (const [target, edge] of asked.edges.get(owner) ?? []) {
    if (barred.has(target) || !(isHere || edge.isExposed)) continue
    const { tenths, until } = tenthsIn(edge, asked.question, asked.asOf)
    holds(until)
    if (tenths > 0) links.push({ target, tenths: tenths * share })
  }
  return links
}

export function isHosted({ agents }: TrustMoment, agent: string): boolean {
  return agent === OWNER || agents.has(agent)
}

/** By the rule for new agents, to which those belong whose age nobody knows. */
export function isNew({ agents, rules, asOf }: TrustMoment, agent: string): boolean {
  if (!rules.newAgentCap) return false
  const createdAt = agents.get(agent)?.createdAt
  return createdAt === undefined ? agent !== OWNER : createdAt > asOf - NEW_AGENT_MS
}

/** The first instant at which some agent is new no more. */
function agesHoldUntil({ agents, rules, asOf }: TrustMoment): Instant {
  let until = Number.POSITIVE_INFINITY
  if (!rules.newAgentCap) return until
  for (const { createdAt } of agents.values()) {
    if (createdAt > asOf - NEW_AGENT_MS) until = Math.min(until, createdAt + NEW_AGENT_MS)
  }
  return until
}
