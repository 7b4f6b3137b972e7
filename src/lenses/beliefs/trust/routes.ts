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
import { doubled } from '../../../base/columns.ts'
import { OWNER } from '../../../model/partition.ts'
import { DAY_MS } from '../measures/decay.ts'
import type { AgentFacts } from './agent-facts.ts'
import { baseOf, type CountedEdge, type EdgesByOwner, tenthsIn } from './edge.ts'
import type { TrustQuestion, TrustRules } from './trust-in.ts'

/** How long an agent is new: routes through it are worth half, where the settings say so (BQ-076). */
const NEW_AGENT_MS = 30 * DAY_MS
const THROUGH_NEW = 0.5
/** Edges that are followed between two looks: some milliseconds' work. */
export const EDGES_AT_ONCE = 50_000
/** A label this much worse than one of fewer edges is of no use; one nearer may differ by rounding alone. */
const CLEARLY = 1 - 1e-12
/** Of a name in a map, near enough. */
const BYTES_A_NAME = 60

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

interface RoutesOfHop {
  readonly first: string
  /** By place of the agent: what the best route from the first hop is worth without the viewer's own edge; 0: there is none. */
  readonly worths: Float64Array
}

export interface Routes {
  /** Of each agent that some route may reach; it may lie beyond the end of `worths`. */
  readonly places: ReadonlyMap<string, number>
  readonly hops: readonly RoutesOfHop[]
  /** Whose edges were looked at. */
  readonly expanded: ReadonlySet<string>
  /** The first instant at which some edge that was looked at may count otherwise. */
  readonly until: Instant
  readonly byteLength: number
}

export function searchRoutes(asked: TrustAsked): Routes {
  const walk = new Walk(asked)
  const own = asked.edges.get(asked.viewer) ?? new Map<string, CountedEdge>()
  const firsts = [...own].filter(([, edge]) => baseOf(edge, asked.question) > 0).map(([target]) => target)
  const hops = asked.question.maxHops < 2 ? [] : firsts.map(first => walk.from(first))
  const until = Math.min(walk.until, Math.max(agesHoldUntil(asked), asked.asOf + 1))
  const { expanded, places } = walk
  const worthBytes = hops.reduce((sum, { worths }) => sum + worths.byteLength, 0)
  return { places, hops, expanded, until, byteLength: worthBytes + BYTES_A_NAME * (places.size + expanded.size) }
}

/** Agents that a walk has room for at first. */
const FIRST_ROOM = 1_024

/** Walks from one first hop after the other over the same edges. Agents and edges are numbered as they are met, in arrays. */
class Walk {
  until: Instant = Number.POSITIVE_INFINITY
  readonly expanded = new Set<string>()
  readonly places = new Map<string, number>()
  readonly #asked: TrustAsked
  readonly #barred: ReadonlySet<string>
  /** By place. */
  readonly #agents: string[] = []
  /** Links of a place are those from `begins` to `ends`; -1: its edges were not looked at yet. */
  #begins = new Int32Array(FIRST_ROOM)
  #ends = new Int32Array(FIRST_ROOM)
  /** Labels of this number of edges, and of one more; the best worth so far. 0: not reached. */
  #labels = new Float64Array(FIRST_ROOM)
  #longer = new Float64Array(FIRST_ROOM)
  #best = new Float64Array(FIRST_ROOM)
  /** By link: place that it leads to, and tenths. */
  readonly #targets: number[] = []
  readonly #tenths: number[] = []
  /** Since the last look. */
  #followed = 0

  constructor(asked: TrustAsked) {
    this.#asked = asked
    this.#barred = barredFor(asked)
  }

  from(agent: string): RoutesOfHop {
    const { maxHops, damping } = this.#asked.question
    const first = this.#placeOf(agent)
    const reached: number[] = []
    let frontier: readonly number[] = [first]
    this.#labels[first] = 1
    let scale = 1
    for (let edges = 1; edges < maxHops; edges++) {
      scale *= damping / 10
      frontier = this.#takeOver(this.#step(frontier, first), scale, reached)
    }
    const worths = new Float64Array(this.places.size)
    for (const place of reached) {
      worths[place] = this.#best[place] as number
      this.#best[place] = 0
    }
    return { first: agent, worths }
  }

  /** Places that have a label of one edge more. */
  #step(frontier: readonly number[], first: number): readonly number[] {
    for (const place of frontier) if (this.#begins[place] === -1) this.#meetLinks(place)
    const [labels, longer, targets, tenths] = [this.#labels, this.#longer, this.#targets, this.#tenths]
    const met: number[] = []
    for (const place of frontier) {
      const [begin, end] = [this.#begins[place] as number, this.#ends[place] as number]
      this.#lookAfter(end - begin)
      const label = labels[place] as number
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

  #lookAfter(edges: number): void {
    this.#followed += edges
    if (this.#followed < EDGES_AT_ONCE) return
    this.#followed = 0
    this.#asked.look?.()
  }

  /** Takes the new labels over; those worth going on from. */
  #takeOver(met: readonly number[], scale: number, reached: number[]): readonly number[] {
    const [labels, longer, bests] = [this.#labels, this.#longer, this.#best]
    return met.filter(place => {
      const label = longer[place] as number
      const best = bests[place] as number
      const worth = label * scale
      labels[place] = label
      longer[place] = 0
      if (best === 0) reached.push(place)
      if (worth > best) bests[place] = worth
      return worth > best * CLEARLY
    })
  }

  #meetLinks(place: number): void {
    const agent = this.#agents[place] as string
    this.expanded.add(agent)
    this.#begins[place] = this.#targets.length
    eachLink(this.#asked, agent, this.#barred, (target, tenths, until) => {
      if (until < this.until) this.until = until
      if (tenths === 0) return
      this.#targets.push(this.#placeOf(target))
      this.#tenths.push(tenths)
    })
    this.#ends[place] = this.#targets.length
  }

  #placeOf(agent: string): number {
    const known = this.places.get(agent)
    if (known !== undefined) return known
    const made = this.#agents.push(agent) - 1
    this.places.set(agent, made)
    if (made === this.#begins.length) this.#makeRoom()
    this.#begins[made] = -1
    return made
  }

  #makeRoom(): void {
    const room = 2 * this.#begins.length
    this.#begins = doubled(this.#begins, room)
    this.#ends = doubled(this.#ends, room)
    this.#labels = doubled(this.#labels, room)
    this.#longer = doubled(this.#longer, room)
    this.#best = doubled(this.#best, room)
  }
}

/** Nobody distrusted vouches or relays, and no route leads back to the viewer. */
export function barredFor({ edges, viewer, question }: TrustAsked): ReadonlySet<string> {
  const barred = new Set([viewer])
  for (const [target, edge] of edges.get(viewer) ?? []) if (baseOf(edge, question) === 0) barred.add(target)
  return barred
}

/**
 * Somebody else's edges as far as they may count. `tenths`: 0 to 10, half of that through a new agent; `until`: how long it counts so
 * many.
 */
export function eachLink(
  asked: TrustAsked,
  owner: string,
  barred: ReadonlySet<string>,
  use: (target: string, tenths: number, until: Instant) => void,
): void {
  const isHere = isHosted(asked, owner)
  const share = isNew(asked, owner) ? THROUGH_NEW : 1
  asked.edges.get(owner)?.forEach((edge, target) => {
    if (barred.has(target) || !(isHere || edge.isExposed)) return
    const { tenths, until } = tenthsIn(edge, asked.question, asked.asOf)
    use(target, tenths * share, until)
  })
}

function isHosted({ agents }: TrustMoment, agent: string): boolean {
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

/** Together; what was asked for longest ago goes first. */
const MAX_BYTES = 64 * 2 ** 20
const BYTES_EACH = 500
/** Counts that are kept of what was lost. */
const MAX_LOSSES = 10_000

type RoutesAsked = Omit<TrustAsked, 'look'>

interface Kept {
  /** As of the latest moment at which they were made: good from here on, and before `until`. */
  readonly asked: RoutesAsked
  readonly routes: Routes
  until: Instant
}

/**
 * Routes by viewer and question, kept for as long as every edge that they were made from counts what it counted: until
 * an edge that was looked at counts another number of tenths, by a change or by decay. What was made from other edges, and
 * edges that changed within their tenth (as every use does), cost nothing.
 */
export class KeptRoutes {
  /** Least recently used first. */
  readonly #kept = new Map<string, Kept>()
  #bytes = 0
  #found = 0
  #made = 0
  /** By key: how often routes were lost to anything but time. */
  readonly #losses = new Map<string, number>()
  /** How often that was forgotten. */
  #epoch = 0

  get byteLength(): number {
    return this.#bytes
  }

  get searches(): { readonly kept: number; readonly made: number } {
    return { kept: this.#found, made: this.#made }
  }

  get({ look: _, ...asked }: TrustAsked, search: () => Routes): Routes {
    const key = keyOf(asked)
    const known = this.#kept.get(key)
    if (known !== undefined && known.asked.asOf <= asked.asOf && asked.asOf < known.until) {
      this.#found++
      this.#kept.delete(key)
      this.#kept.set(key, known)
      return known.routes
    }
    this.#made++
    const routes = search()
    // Changes are compared as of the moment that routes are kept for: those of an earlier moment must not replace the newest.
    if (known !== undefined && asked.asOf < known.asked.asOf) return routes
    this.#drop(key)
    this.#kept.set(key, { asked, routes, until: routes.until })
    this.#bytes += bytesOf(routes)
    for (const oldest of this.#kept.keys()) {
      if (this.#bytes <= MAX_BYTES) break
      this.#lose(oldest)
    }
    return routes
  }

  /**
   * Changes when routes that were kept may no longer be what a search would find, for another reason than time. While it
   * stays the same, so do they.
   */
  mark(asked: Pick<TrustAsked, 'viewer' | 'question'>): string {
    return `${this.#epoch}.${this.#losses.get(keyOf(asked)) ?? 0}`
  }

  /** Makes a change to an edge, and drops the routes that it may change. */
  edgeChanges(owner: string, target: string, change: () => void): void {
    const touched = [...this.#kept].filter(
      ([, { asked, routes }]) => asked.viewer === owner || routes.expanded.has(owner),
    )
    const before = touched.map(([, { asked }]) => countOf(asked, owner, target))
    change()
    for (const [at, [key, kept]] of touched.entries()) {
      const after = countOf(kept.asked, owner, target)
      if (after.count !== before[at]?.count) this.#lose(key)
      else kept.until = Math.min(kept.until, after.until)
    }
  }

  /** Agents that came or went take their edges with them; `all`: ages matter too. */
  agentsChanged(agents: readonly string[], all: boolean): void {
    for (const [key, { routes }] of this.#kept) {
      if (all || agents.some(agent => routes.expanded.has(agent))) this.#lose(key)
    }
  }

  clear(): void {
    this.#kept.clear()
    this.#bytes = 0
    this.#losses.clear()
    this.#epoch++
  }

  #lose(key: string): void {
    if (this.#losses.size >= MAX_LOSSES && !this.#losses.has(key)) {
      this.#losses.clear()
      this.#epoch++
    }
    this.#losses.set(key, (this.#losses.get(key) ?? 0) + 1)
    this.#drop(key)
  }

  #drop(key: string): void {
    const known = this.#kept.get(key)
    if (known === undefined) return
    this.#bytes -= bytesOf(known.routes)
    this.#kept.delete(key)
  }
}

/**
 * What an edge counts for these routes: of others its tenths, with the moment until which; of the viewer itself only
 * whether a route may begin there, since it is weighed again each time. -1: there is no such edge.
 */
function countOf(
  asked: RoutesAsked,
  owner: string,
  target: string,
): { readonly count: number; readonly until: Instant } {
  const until = Number.POSITIVE_INFINITY
  const { viewer, question, asOf } = asked
  const edge = asked.edges.get(owner)?.get(target)
  if (edge === undefined) return { count: owner === viewer ? -1 : 0, until }
  if (owner === viewer) return { count: baseOf(edge, question) > 0 ? 1 : 0, until }
  if (!isHosted(asked, owner) && !edge.isExposed) return { count: 0, until }
  const { tenths, until: holds } = tenthsIn(edge, question, asOf)
  return { count: tenths, until: holds }
}

function keyOf({ viewer, question }: Pick<TrustAsked, 'viewer' | 'question'>): string {
  const { domains, domainTrustWeight, maxHops, damping } = question
  return JSON.stringify([viewer, domains, domainTrustWeight, maxHops, damping])
}

function bytesOf(routes: Routes): number {
  return BYTES_EACH + routes.byteLength
}
