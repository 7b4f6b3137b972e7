/**
 * The best routes of other agents' edges from each first hop to everybody within the hop bound (BQ-073, BQ-074, BQ-077).
 *
 * The viewer's own edges are used exactly and fade from one millisecond to the next; others' count in tenths and stand
 * still for weeks. So what is searched, and kept, is the part of a route behind its first edge. Labels are products of
 * tenths, at most 10,000 and so without rounding; the damping of the edges comes in at the end, which makes a label of
 * fewer edges worth more. A walk that comes back to an agent is worth less than the same without the loop, and has more
 * edges: loops need no bookkeeping.
 */
import { Bitset } from '../../../base/bitset.ts'
import type { Instant } from '../../../base/clock.ts'
import { DAY_MS } from '../measures/decay.ts'
import type { AgentArrays } from './agent-arrays.ts'
import type { ResolvedEdges, TrustQuestion } from './resolved-edges.ts'

/** Routes through an agent that is new are worth half, where the settings say so (BQ-076). */
export const NEW_AGENT_MS: number = 30 * DAY_MS
export const THROUGH_NEW = 0.5
const UNKNOWN = 255
/** Edges that are followed between two looks: some milliseconds' work. */
export const EDGES_AT_ONCE = 50_000
/** A label this much worse than one of fewer edges is of no use; one nearer may differ by rounding alone. */
const CLEARLY = 1 - 1e-12

interface RouteSearch {
  readonly agents: AgentArrays
  readonly edges: ResolvedEdges
  /** -1: not known here, and so without edges. */
  readonly viewer: number
  readonly question: TrustQuestion
  readonly newAgentCap: boolean
  readonly asOf: Instant
  /** Called every so many edges; may throw, and then nothing was found. */
  readonly look?: (() => void) | undefined
}

export interface RoutesOfHop {
  readonly first: number
  /** Reached from it, by number ascending, and what the best route from it is worth without the viewer's own edge. */
  readonly targets: Int32Array
  readonly worths: Float64Array
}

export interface Routes {
  readonly hops: readonly RoutesOfHop[]
  /** Whose edges were looked at. */
  readonly expanded: Bitset
  /** Those the viewer distrusts: they neither vouch nor relay. */
  readonly distrusted: ReadonlySet<number>
  /** The first instant at which some edge that was looked at may count otherwise. */
  readonly until: Instant
  readonly byteLength: number
}

/** What (damping / 10) to the power of the number of edges comes to, by that number. */
function dampingOfTenths(damping: number, edges: number): readonly number[] {
  const scales = [1]
  for (let at = 1; at <= edges; at++) scales.push((scales[at - 1] as number) * (damping / 10))
  return scales
}

export function searchRoutes(search: RouteSearch): Routes {
  const { edges, viewer, question, asOf } = search
  const distrusted = new Set<number>()
  const firsts: number[] = []
  for (let slot = edges.arrays.begin(viewer), end = edges.arrays.end(viewer); slot < end; slot++) {
    const target = edges.arrays.target[slot] as number
    if (edges.base(slot) > 0) firsts.push(target)
    else distrusted.add(target)
  }
  const walk = new Walk(search, distrusted)
  const hops = question.maxHops < 2 ? [] : firsts.map(first => walk.from(first))
  const pairs = hops.reduce((sum, { targets }) => sum + targets.length, 0)
  const ages = search.newAgentCap ? search.agents.nextCreation(asOf - NEW_AGENT_MS) + NEW_AGENT_MS : Infinity
  const until = Math.min(walk.until, Math.max(ages, asOf + 1))
  return { hops, expanded: walk.expanded, distrusted, until, byteLength: 12 * pairs + search.agents.size / 8 }
}

/** Walks from one first hop after the other over the same edges. */
class Walk {
  readonly expanded: Bitset
  until: Instant = Number.POSITIVE_INFINITY
  readonly #search: RouteSearch
  readonly #scales: readonly number[]
  /** By slot; what an edge counts is worked out when it is first met. */
  readonly #tenths: Uint8Array
  /** By agent: those that no route may touch; labels of this number of edges, and of one more; best worths so far. */
  readonly #barred: Uint8Array
  readonly #labels: Float64Array
  readonly #longer: Float64Array
  readonly #best: Float64Array
  /** Since the last look. */
  #followed = 0

  constructor(search: RouteSearch, distrusted: ReadonlySet<number>) {
    this.#search = search
    const agents = search.agents.size
    this.expanded = new Bitset(agents)
    this.#scales = dampingOfTenths(search.question.damping, search.question.maxHops - 1)
    this.#tenths = new Uint8Array(search.edges.arrays.slots).fill(UNKNOWN)
    this.#barred = new Uint8Array(agents)
    if (search.viewer >= 0) this.#barred[search.viewer] = 1
    for (const agent of distrusted) this.#barred[agent] = 1
    this.#labels = new Float64Array(agents)
    this.#longer = new Float64Array(agents)
    this.#best = new Float64Array(agents)
  }

  from(first: number): RoutesOfHop {
    const reached: number[] = []
    let frontier = [first]
    this.#labels[first] = 1
    this.#barred[first] = 1
    for (let edges = 1; edges < this.#search.question.maxHops; edges++) {
      frontier = this.#takeOver(this.#step(frontier), this.#scales[edges] as number, reached)
    }
    for (const agent of frontier) this.#labels[agent] = 0
    this.#barred[first] = 0
    const targets = Int32Array.from(reached).sort()
    const worths = new Float64Array(targets.length)
    for (let at = 0; at < targets.length; at++) {
      const agent = targets[at] as number
      worths[at] = this.#best[agent] as number
      this.#best[agent] = 0
    }
    return { first, targets, worths }
  }

  /** Labels of one edge more; those that got one. */
  #step(frontier: readonly number[]): number[] {
    const { agents, edges } = this.#search
    const { target } = edges.arrays
    const [labels, longer, barred, tenths] = [this.#labels, this.#longer, this.#barred, this.#tenths]
    const met: number[] = []
    for (const agent of frontier) {
      const label = (labels[agent] as number) * this.#throughput(agent)
      labels[agent] = 0
      this.expanded.add(agent)
      const hosted = agents.isHosted(agent)
      const [begin, end] = [edges.arrays.begin(agent), edges.arrays.end(agent)]
      this.#lookAfter(end - begin)
      for (let slot = begin; slot < end; slot++) {
        const next = target[slot] as number
        if (barred[next] === 1 || !(hosted || edges.arrays.isExposed(slot))) continue
        const known = tenths[slot] as number
        const reached = label * (known === UNKNOWN ? this.#lookUp(slot) : known)
        const before = longer[next] as number
        if (reached <= before) continue
        if (before === 0) met.push(next)
        longer[next] = reached
      }
    }
    return met
  }

  #lookAfter(edges: number): void {
    this.#followed += edges
    if (this.#followed < EDGES_AT_ONCE) return
    this.#followed = 0
    this.#search.look?.()
  }

  /** Takes the new labels over; those worth going on from. */
  #takeOver(met: readonly number[], scale: number, reached: number[]): number[] {
    const frontier: number[] = []
    for (const agent of met) {
      const label = this.#longer[agent] as number
      this.#longer[agent] = 0
      const [worth, best] = [label * scale, this.#best[agent] as number]
      if (best === 0) reached.push(agent)
      if (worth > best) this.#best[agent] = worth
      if (worth <= best * CLEARLY) continue
      this.#labels[agent] = label
      frontier.push(agent)
    }
    return frontier
  }

  #throughput(agent: number): number {
    const { newAgentCap, agents, asOf } = this.#search
    return newAgentCap && agents.isYoungerThan(agent, asOf - NEW_AGENT_MS) ? THROUGH_NEW : 1
  }

  #lookUp(slot: number): number {
    const { edges, asOf } = this.#search
    const tenths = edges.tenths(slot, asOf)
    this.#tenths[slot] = tenths
    this.until = Math.min(this.until, edges.tenthsHoldUntil(slot, asOf, tenths))
    return tenths
  }
}
