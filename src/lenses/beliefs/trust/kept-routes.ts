/**
 * Routes by viewer and question, kept for as long as every edge that they were made from counts what it counted: until
 * an edge that was looked at counts another number of tenths, by a change or by decay. What was made from other edges, and
 * edges that changed within their tenth (as every use does), cost nothing.
 */
import type { Instant } from '../../../base/clock.ts'
import { baseOf, tenthsIn } from './counted-edge.ts'
import { isHosted, type Routes, type TrustAsked } from './routes.ts'

/** Together; what was asked for longest ago goes first. */
const MOST_BYTES = 64 * 2 ** 20
const BYTES_EACH = 500
/** Counts that are kept of what was lost. */
const MOST_LOSSES = 10_000

type RoutesAsked = Omit<TrustAsked, 'look'>

interface Kept {
  /** As of the latest moment at which they were made: good from here on, and before `until`. */
  readonly asked: RoutesAsked
  readonly routes: Routes
  until: Instant
}

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
    this.#drop(key)
    this.#kept.set(key, { asked, routes, until: routes.until })
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
