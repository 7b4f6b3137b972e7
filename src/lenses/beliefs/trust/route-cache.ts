/**
 * Routes by viewer and question, kept for as long as every edge that they were made from counts what it counted: until
 * an edge that was looked at counts another number of tenths, by a change or by decay. What was made from other edges, and
 * edges that changed within their tenth (as every use does), cost nothing.
 */
import type { Instant } from '../../../base/clock.ts'
import type { AgentArrays } from './agent-arrays.ts'
import type { EdgeArrays } from './edge-arrays.ts'
import { ResolvedEdges, type TrustQuestion } from './resolved-edges.ts'
import type { Routes } from './routes.ts'

/** Together; what was asked for longest ago goes first. */
const MOST_BYTES = 64 * 2 ** 20
const BYTES_EACH = 500
/** Counts that are kept of what was lost. */
const MOST_LOSSES = 10_000

interface Kept {
  readonly viewer: number
  readonly question: TrustQuestion
  readonly routes: Routes
  /** Good from here on: the latest moment it was asked for, or made. */
  from: Instant
  /** And before this. */
  until: Instant
}

export class RouteCache {
  /** Least recently used first. */
  readonly #kept = new Map<string, Kept>()
  #bytes = 0
  #found = 0
  /** By key: how often routes were lost to anything but time. */
  readonly #losses = new Map<string, number>()
  /** How often that was forgotten. */
  #epoch = 0
  #made = 0

  get byteLength(): number {
    return this.#bytes
  }

  get searches(): { readonly kept: number; readonly made: number } {
    return { kept: this.#found, made: this.#made }
  }

  get(viewer: number, question: TrustQuestion, asOf: Instant, search: () => Routes): Routes {
    const key = keyOf(viewer, question)
    const known = this.#kept.get(key)
    if (known !== undefined && known.from <= asOf && asOf < known.until) {
      this.#found++
      this.#kept.delete(key)
      this.#kept.set(key, known)
      return known.routes
    }
    this.#made++
    const routes = search()
    this.#drop(key)
    this.#kept.set(key, { viewer, question, routes, from: asOf, until: routes.until })
    this.#bytes += bytesOf(routes)
    for (const oldest of this.#kept.keys()) {
      if (this.#bytes <= MOST_BYTES) break
      this.#lose(oldest)
    }
    return routes
  }

  /**
   * Changes when routes that were kept may no longer be what a search would find, for another reason than time. While it
   * stays the same, so do they.
   */
  mark(viewer: number, question: TrustQuestion): string {
    return `${this.#epoch}.${this.#losses.get(keyOf(viewer, question)) ?? 0}`
  }

  /** Makes a change to an edge, and drops the routes that it may change. */
  edgeChanges(from: number, to: number, agents: AgentArrays, edges: EdgeArrays, change: () => void): void {
    const touched = [...this.#kept].filter(([, { viewer, routes }]) => viewer === from || routes.expanded.has(from))
    const before = touched.map(([, kept]) => countOf(kept, from, to, agents, edges))
    change()
    for (const [at, [key, kept]] of touched.entries()) {
      const after = countOf(kept, from, to, agents, edges)
      if (after.count !== before[at]?.count) this.#lose(key)
      else kept.until = Math.min(kept.until, after.until)
    }
  }

  /** Agents that came or went take their edges with them; `all`: ages matter too. */
  agentsChanged(agents: ReadonlySet<number>, all: boolean): void {
    for (const [key, { routes }] of this.#kept) {
      if (all || [...agents].some(agent => routes.expanded.has(agent))) this.#lose(key)
    }
  }

  clear(): void {
    this.#kept.clear()
    this.#bytes = 0
    this.#losses.clear()
    this.#epoch++
  }

  #lose(key: string): void {
    if (this.#losses.size >= MOST_LOSSES && !this.#losses.has(key)) {
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
 * whether a route may begin there, since it is weighed anew each time. -1: there is no such edge.
 */
function countOf(
  { viewer, question, from: asOf }: Kept,
  from: number,
  to: number,
  agents: AgentArrays,
  edges: EdgeArrays,
): { readonly count: number; readonly until: Instant } {
  const forever = Number.POSITIVE_INFINITY
  const slot = edges.slotOf(from, to)
  if (slot < 0) return { count: from === viewer ? -1 : 0, until: forever }
  const resolved = new ResolvedEdges(edges, question)
  if (from === viewer) return { count: resolved.base(slot) > 0 ? 1 : 0, until: forever }
  if (!agents.isHosted(from) && !edges.isExposed(slot)) return { count: 0, until: forever }
  const tenths = resolved.tenths(slot, asOf)
  return { count: tenths, until: resolved.tenthsHoldUntil(slot, asOf, tenths) }
}

function keyOf(viewer: number, { domains, domainTrustWeight, maxHops, damping }: TrustQuestion): string {
  return JSON.stringify([viewer, domains, domainTrustWeight, maxHops, damping])
}

function bytesOf(routes: Routes): number {
  return BYTES_EACH + routes.byteLength
}
