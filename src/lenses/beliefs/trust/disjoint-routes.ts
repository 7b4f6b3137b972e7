/**
 * How many routes to an agent share nobody on the way (BQ-076, `sybil_rule: disjoint`): stricter than counting first hops,
 * behind which one and the same agent may stand. Looked for backwards from the agent, one route after the other, with
 * another choice where that leads nowhere.
 */
import type { AgentArrays } from './agent-arrays.ts'

/** Agents looked at for one agent at most. With routes so entangled, those found until then count: the level stays capped. */
const MOST_STEPS = 20_000

export interface RouteWorld {
  readonly agents: AgentArrays
  /** Edges into an agent that count: their owners and, as a factor, what they count with damping. */
  into(agent: number): readonly { readonly from: number; readonly factor: number }[]
  /** What the viewer's own edge to an agent gives with damping; 0: no route begins there. */
  own(agent: number): number
  readonly maxHops: number
  /** What a route must be worth. */
  readonly least: number
}

/** At most `wanted`. */
export function disjointRoutes(world: RouteWorld, target: number, wanted: number): number {
  let steps = 0
  let most = 0
  const used = new Set<number>([target])

  /** Whether the wanted number is reached with one more route that ends `from` → … → target. */
  function extend(agent: number, worth: number, edges: number, path: readonly number[], found: number): boolean {
    for (const { from, factor } of world.into(agent)) {
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
