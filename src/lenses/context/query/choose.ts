/** Which anchors an answer has room for beside their neighbours (CX-023). */
import type { Anchor } from './anchors.ts'
import { type Graph, type Neighbour, neighbours, reachable } from './expand.ts'
import type { ContextRequest } from './request.ts'

/** Share of the limit that anchors may take while neighbours fill the rest. */
const ANCHOR_SHARE = 0.6

export interface Chosen {
  readonly anchors: readonly Anchor[]
  readonly neighbours: readonly Neighbour[]
}

/**
 * `ordered`: best first. Those that `isFixed` are never displaced. The others stop at their share of the limit, and go on
 * as far as neighbours leave room; each further anchor may bring neighbours of its own, so they are looked for anew.
 */
export function choose(
  graph: Graph,
  ordered: readonly Anchor[],
  isFixed: (anchor: Anchor) => boolean,
  request: Pick<ContextRequest, 'limit' | 'depth' | 'rank'>,
): Chosen {
  const { limit, depth } = request
  const all = ordered.slice(0, limit)
  const fixed = all.filter(isFixed).length
  const others = all.length - fixed
  const share = depth === 0 ? limit : Math.ceil(ANCHOR_SHARE * limit)
  for (let taken = Math.max(0, Math.min(others, share - fixed)); ; taken++) {
    const anchors = firstOf(all, isFixed, taken)
    const room = limit - anchors.length
    if (taken < others && reachable(graph, anchors, room, depth) < room) continue
    return { anchors, neighbours: neighbours(graph, anchors, room, request) }
  }
}

function firstOf(all: readonly Anchor[], isFixed: (anchor: Anchor) => boolean, others: number): readonly Anchor[] {
  let taken = 0
  return all.filter(anchor => isFixed(anchor) || taken++ < others)
}
