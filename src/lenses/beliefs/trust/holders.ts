/** What one viewer's trust in others comes to, for one question at one moment (BQ-080). Never changes once made. */
import type { Instant } from '../../../base/clock.ts'
import { nearestEntry } from '../measures/domains.ts'
import { floorOf, reputationFor } from './agent-facts.ts'
import { baseOf, type CountedEdge, daysSince, faded, lastUsedBefore } from './edge.ts'
import { barredFor, eachLink, isNew, type Routes, type TrustAsked, type TrustMoment } from './routes.ts'
import {
  type DirectTrust,
  federationTarget,
  middleOfBand,
  type TransitiveTrust,
  type TrustedAs,
  type TrustIn,
  type TrustKind,
} from './trust-in.ts'

/** Agents looked at for one agent at most. With routes so entangled, those found until then count: the level stays capped. */
const MAX_STEPS = 20_000

/** An edge that counts: whose it is and, as a factor, what it counts with damping. */
interface LinkInto {
  readonly from: string
  readonly factor: number
}

interface RouteWorld {
  /** By the agent that they lead to. */
  readonly into: ReadonlyMap<string, readonly LinkInto[]>
  /** What the viewer's own edge to an agent gives with damping; 0: no route begins there. */
  own(agent: string): number
  readonly maxHops: number
  /** What a route must be worth. */
  readonly least: number
}

/** The edges that the search looked at, from where they end. */
function routeWorld(
  asked: TrustAsked,
  { expanded }: Routes,
  own: (agent: string) => number,
  least: number,
): RouteWorld {
  const barred = barredFor(asked)
  const into = new Map<string, LinkInto[]>()
  // In an order that does not tell which edge was written first.
  for (const from of [...expanded].sort()) {
    eachLink(asked, from, barred, (target, tenths) => {
      if (tenths === 0) return
      const links = into.get(target) ?? []
      into.set(target, links)
      links.push({ from, factor: tenths * (asked.question.damping / 10) })
    })
  }
  return { into, own, maxHops: asked.question.maxHops, least }
}

/**
 * How many routes to an agent share nobody on the way, at most `wanted` (BQ-076, `sybil_rule: disjoint`): stricter than
 * counting first hops, behind which there may be one and the same agent. Searched backwards from the agent, one route after
 * the other, with another choice where that leads nowhere.
 */
function disjointRoutes(world: RouteWorld, target: string, wanted: number): number {
  let steps = 0
  let most = 0
  const used = new Set<string>([target])

  /** Whether the wanted number is reached with one more route that ends `from` → … → target. */
  function extend(agent: string, worth: number, edges: number, path: readonly string[], found: number): boolean {
    for (const { from, factor } of world.into.get(agent) ?? []) {
      if (steps++ > MAX_STEPS) return false
      if (used.has(from) || path.includes(from)) continue
      const reached = worth * factor
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

  function complete(path: readonly string[], found: number): boolean {
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

/** By number of the holder in the list asked for; made when they are first asked for. */
export interface HolderColumns {
  /** The viewer's own edge as ranking counts it; NaN: there is none. Of itself 1. */
  readonly direct: Float64Array
  /** Overall; NaN: none. */
  readonly reputation: Float64Array
  /** Of one that may stand for others, such as a federation as a whole. */
  named(name: string): { readonly direct: number; readonly reputation: number }
}

/** First hops (or routes) worth less are not counted as sources (BQ-075). */
const MIN_WORTH = 0.01
const NEW_AGENT_CAP = 0.3
const DIRECT_BYTES = 200
const SELF: TrustIn = {
  ...{ value: 1, kind: 'self', direct: null, transitive: null, reputation: null, distrusted: false },
}

export class HolderTrust {
  readonly #moment: TrustMoment
  readonly #routes: Routes
  /** The viewer's own edges, by target. */
  readonly own: ReadonlyMap<string, DirectTrust>
  /** By agent; null: sources are first hops, which are counted when somebody asks. */
  readonly #disjoint: ReadonlyMap<string, number> | null

  /** Costs what the viewer's own edges cost to read, but for the rule `disjoint`. */
  constructor(asked: TrustAsked, routes: Routes) {
    const { agents, rules, viewer, question, asOf } = asked
    this.#moment = { agents, rules, viewer, question, asOf }
    this.#routes = routes
    const edges = [...(asked.edges.get(viewer) ?? [])]
    this.own = new Map(edges.map(([target, edge]) => [target, directTrust(edge, asked)]))
    this.#disjoint = rules.sybilRule === 'disjoint' ? this.#countDisjoint(asked) : null
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
    const transitive = this.#transitive(holder)
    return { ...this.#indirect(transitive?.level ?? 0, reputation), direct, transitive, reputation, distrusted: false }
  }

  /** Until then nothing but the viewer's own edges changes with time alone, and these only fade. */
  get holdsUntil(): Instant {
    return this.#routes.until
  }

  /** Who counts otherwise in another one, made for the same viewer, question and moment: reputations are compared too. */
  differences(other: HolderTrust): readonly string[] {
    const names = new Set([this, other].flatMap(one => [...one.#routes.places.keys(), ...one.own.keys()]))
    const [mine, its] = [this.#moment.agents, other.#moment.agents]
    if (mine !== its) for (const known of [mine, its]) for (const agent of known.keys()) names.add(agent)
    return [...names].filter(name => {
      const basis = other.#basisOf(name)
      return !this.#basisOf(name).every((part, at) => Object.is(part, basis[at]))
    })
  }

  /** Near enough: of what is not shared with the trust of other moments. */
  get byteLength(): number {
    return this.own.size * DIRECT_BYTES
  }

  /** In a federation as a whole (BQ-104): the viewer's edge to it, else its reputation. */
  ofFederation(id: string): TrustIn {
    return this.of(federationTarget(id))
  }

  /** Of whom a belief is shown to come: of a member of a federation no more than the band of trust counts (BQ-104). */
  as({ target, member }: TrustedAs): TrustIn {
    return member === null ? this.of(target) : this.#ofMember(member, this.of(target).reputation)
  }

  /** `reputation`: of the federation, in place of the member's (BQ-081). Distrust counts as little trust does. */
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

  /** 1 in oneself; NaN: there is no edge. */
  #directIn(holder: string): number {
    return holder === this.#moment.viewer ? 1 : (this.own.get(holder)?.value ?? Number.NaN)
  }

  /** Overall; NaN: none. */
  #reputationOf(holder: string): number {
    return this.#moment.agents.get(holder)?.reputation ?? Number.NaN
  }

  /** What trust in an agent, and what filters ask of it, rest on. Trust in oneself rests on nothing. */
  #basisOf(name: string): readonly number[] {
    const overall = this.#reputationOf(name)
    const { agents, viewer, question } = this.#moment
    if (name === viewer) return [overall]
    const floor = floorOf(reputationFor(agents.get(name), question.domains))
    return [overall, this.#directIn(name), this.#transitive(name)?.level ?? 0, floor]
  }

  /** By the best route, which too few sources and too new an agent lower (BQ-075, BQ-076). */
  #transitive(holder: string): TransitiveTrust | null {
    const { sybilThreshold, sybilCap } = this.#moment.rules
    const { level, firsts } = this.#bestOf(holder)
    if (level === 0) return null
    const sources = this.#disjoint?.get(holder) ?? firsts
    const cap = Math.min(sources < sybilThreshold ? sybilCap : 1, isNew(this.#moment, holder) ? NEW_AGENT_CAP : 1)
    return level <= cap ? { level, sources, capped: false } : { level: cap, sources, capped: true }
  }

  /** The best level of any route, and how many first hops have one that counts. */
  #bestOf(agent: string): { readonly level: number; readonly firsts: number } {
    let level = 0
    let firsts = 0
    const place = this.#routes.places.get(agent)
    if (place === undefined) return { level, firsts }
    for (const { first, worths } of this.#routes.hops) {
      const worth = this.#startAt(first) * (worths[place] ?? 0)
      if (worth > level) level = worth
      if (worth >= MIN_WORTH) firsts++
    }
    return { level, firsts }
  }

  /** What routes that begin with this agent start with. */
  #startAt(first: string): number {
    return (this.own.get(first)?.decayed ?? 0) * this.#moment.question.damping
  }

  #countDisjoint(asked: TrustAsked): ReadonlyMap<string, number> {
    const world = routeWorld(asked, this.#routes, first => this.#startAt(first), MIN_WORTH)
    const counts = new Map<string, number>()
    for (const agent of this.#routes.places.keys()) {
      // Routes that share nobody begin with different first hops: of these there are never fewer.
      const wanted = Math.min(this.#bestOf(agent).firsts, asked.rules.sybilThreshold)
      if (wanted >= 2) asked.look?.()
      counts.set(agent, wanted < 2 ? wanted : disjointRoutes(world, agent, wanted))
    }
    return counts
  }

  /** Equal ones count as the kind that tells less of others. */
  #indirect(level: number, reputation: number | null): { readonly value: number; readonly kind: TrustKind } {
    const floor = floorOf(reputation)
    const stranger = this.#moment.rules.defaultTrust
    if (level > floor && level > stranger) return { value: level, kind: 'transitive' }
    return floor > stranger ? { value: floor, kind: 'reputation' } : { value: stranger, kind: 'default' }
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
