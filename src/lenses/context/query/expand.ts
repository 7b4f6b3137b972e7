/**
 * From anchors along links to their neighbours: in the order they are reached, or by what they are worth (CX-026 to CX-029); and
 * which anchors an answer has room for beside them (CX-023).
 */
import type { Link, LinkIndex, SearchScope } from '../../../index/contract.ts'
import type { Concept, VisibleConcepts } from '../concepts.ts'
import type { Anchor } from './anchors.ts'
import type { ContextQuestion } from './request.ts'

export interface Neighbour {
  readonly concept: Concept
  readonly hops: number
  /** The concept it was reached from. */
  readonly via: Concept
  /** What it is ranked by; null in the order of reaching. */
  readonly score: number | null
}

export interface Graph {
  readonly links: LinkIndex
  readonly scope: SearchScope
  readonly concepts: VisibleConcepts
}

/** What a hop takes from a score. */
const DECAY = 0.5
/** Of an anchor in a walk: there is none without. */
const LEAST_WEIGHT = 0.01
/** Of a walk: chance to go on, and steps at most beyond the depth. */
const DAMPING = 0.5
const STEPS_BEYOND = 2

/** At most `room` neighbours of the anchors. */
function neighbours(
  graph: Graph,
  anchors: readonly Anchor[],
  room: number,
  { depth, rank }: Pick<ContextQuestion, 'depth' | 'rank'>,
): readonly Neighbour[] {
  if (room <= 0 || depth === 0 || anchors.length === 0) return []
  if (rank === 'breadth') return reached(graph, anchors, room, depth)
  const all = scored(graph, anchors, depth)
  const order = rank === 'weighted' ? all : byCloseness(graph, anchors, all, depth)
  return order
    .sort((a, b) => (b.score ?? 0) - (a.score ?? 0) || a.hops - b.hops || a.concept.id - b.concept.id)
    .slice(0, room)
}

/** How many neighbours there are, counted up to `room`: the same whatever they are ranked by. */
function reachable(graph: Graph, anchors: readonly Anchor[], room: number, depth: number): number {
  return room <= 0 || depth === 0 ? 0 : reached(graph, anchors, room, depth).length
}

function reached(graph: Graph, anchors: readonly Anchor[], room: number, depth: number): readonly Neighbour[] {
  const present = new Set(anchors.map(({ concept }) => concept))
  const found: Neighbour[] = []
  let from: readonly Concept[] = anchors.map(({ concept }) => concept)
  for (let hops = 1; hops <= depth; hops++) {
    const added: Concept[] = []
    for (const via of from) {
      for (const { concept } of waysOf(graph, via)) {
        if (found.length === room) return found
        if (present.has(concept)) continue
        present.add(concept)
        added.push(concept)
        found.push({ concept, hops, via, score: null })
      }
    }
    from = added
  }
  return found
}

/** Everything within `depth`, each by its best way: the score it comes from, times the weight, times the decay. */
function scored(graph: Graph, anchors: readonly Anchor[], depth: number): Neighbour[] {
  const present = new Set(anchors.map(({ concept }) => concept))
  const all: Neighbour[] = []
  let from = anchors.map(({ concept, cosine }) => ({ concept, score: cosine ?? 1 }))
  for (let hops = 1; hops <= depth; hops++) {
    const best = new Map<Concept, Neighbour & { readonly score: number }>()
    for (const { concept: via, score: before } of from) {
      for (const { concept, weight } of waysOf(graph, via)) {
        if (present.has(concept)) continue
        const score = before * weight * DECAY
        const known = best.get(concept)
        if (known === undefined || known.score < score) best.set(concept, { concept, hops, via, score })
      }
    }
    from = [...best.values()]
    for (const neighbour of best.values()) {
      present.add(neighbour.concept)
      all.push(neighbour)
    }
  }
  return all
}

/** By short walks: half of them return to an anchor at each step, so that few would come back from further away. */
function byCloseness(
  { links, scope }: Graph,
  anchors: readonly Anchor[],
  all: readonly Neighbour[],
  depth: number,
): Neighbour[] {
  const weights = anchors.map(({ concept, worth }) => ({ node: concept.id, weight: Math.max(LEAST_WEIGHT, worth) }))
  const among = all.map(({ concept }) => concept.id)
  const walk = { ...scope, anchors: weights, damping: DAMPING, iterations: depth + STEPS_BEYOND, among }
  const ranks = new Map(links.rank(walk).map(({ node, score }) => [node, score]))
  return all.map(neighbour => ({ ...neighbour, score: ranks.get(neighbour.concept.id) ?? 0 }))
}

/** Where its links lead, then where links to it come from, each in ascending id. */
function* waysOf(
  { links, scope, concepts }: Graph,
  from: Concept,
): Generator<{ readonly concept: Concept; readonly weight: number }> {
  const ways = (list: readonly Link[]) =>
    list.flatMap(({ node, weight }) => {
      const concept = concepts.byId(node)
      return concept === undefined ? [] : [{ concept, weight }]
    })
  yield* ways(links.out(from.id, scope))
  yield* ways(links.in(from.id, scope))
}

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
  question: Pick<ContextQuestion, 'limit' | 'depth' | 'rank'>,
): Chosen {
  const { limit, depth } = question
  const all = ordered.slice(0, limit)
  const fixed = all.filter(({ isFixed }) => isFixed).length
  const others = all.length - fixed
  const share = depth === 0 ? limit : Math.ceil(ANCHOR_SHARE * limit)
  for (let taken = Math.max(0, Math.min(others, share - fixed)); ; taken++) {
    const anchors = firstOf(all, taken)
    const room = limit - anchors.length
    if (taken < others && reachable(graph, anchors, room, depth) < room) continue
    return { anchors, neighbours: neighbours(graph, anchors, room, question) }
  }
}

function firstOf(all: readonly Anchor[], others: number): readonly Anchor[] {
  let taken = 0
  return all.filter(({ isFixed }) => isFixed || taken++ < others)
}
