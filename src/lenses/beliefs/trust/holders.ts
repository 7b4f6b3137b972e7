/** One viewer's trust in all agents, for one question at one moment (BQ-080). Immutable. */
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

/** Values by position of the holder in a given list, computed when first asked for. */
export interface HolderColumns {
  /** The viewer's own edge to the holder as it counts for ranking; NaN: there is none. For the viewer itself 1. */
  readonly direct: Float64Array
  /** Overall reputation of the holder; NaN: none. */
  readonly reputation: Float64Array
  /** Direct trust and reputation for a target that stands for others, such as a federation as a whole. */
  named(name: string): { readonly direct: number; readonly reputation: number }
}

/** First hops, or routes, with a lower level do not count as sources (BQ-075). */
const MIN_LEVEL = 0.01
const NEW_AGENT_CAP = 0.3
const DIRECT_BYTES = 200
const SELF: TrustIn = {
  ...{ value: 1, kind: 'self', direct: null, transitive: null, reputation: null, distrusted: false },
}

export class HolderTrust {
  readonly #moment: Omit<TrustAsked, 'look'>
  readonly #routes: Routes
  /** Trust by the viewer's own edges, by target. */
  readonly own: ReadonlyMap<string, DirectTrust>
  /** By position of the first hop: the factor with which its routes start. */
  readonly #starts: Float64Array
  /**
   * Number of disjoint routes by number of the agent, for agents that can be reached; null: the rule is not `disjoint`, and sources are
   * first hops.
   */
  readonly #disjoint: ReadonlyMap<number, number> | null

  /** Takes as long as reading the viewer's own edges; with the rule `disjoint`, longer. */
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

  /** What `of` has as the value, by number of the holder in this list: for the many that are ranked. */
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
   * Agents for which trust differs between this and another result for the same viewer, question and moment. Differences of reputations
   * count too.
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

  /** Estimated size, without the parts shared with the results for other moments. */
  get byteLength(): number {
    return this.own.size * DIRECT_BYTES
  }

  /** Trust in whoever a belief is shown to come from. For a member of a federation, only the band of trust counts (BQ-104). */
  as({ target, member }: TrustedAs): TrustIn {
    return member === null ? this.of(target) : this.#ofMember(member, this.of(target).reputation)
  }

  /** `reputation`: that of the federation, which replaces the member's (BQ-081). Distrust counts like low trust. */
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

  /** Trust by the viewer's own edge. 1 for the viewer itself; NaN: there is no edge. */
  #directIn(holder: string): number {
    return holder === this.#moment.viewer ? 1 : (this.own.get(holder)?.value ?? Number.NaN)
  }

  /** Overall reputation of the holder; NaN: none. */
  #reputationOf(holder: string): number {
    return this.#moment.agents.get(holder)?.reputation ?? Number.NaN
  }

  /** All numbers on which trust in an agent, and the filters on it, depend. Trust in oneself depends on no edge. */
  #basisOf(name: string): readonly number[] {
    const overall = this.#reputationOf(name)
    const { agents, viewer, question } = this.#moment
    if (name === viewer) return [overall]
    const floor = floorOf(reputationFor(agents.get(name), question.domains))
    return [overall, this.#directIn(name), this.#levelOf(this.#moment.edges.numberOf(name)), floor]
  }

  /** Level of transitive trust; 0: there is no route. */
  #levelOf(agent: number): number {
    return this.#transitive(agent)?.level ?? 0
  }

  /** Transitive trust: the level of the best route, lowered if there are too few sources or the agent is too new (BQ-075, BQ-076). */
  #transitive(agent: number): TransitiveTrust | null {
    const { level, firsts } = this.#bestOf(agent)
    if (level === 0) return null
    const { rules, edges } = this.#moment
    const sources = this.#disjoint?.get(agent) ?? firsts
    const isYoung = isNew(this.#moment, edges.names[agent] as string)
    const cap = Math.min(sources < rules.sybilThreshold ? rules.sybilCap : 1, isYoung ? NEW_AGENT_CAP : 1)
    return level <= cap ? { level, sources, capped: false } : { level: cap, sources, capped: true }
  }

  /** The best level of all routes to an agent, and the number of first hops with a level that counts. */
  #bestOf(agent: number): { readonly level: number; readonly firsts: number } {
    const { begins, hops, levels } = this.#routes
    // Agents added since the search have no route. -1 is no agent.
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

  /** Factor with which routes through this first hop start. */
  #startAt(first: string): number {
    return (this.own.get(first)?.decayed ?? 0) * this.#moment.question.damping
  }

  #countDisjoint(asked: TrustAsked): ReadonlyMap<number, number> {
    const { names } = asked.edges
    const world = routeWorld(asked, this.#routes, first => this.#startAt(names[first] as string), MIN_LEVEL)
    const counts = new Map<number, number>()
    for (const agent of names.keys()) {
      // Routes without a common agent begin with different first hops, so there are at most as many as first hops.
      const wanted = Math.min(this.#bestOf(agent).firsts, asked.rules.sybilThreshold)
      if (wanted === 0) continue
      if (wanted >= 2) asked.look?.()
      counts.set(agent, wanted < 2 ? wanted : disjointRoutes(world, agent, wanted))
    }
    return counts
  }

  /** Of equal values, the kind is chosen that reveals less about other agents. */
  #indirect(level: number, reputation: number | null): { readonly value: number; readonly kind: TrustKind } {
    const floor = floorOf(reputation)
    const stranger = this.#moment.rules.defaultTrust
    if (level > floor && level > stranger) return { value: level, kind: 'transitive' }
    return floor > stranger ? { value: floor, kind: 'reputation' } : { value: stranger, kind: 'default' }
  }
}

interface KnownHolder {
  /** Number among the edges; -1: none. */
  readonly agent: number
  readonly facts: AgentFacts | undefined
}

interface KnownHolders extends Pick<TrustAsked, 'agents' | 'edges'> {
  readonly byNumber: (KnownHolder | undefined)[]
}

/** By list of holders: looking up thousands of names takes longer than their trust. */
const KNOWN = new WeakMap<readonly string[], KnownHolders>()

function knownIn(
  holders: readonly string[],
  agents: TrustAsked['agents'],
  edges: TrustAsked['edges'],
): (holder: number) => KnownHolder {
  let known = KNOWN.get(holders)
  if (known?.agents !== agents || known.edges !== edges) {
    known = { agents, edges, byNumber: [] }
    KNOWN.set(holders, known)
  }
  const { byNumber } = known
  return holder => {
    const before = byNumber[holder]
    // Its first edge gives an agent a number.
    if (before !== undefined && before.agent !== -1) return before
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
