/**
 * How many routes to an agent share nobody on the way (BQ-076, `sybil_rule: disjoint`): stricter than counting first hops,
 * behind which one and the same agent may stand. Looked for backwards from the agent, one route after the other, with
 * another choice where that leads nowhere.
 */
import { barredFor, eachLink, type Routes, type TrustAsked } from './routes.ts'

/** Agents looked at for one agent at most. With routes so entangled, those found until then count: the level stays capped. */
const MOST_STEPS = 20_000

/** An edge that counts: whose it is and, as a factor, what it counts with damping. */
interface LinkInto {
  readonly from: string
  readonly factor: number
}

export interface RouteWorld {
  /** By the agent that they lead to. */
  readonly into: ReadonlyMap<string, readonly LinkInto[]>
  /** What the viewer's own edge to an agent gives with damping; 0: no route begins there. */
  own(agent: string): number
  readonly maxHops: number
  /** What a route must be worth. */
  readonly least: number
}

/** The edges that the search looked at, from where they end. */
export function routeWorld(
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

/** At most `wanted`. */
export function disjointRoutes(world: RouteWorld, target: string, wanted: number): number {
  let steps = 0
  let most = 0
  const used = new Set<string>([target])

  /** Whether the wanted number is reached with one more route that ends `from` → … → target. */
  function extend(agent: string, worth: number, edges: number, path: readonly string[], found: number): boolean {
    for (const { from, factor } of world.into.get(agent) ?? []) {
      if (steps++ > MOST_STEPS) return false
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
