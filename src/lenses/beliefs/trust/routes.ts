/**
 * Searches for the best routes over the trust edges of other agents, from each first agent (each target of the viewer's own edges) to every
 * agent within the maximum number of edges (BQ-073, BQ-074, BQ-077).
 *
 * The viewer's own edges count exactly and fade continuously; edges of other agents count in tenths, which stay equal for weeks. Therefore
 * only the part of a route after its first edge is searched and cached. While searching, a route is represented by its label: the product
 * of the tenths along it, at most 10,000, without rounding errors. Damping is applied at the end and favours routes with fewer edges. A
 * walk that returns to an agent has a lower level and more edges than the walk without the loop, so loops need no special treatment.
 */
import { Bitset } from '../../../base/bitset.ts'
import type { Instant } from '../../../base/clock.ts'
import { compareText } from '../../../base/compare.ts'
import { OWNER } from '../../../model/partition.ts'
import { DAY_MS } from '../measures/confidence.ts'
import type { AgentFacts } from './agent-facts.ts'
import {
  baseOf,
  type CountedEdges,
  type Links,
  type PlacedEdge,
  type Span,
  type TrustQuestion,
  type TrustRules,
  tenthsIn,
} from './edge.ts'

/**
 * `NEW_AGENT_MS`: age in milliseconds up to which an agent counts as new. `THROUGH_NEW`: factor on routes (chains of trust edges) that lead
 * through a new agent, applied only if the settings lower trust for new agents (BQ-076).
 */
const NEW_AGENT_MS = 30 * DAY_MS
const THROUGH_NEW = 0.5
/** Number of edges followed between two calls of `look`, which checks the time limit: some milliseconds of work. */
export const EDGES_AT_ONCE = 50_000
/**
 * A route is not continued if its level is below this share of the best level that a route with fewer edges has to the agent. A smaller
 * difference may be a rounding error, so the route is then continued.
 */
const CLEARLY = 1 - 1e-12

/** Input of a trust computation: agents, rules, viewer, question, time and edges. */
export interface TrustAsked {
  readonly agents: ReadonlyMap<string, AgentFacts>
  readonly rules: TrustRules
  readonly viewer: string
  readonly question: TrustQuestion
  readonly asOf: Instant
  /** The trust edges, which are updated in place: they may change while results computed from them are still cached. */
  readonly edges: CountedEdges
  /** Called after every `EDGES_AT_ONCE` edges that were followed. If it throws, the search ends without a result. */
  readonly look?: (() => void) | undefined
}

/**
 * Result of a search: for each first agent (target of one of the viewer's own trust edges) and each agent that can be reached from it, the
 * best route between them; and the period during which a new search would find equal routes.
 */
export interface Routes extends Span {
  /** Names of the first agents of all routes: the targets of the viewer's own edges. */
  readonly firsts: readonly string[]
  /**
   * The arrays `hops` and `levels` list all routes, grouped by the agent to which they lead. The routes to an agent with number n are at
   * the indexes from `begins[n]`, inclusive, to `begins[n + 1]`, exclusive.
   */
  readonly begins: Int32Array
  /**
   * Two arrays with one element for each route. `hops`: the index in `firsts` of the route's first agent. `levels`: the level of the route
   * without its first edge, which is the viewer's own.
   */
  readonly hops: Int32Array
  readonly levels: Float64Array
  /** Numbers of the agents whose edges the search followed; a change of another agent's edges cannot change the routes. */
  readonly expanded: Bitset
  readonly byteLength: number
}

export function searchRoutes(asked: TrustAsked): Routes {
  const { edges, viewer, question } = asked
  const walk = new Walk(asked)
  const starts = [...edges.of(viewer)].filter(([, { edge }]) => question.maxHops > 1 && baseOf(edge, question) > 0)
  const found = starts.map(([, { to }]) => walk.from(to))
  const { begins, hops, levels } = byAgent(found, edges.names.length)
  const { expanded } = walk
  return {
    ...{
      firsts: starts.map(([first]) => first),
      begins,
      hops,
      levels,
      expanded,
      ...overlap(walk.span, agesHold(asked)),
    },
    byteLength: begins.byteLength + hops.byteLength + levels.byteLength + expanded.byteLength,
  }
}

/**
 * Result of the search from one first agent (target of one of the viewer's own trust edges): the numbers of the agents that can be reached
 * from it over trust edges, and for each the level of the best route.
 */
interface Reached {
  readonly agents: readonly number[]
  readonly levels: readonly number[]
}

function byAgent(found: readonly Reached[], agents: number): Pick<Routes, 'begins' | 'hops' | 'levels'> {
  const begins = new Int32Array(agents + 1)
  const count = (agent: number, by: number) => {
    const place = (begins[agent] as number) + by
    begins[agent] = place
    return place
  }
  for (const reached of found) for (const agent of reached.agents) count(agent, 1)
  // First, `begins` is filled with the end of each agent's routes. Then each route is put at the last free position of its agent, and the
  // agent's entry is lowered by one, which in the end makes it the beginning.
  for (let agent = 1; agent <= agents; agent++) count(agent, begins[agent - 1] as number)
  const routes = begins[agents] as number
  const hops = new Int32Array(routes)
  const levels = new Float64Array(routes)
  for (const [hop, reached] of found.entries()) {
    for (const [at, agent] of reached.agents.entries()) {
      const place = count(agent, -1)
      hops[place] = hop
      levels[place] = reached.levels[at] as number
    }
  }
  return { begins, hops, levels }
}

/**
 * Searches for routes (chains of trust edges) from several first agents (targets of the viewer's own edges), one after the other. All
 * searches use the same edges, with their levels rounded to tenths.
 */
class Walk {
  /** Period during which the level, rounded to tenths, of every edge that was followed stays as it was in this search. */
  span: Span = ALWAYS
  readonly expanded = new Bitset()
  readonly #asked: TrustAsked
  readonly #barred: Uint8Array
  /**
   * By number of an agent: the agent's own trust edges are at the indexes from `begins`, inclusive, to `ends`, exclusive, of the arrays
   * `targets` and `tenths`. -1: the agent's edges have not been read yet.
   */
  readonly #begins: Int32Array
  readonly #ends: Int32Array
  /**
   * Two arrays with one element for each trust edge read so far, grouped by owner: the number of the edge's target, and the edge's level in
   * tenths, halved if its owner counts as a new agent.
   */
  readonly #targets: number[] = []
  readonly #tenths: number[] = []
  /**
   * Three arrays by number of an agent; 0: not reached. `labels`: product of the levels in tenths along the best route to the agent with
   * the current number of edges. `longer`: the same with one more edge. `best`: best level of any route so far, including damping.
   */
  readonly #labels: Float64Array
  readonly #longer: Float64Array
  readonly #best: Float64Array
  /** Number of edges followed since the last call of `look`. */
  #followed = 0

  constructor(asked: TrustAsked) {
    const agents = asked.edges.names.length
    this.#asked = asked
    this.#barred = barredFor(asked)
    this.#begins = new Int32Array(agents).fill(-1)
    this.#ends = new Int32Array(agents)
    this.#labels = new Float64Array(agents)
    this.#longer = new Float64Array(agents)
    this.#best = new Float64Array(agents)
  }

  from(first: number): Reached {
    const { maxHops, damping } = this.#asked.question
    const reached: number[] = []
    let frontier: readonly number[] = [first]
    this.#labels[first] = 1
    let scale = 1
    for (let edges = 1; edges < maxHops; edges++) {
      scale *= damping / 10
      frontier = this.#takeOver(this.#step(frontier, first), scale, reached)
    }
    const levels = reached.map(agent => this.#best[agent] as number)
    for (const agent of reached) this.#best[agent] = 0
    return { agents: reached, levels }
  }

  /** Follows one more edge from each agent in `frontier`; returns the numbers of the agents reached. */
  #step(frontier: readonly number[], first: number): readonly number[] {
    for (const agent of frontier) if (this.#begins[agent] === -1) this.#expand(agent)
    const [labels, longer, targets, tenths] = [this.#labels, this.#longer, this.#targets, this.#tenths]
    const met: number[] = []
    for (const agent of frontier) {
      const [begin, end] = [this.#begins[agent] as number, this.#ends[agent] as number]
      this.#lookAfter(end - begin)
      const label = labels[agent] as number
      for (let link = begin; link < end; link++) {
        const to = targets[link] as number
        const reached = label * (tenths[link] as number)
        const before = longer[to] as number
        if (reached <= before || to === first) continue
        if (before === 0) met.push(to)
        longer[to] = reached
      }
    }
    return met
  }

  #expand(agent: number): void {
    const { targets, tenths, span } = linksOf(this.#asked, agent)
    const share = shareOf(this.#asked, agent)
    this.expanded.add(agent)
    this.span = overlap(this.span, span)
    this.#begins[agent] = this.#targets.length
    for (let link = 0; link < targets.length; link++) {
      const to = targets[link] as number
      if (this.#barred[to] === 1) continue
      this.#targets.push(to)
      this.#tenths.push((tenths[link] as number) * share)
    }
    this.#ends[agent] = this.#targets.length
  }

  #lookAfter(edges: number): void {
    this.#followed += edges
    if (this.#followed < EDGES_AT_ONCE) return
    this.#followed = 0
    this.#asked.look?.()
  }

  /**
   * Ends a round of the search: the routes found in it, which have one more edge, become the current ones. Returns the agents from which
   * the search continues: those to which no shorter route is clearly better.
   */
  #takeOver(met: readonly number[], scale: number, reached: number[]): readonly number[] {
    const [labels, longer, bests] = [this.#labels, this.#longer, this.#best]
    return met.filter(agent => {
      const label = longer[agent] as number
      const best = bests[agent] as number
      const level = label * scale
      labels[agent] = label
      longer[agent] = 0
      if (best === 0) reached.push(agent)
      if (level > best) bests[agent] = level
      return level > best * CLEARLY
    })
  }
}

/**
 * By number of the agent: 1 if no route may lead through or to the agent. These are agents that the viewer distrusts, who neither are
 * trusted nor vouch for others, and the viewer itself.
 */
function barredFor({ edges, viewer, question }: TrustAsked): Uint8Array {
  const barred = new Uint8Array(edges.names.length)
  const self = edges.numberOf(viewer)
  if (self !== -1) barred[self] = 1
  for (const { edge, to } of edges.of(viewer).values()) if (baseOf(edge, question) === 0) barred[to] = 1
  return barred
}

/**
 * The trust edges of an agent other than the viewer, with their levels rounded to tenths. The rounded levels are computed again only if an
 * edge has changed or the period is over during which fading certainly leaves them unchanged.
 */
function linksOf(asked: TrustAsked, agent: number): Links {
  const { edges, question, asOf } = asked
  const hasDomains = question.domains.length > 0
  const known = edges.links[agent]
  if (known !== undefined && isWithin(known.span, asOf) && !(hasDomains && known.hasEntries)) return known
  const owner = edges.names[agent] as string
  const isHere = isHosted(asked, owner)
  const [targets, counts]: [number[], number[]] = [[], []]
  let [span, hasEntries] = [ALWAYS, false]
  for (const { edge, to } of edges.of(owner).values()) {
    if (!(isHere || edge.isExposed)) continue
    hasEntries ||= edge.byDomain !== null
    const counted = tenthsIn(edge, question, asOf)
    span = overlap(span, counted.span)
    if (counted.tenths === 0) continue
    targets.push(to)
    counts.push(counted.tenths)
  }
  const links = { targets, tenths: counts, span, hasEntries }
  if (!(hasDomains && hasEntries)) edges.links[agent] = links
  return links
}

/** Factor on the edges of an agent: one half if the agent counts as new, otherwise 1. */
function shareOf(asked: TrustAsked, agent: number): number {
  return isNew(asked, asked.edges.names[agent] as string) ? THROUGH_NEW : 1
}

function isHosted({ agents }: Pick<TrustAsked, 'agents'>, agent: string): boolean {
  return agent === OWNER || agents.has(agent)
}

/**
 * Whether an agent counts as new; always false if the settings do not lower trust for new agents. An agent of unknown age counts as new.
 */
export function isNew({ agents, rules, asOf }: Pick<TrustAsked, 'agents' | 'rules' | 'asOf'>, agent: string): boolean {
  if (!rules.newAgentCap) return false
  const createdAt = agents.get(agent)?.createdAt
  return createdAt === undefined ? agent !== OWNER : createdAt > asOf - NEW_AGENT_MS
}

/** Period around this moment during which no agent stops or starts counting as new. */
function agesHold({ agents, rules, asOf }: TrustAsked): Span {
  let { from, until } = ALWAYS
  if (!rules.newAgentCap) return ALWAYS
  for (const { createdAt } of agents.values()) {
    const oldAt = createdAt + NEW_AGENT_MS
    if (oldAt > asOf) until = Math.min(until, oldAt)
    else from = Math.max(from, oldAt)
  }
  return { from, until }
}

const ALWAYS: Span = { from: Number.NEGATIVE_INFINITY, until: Number.POSITIVE_INFINITY }

function overlap(one: Span, other: Span): Span {
  return { from: Math.max(one.from, other.from), until: Math.min(one.until, other.until) }
}

export function isWithin({ from, until }: Span, asOf: Instant): boolean {
  return from <= asOf && asOf < until
}

/**
 * Period during which cached routes stay valid after one of this owner's edges has changed from `before` to `after` (undefined: no edge).
 * Null: the routes may differ now.
 * An edge of another agent affects routes only by its level in tenths. The viewer's own edge only decides whether a route may begin with
 * it; its level is applied later.
 */
export function spanAfter(
  asked: TrustAsked,
  { expanded }: Routes,
  span: Span,
  owner: string,
  before: PlacedEdge | undefined,
  after: PlacedEdge | undefined,
): Span | null {
  const { viewer, question, edges, asOf } = asked
  if (owner === viewer) {
    const start = (placed: PlacedEdge | undefined) => placed && baseOf(placed.edge, question) > 0
    return start(before) === start(after) ? span : null
  }
  if (!expanded.has(edges.numberOf(owner))) return span
  const counted = (placed: PlacedEdge | undefined) =>
    placed !== undefined && (isHosted(asked, owner) || placed.edge.isExposed)
      ? tenthsIn(placed.edge, question, asOf)
      : { tenths: 0, span: ALWAYS }
  const now = counted(after)
  return counted(before).tenths === now.tenths ? overlap(span, now.span) : null
}

/**
 * Maximum number of edges examined when counting disjoint routes to one agent. Beyond it, the routes found so far count, so the trust may
 * remain limited for lack of sources.
 */
const MAX_STEPS = 20_000

/**
 * A trust edge seen from its target: the number of its owner, and the factor by which it multiplies the level of a route, including
 * damping.
 */
interface LinkInto {
  readonly from: number
  readonly factor: number
}

interface RouteWorld {
  /** Trust edges by the number of the agent to which they lead. */
  readonly into: ReadonlyMap<number, readonly LinkInto[]>
  /** Faded level of the viewer's own edge to an agent, times the damping; 0: no route begins with this agent. */
  own(agent: number): number
  readonly maxHops: number
  /** Minimum level that a route must have to be counted. */
  readonly least: number
}

/** The edges that the search for routes followed, grouped by the agent to which they lead. */
export function routeWorld(
  asked: TrustAsked,
  { expanded }: Routes,
  own: (agent: number) => number,
  least: number,
): RouteWorld {
  const barred = barredFor(asked)
  const into = new Map<number, LinkInto[]>()
  // Owners are sorted by name, so that the result does not depend on, and cannot reveal, the order in which edges were written.
  const name = (agent: number) => asked.edges.names[agent] as string
  for (const from of [...expanded].sort((a, b) => compareText(name(a), name(b)))) {
    const { targets, tenths } = linksOf(asked, from)
    const share = shareOf(asked, from)
    for (const [at, target] of targets.entries()) {
      if (barred[target] === 1) continue
      const links = into.get(target) ?? []
      into.set(target, links)
      links.push({ from, factor: (tenths[at] as number) * share * (asked.question.damping / 10) })
    }
  }
  return { into, own, maxHops: asked.question.maxHops, least }
}

/**
 * Counts routes (chains of trust edges) from the viewer to an agent that share no other agent, up to `wanted` (BQ-076, `sybil_rule:
 * disjoint`). Counting different first agents is less strict, because their routes may meet in one agent. The search goes backwards from
 * the target and backtracks where it finds no further route.
 */
export function disjointRoutes(world: RouteWorld, target: number, wanted: number): number {
  let steps = 0
  let most = 0
  const used = new Set<number>([target])

  /**
   * Tries to complete a partial route (`path`, from the target backwards) and to find the remaining routes. Returns whether `wanted` routes
   * were found.
   */
  function extend(agent: number, level: number, edges: number, path: readonly number[], found: number): boolean {
    for (const { from, factor } of world.into.get(agent) ?? []) {
      if (steps++ > MAX_STEPS) return false
      if (used.has(from) || path.includes(from)) continue
      const reached = level * factor
      const own = world.own(from)
      if (own * reached >= world.least && complete([...path, from], found + 1)) return true
      if (
        edges + 1 < world.maxHops &&
        reached >= world.least &&
        extend(from, reached, edges + 1, [...path, from], found)
      ) {
        return true
      }
    }
    return false
  }

  function complete(path: readonly number[], found: number): boolean {
    most = Math.max(most, found)
    if (found >= wanted) return true
    for (const agent of path) used.add(agent)
    const done = extend(target, 1, 1, [], found)
    for (const agent of path) used.delete(agent)
    return done
  }

  extend(target, 1, 1, [], 0)
  return most
}
