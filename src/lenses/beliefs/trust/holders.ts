/** One viewer's trust in all agents, for one question as of one moment (BQ-080). It is immutable. */
import { nearestEntry } from '../schema/values.ts'
import { type AgentFacts, floorOf, reputationFor } from './agent-facts.ts'
import {
  baseOf,
  type CountedEdge,
  type DirectTrust,
  daysSince,
  faded,
  lastUsedBefore,
  middleOfBand,
  type TransitiveTrust,
  type TrustedAs,
  type TrustIn,
  type TrustKind,
} from './edge.ts'
import { disjointRoutes, isNew, type Routes, routeWorld, type TrustAsked } from './routes.ts'

/** Trust and reputation of holders, by position in a given list of holders; each array is computed when first needed. */
export interface HolderColumns {
  /** Trust by the viewer's own edge to each holder; NaN: there is no edge. 1 for the viewer itself. */
  readonly direct: Float64Array
  /** Overall reputation of each holder, 0 to 1; NaN: none. */
  readonly reputation: Float64Array
  /** Direct trust in, and reputation of, a target given by name, such as a federation that counts in place of its members. */
  named(name: string): { readonly direct: number; readonly reputation: number }
}

/**
 * Two limits on transitive trust, which comes over a route: one of the viewer's own edges, to the route's first agent, then edges of other
 * agents. A first agent counts as a source only if its route has at least `MIN_LEVEL` (BQ-075). Trust in a new agent is at most
 * `NEW_AGENT_CAP`.
 */
const MIN_LEVEL = 0.01
const NEW_AGENT_CAP = 0.3
const DIRECT_BYTES = 200
const SELF: TrustIn = {
  ...{ value: 1, kind: 'self', direct: null, transitive: null, reputation: null, distrusted: false },
}

export class HolderTrust {
  readonly #moment: Omit<TrustAsked, 'look'>
  readonly #routes: Routes
  /** Trust by the viewer's own edges, by the name of their target. */
  readonly own: ReadonlyMap<string, DirectTrust>
  /**
   * Factor of all routes that begin with the same edge of the viewer, by position of that edge's target (the routes' first agent): the
   * faded level of the edge times the damping. The levels of the rest of the routes are multiplied by it.
   */
  readonly #starts: Float64Array
  /**
   * By number of an agent: how many routes lead from the viewer to it that have no other agent in common. Agents without a route are
   * absent. Null: the rule is not `disjoint`, so the sources of trust are counted by the first agents of routes instead.
   */
  readonly #disjoint: ReadonlyMap<number, number> | null

  /**
   * The constructor takes time proportional to the number of the viewer's own edges; under the rule `disjoint` it also counts routes, which
   * takes longer.
   */
  constructor(asked: TrustAsked, routes: Routes) {
    const { look: _, ...moment } = asked
    this.#moment = moment
    this.#routes = routes
    this.own = new Map(
      [...asked.edges.of(asked.viewer)].map(([target, { edge }]) => [target, directTrust(edge, asked)]),
    )
    this.#starts = Float64Array.from(routes.firsts, first => this.#startAt(first))
    this.#disjoint = asked.rules.sybilRule === 'disjoint' ? this.#countDisjoint(asked) : null
  }

  of(holder: string): TrustIn {
    const { agents, viewer, question } = this.#moment
    if (holder === viewer) return SELF
    const reputation = reputationFor(agents.get(holder), question.domains)
    const direct = this.own.get(holder) ?? null
    if (direct !== null) {
      const { value, distrusted } = direct
      return { value, kind: 'direct', direct, transitive: null, reputation, distrusted }
    }
    const transitive = this.#transitive(this.#moment.edges.numberOf(holder))
    return { ...this.#indirect(transitive?.level ?? 0, reputation), direct, transitive, reputation, distrusted: false }
  }

  /**
   * Returns a function that gives the viewer's trust in a holder, 0 to 1, by the holder's position in this list; made for lists of
   * thousands of holders whose beliefs are ranked.
   */
  valuesIn(holders: readonly string[]): (holder: number) => number {
    const { agents, viewer, question, rules, edges } = this.#moment
    const known = knownIn(holders, agents, edges)
    const self = edges.numberOf(viewer)
    const own = new Map([...this.own].map(([target, { value }]) => [edges.numberOf(target), value]))
    return holder => {
      const { agent, facts } = known(holder)
      if (agent === self && (agent !== -1 || holders[holder] === viewer)) return SELF.value
      const floor = floorOf(reputationFor(facts, question.domains))
      return own.get(agent) ?? Math.max(this.#levelOf(agent), floor, rules.defaultTrust)
    }
  }

  /**
   * Names of the agents in whom this object and `other` give different trust or reputation. Both must have been computed for an equal
   * viewer, question and moment; they differ in the trust edges or facts about agents used.
   */
  differences(other: HolderTrust): readonly string[] {
    const [mine, its] = [this.#moment, other.#moment]
    const names = new Set([...this.own.keys(), ...other.own.keys()])
    if (mine.agents !== its.agents || mine.edges !== its.edges) {
      for (const { agents, edges } of [mine, its])
        for (const name of [...agents.keys(), ...edges.names]) names.add(name)
    } else {
      for (const [number, name] of mine.edges.names.entries()) {
        if (this.#levelOf(number) !== other.#levelOf(number)) names.add(name)
      }
    }
    return [...names].filter(name => {
      const basis = other.#basisOf(name)
      return !this.#basisOf(name).every((part, at) => Object.is(part, basis[at]))
    })
  }

  /** Estimated bytes of this result, without the routes, which are shared with results for other moments. */
  get byteLength(): number {
    return this.own.size * DIRECT_BYTES
  }

  /**
   * Trust that counts for a belief that came through a federation: trust in the target, or, if a member is given, trust in this member
   * reduced to the middle of its band (low, medium or high), because its holder is shown only under a pseudonym (BQ-104).
   */
  as({ target, member }: TrustedAs): TrustIn {
    return member === null ? this.of(target) : this.#ofMember(member, this.of(target).reputation)
  }

  /**
   * Trust in a member of a federation, reduced to the middle of its band (low, medium or high). `reputation`: that of the federation, which
   * is used instead of the member's own (BQ-081). Distrust counts like low trust.
   */
  #ofMember(member: string, reputation: number | null): TrustIn {
    const { value: exact, kind: known, transitive: route } = this.of(member)
    const { value, kind } =
      known === 'direct' ? { value: exact, kind: known } : this.#indirect(route?.level ?? 0, reputation)
    const level = middleOfBand(value)
    const transitive = kind === 'transitive' && route !== null ? { ...route, level } : null
    return { value: level, kind, direct: null, transitive, reputation, distrusted: false }
  }

  columns(holders: readonly string[]): HolderColumns {
    const direct = once(() => Float64Array.from(holders, holder => this.#directIn(holder)))
    const reputation = once(() => Float64Array.from(holders, holder => this.#reputationOf(holder)))
    return {
      get direct() {
        return direct()
      },
      get reputation() {
        return reputation()
      },
      named: name => ({ direct: this.#directIn(name), reputation: this.#reputationOf(name) }),
    }
  }

  /** Trust by the viewer's own edge to a holder; NaN: there is no edge. 1 for the viewer itself. */
  #directIn(holder: string): number {
    return holder === this.#moment.viewer ? 1 : (this.own.get(holder)?.value ?? Number.NaN)
  }

  /** Overall reputation of a holder; NaN: it has none. */
  #reputationOf(holder: string): number {
    return this.#moment.agents.get(holder)?.reputation ?? Number.NaN
  }

  /**
   * All numbers on which trust in an agent, and filters on trust, depend: overall reputation, direct trust, transitive trust, and trust by
   * reputation. For the viewer itself only the reputation, because its trust in itself depends on no edge.
   */
  #basisOf(name: string): readonly number[] {
    const overall = this.#reputationOf(name)
    const { agents, viewer, question } = this.#moment
    if (name === viewer) return [overall]
    const floor = floorOf(reputationFor(agents.get(name), question.domains))
    return [overall, this.#directIn(name), this.#levelOf(this.#moment.edges.numberOf(name)), floor]
  }

  /**
   * Level, from 0 to 1, of transitive trust in an agent. Such trust comes over chains of trust edges that begin with the viewer's own. 0:
   * no chain leads to the agent.
   */
  #levelOf(agent: number): number {
    return this.#transitive(agent)?.level ?? 0
  }

  /**
   * Transitive trust in an agent: the level of the best route (chain of trust edges from the viewer to the agent). It is limited to a
   * maximum if too few sources support it or the agent is too new (BQ-075, BQ-076). Null: there is no route.
   */
  #transitive(agent: number): TransitiveTrust | null {
    const { level, firsts } = this.#bestOf(agent)
    if (level === 0) return null
    const { rules, edges } = this.#moment
    const sources = this.#disjoint?.get(agent) ?? firsts
    const isYoung = isNew(this.#moment, edges.names[agent] as string)
    const cap = Math.min(sources < rules.sybilThreshold ? rules.sybilCap : 1, isYoung ? NEW_AGENT_CAP : 1)
    return level <= cap ? { level, sources, capped: false } : { level: cap, sources, capped: true }
  }

  /**
   * The best level among all routes from the viewer to an agent, and the number of routes, each with a different first agent (target of one
   * of the viewer's own edges), whose level is at least `MIN_LEVEL`.
   */
  #bestOf(agent: number): { readonly level: number; readonly firsts: number } {
    const { begins, hops, levels } = this.#routes
    // An agent that got its number after the search for routes has no routes. The number -1 means that the agent has no number, because no
    // trust edge leads from or to it.
    const end = agent === -1 ? 0 : (begins[agent + 1] ?? 0)
    let level = 0
    let firsts = 0
    for (let route = begins[agent] ?? 0; route < end; route++) {
      const routeLevel = (this.#starts[hops[route] as number] as number) * (levels[route] as number)
      if (routeLevel > level) level = routeLevel
      if (routeLevel >= MIN_LEVEL) firsts++
    }
    return { level, firsts }
  }

  /**
   * Factor on all routes that begin with the viewer's own edge to this agent: the faded level of that edge times the damping. 0 if no route
   * begins with it.
   */
  #startAt(first: string): number {
    return (this.own.get(first)?.decayed ?? 0) * this.#moment.question.damping
  }

  #countDisjoint(asked: TrustAsked): ReadonlyMap<number, number> {
    const { names } = asked.edges
    const world = routeWorld(asked, this.#routes, first => this.#startAt(names[first] as string), MIN_LEVEL)
    const counts = new Map<number, number>()
    for (const agent of names.keys()) {
      // The number of routes without a common agent is at most the number of first agents (targets of the viewer's own edges), because each
      // such route begins with another first agent.
      const wanted = Math.min(this.#bestOf(agent).firsts, asked.rules.sybilThreshold)
      if (wanted === 0) continue
      if (wanted >= 2) asked.look?.()
      counts.set(agent, wanted < 2 ? wanted : disjointRoutes(world, agent, wanted))
    }
    return counts
  }

  /**
   * Trust without an edge of the viewer: the largest of transitive trust, trust by reputation, and the default trust in strangers. If two
   * are equal, the kind that reveals less about other agents is reported.
   */
  #indirect(level: number, reputation: number | null): { readonly value: number; readonly kind: TrustKind } {
    const floor = floorOf(reputation)
    const stranger = this.#moment.rules.defaultTrust
    if (level > floor && level > stranger) return { value: level, kind: 'transitive' }
    return floor > stranger ? { value: floor, kind: 'reputation' } : { value: stranger, kind: 'default' }
  }
}

interface KnownHolder {
  /** Number of the holder among the agents with trust edges; -1: no edge leads from or to the holder. */
  readonly agent: number
  readonly facts: AgentFacts | undefined
}

interface KnownHolders extends Pick<TrustAsked, 'agents' | 'edges'> {
  /** Number of agents with trust edges at the time of the lookups. If there are more, a holder that had no number may have one. */
  readonly count: number
  readonly byNumber: (KnownHolder | undefined)[]
}

/** Cache of agent numbers and facts by list of holders, because looking up thousands of names takes longer than computing trust in them. */
const KNOWN = new WeakMap<readonly string[], KnownHolders>()

function knownIn(
  holders: readonly string[],
  agents: TrustAsked['agents'],
  edges: TrustAsked['edges'],
): (holder: number) => KnownHolder {
  const count = edges.names.length
  let known = KNOWN.get(holders)
  if (known?.agents !== agents || known.edges !== edges || known.count !== count) {
    known = { agents, edges, count, byNumber: [] }
    KNOWN.set(holders, known)
  }
  const { byNumber } = known
  return holder => {
    const before = byNumber[holder]
    if (before !== undefined) return before
    const name = holders[holder] as string
    const found = { agent: edges.numberOf(name), facts: agents.get(name) }
    byNumber[holder] = found
    return found
  }
}

function directTrust(edge: CountedEdge, { question, rules, asOf }: TrustAsked): DirectTrust {
  const base = baseOf(edge, question)
  const days = daysSince(lastUsedBefore(edge, asOf), asOf)
  const decayed = faded(base, edge.rate, days)
  const met = question.domains.flatMap(domain => {
    const entry = edge.byDomain === null ? undefined : nearestEntry(edge.byDomain, domain)
    return entry === undefined ? [] : [[domain, entry] as const]
  })
  return {
    level: edge.level,
    entries: Object.fromEntries(met),
    base,
    days,
    rate: edge.rate,
    decayed,
    value: Math.max(decayed, Math.min(base, rules.defaultTrust)),
    distrusted: base === 0,
  }
}

function once<T>(make: () => T): () => T {
  let made: T | undefined
  return () => {
    made ??= make()
    return made
  }
}
