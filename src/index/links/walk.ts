/** Personalised PageRank by repeated steps over one view of a graph. Sums run in one order, so the same view gives the same bits. */
import { invalidArgument } from '../../model/errors.ts'
import type { LinkRank, LinkWalk, SearchScope } from '../contract.ts'
import { type LinkGraph, NONE } from './graph.ts'

export const DAMPING = 0.85
export const ITERATIONS = 50
export const TOLERANCE = 1e-6

export function checkWalk({
  anchors,
  damping = DAMPING,
  iterations = ITERATIONS,
  tolerance = TOLERANCE,
}: LinkWalk): void {
  if (!(damping >= 0 && damping < 1)) throw invalidArgument('damping', damping, 'a number from 0 to below 1')
  if (!(Number.isInteger(iterations) && iterations >= 0)) {
    throw invalidArgument('iterations', iterations, 'a whole number from 0')
  }
  if (!(tolerance >= 0)) throw invalidArgument('tolerance', tolerance, 'a number from 0')
  for (const { weight } of anchors) {
    if (!(weight > 0 && weight < Number.POSITIVE_INFINITY)) {
      throw invalidArgument('anchors', weight, 'finite weights above 0')
    }
  }
}

export function walk(view: ScopeView, request: LinkWalk): readonly LinkRank[] {
  const { damping = DAMPING, iterations = ITERATIONS, tolerance = TOLERANCE } = request
  const home = shares(view, request.anchors)
  if (home === null) return []
  let here = home
  for (let step = 0; step < iterations; step++) {
    const next = stepFrom(view, here, home, damping)
    const moved = distance(here, next)
    here = next
    if (moved < tolerance) break
  }
  const ranks: LinkRank[] = []
  for (const place of placesOf(view, request)) {
    const score = here[place] as number
    if (score > 0) ranks.push({ node: view.numbers[place] as number, score })
  }
  return ranks.sort((a, b) => b.score - a.score || a.node - b.node)
}

/** Telling of all can cost more than the walk. */
function placesOf(view: ScopeView, { among }: LinkWalk): Iterable<number> {
  if (among === undefined) return view.numbers.keys()
  return new Set(among.map(node => view.placeOf(node)).filter(place => place >= 0))
}

/** The anchors' weights as shares of 1; null when none is in view. An anchor named twice counts twice. */
function shares(view: ScopeView, anchors: LinkWalk['anchors']): Float64Array | null {
  const home = new Float64Array(view.numbers.length)
  for (const { node, weight } of anchors) {
    const place = view.placeOf(node)
    if (place >= 0) home[place] = (home[place] as number) + weight
  }
  let total = 0
  for (let place = 0; place < home.length; place++) total += home[place] as number
  if (!(total > 0)) return null
  for (let place = 0; place < home.length; place++) home[place] = (home[place] as number) / total
  return home
}

function stepFrom(view: ScopeView, here: Float64Array, home: Float64Array, damping: number): Float64Array {
  const { starts, ends, weights, totals } = view
  const next = new Float64Array(here.length)
  let returning = 1 - damping
  for (let place = 0; place < here.length; place++) {
    const score = here[place] as number
    if (score === 0) continue
    const total = totals[place] as number
    if (total === 0) {
      returning += damping * score
      continue
    }
    const passed = damping * score
    for (let way = starts[place] as number, end = starts[place + 1] as number; way < end; way++) {
      const to = ends[way] as number
      // The ratio first: weights may be as small as numbers get.
      next[to] = (next[to] as number) + passed * ((weights[way] as number) / total)
    }
  }
  for (let place = 0; place < here.length; place++) {
    next[place] = (next[place] as number) + returning * (home[place] as number)
  }
  return next
}

function distance(a: Float64Array, b: Float64Array): number {
  let sum = 0
  for (let place = 0; place < a.length; place++) sum += Math.abs((a[place] as number) - (b[place] as number))
  return sum
}

// The part of a graph that a question may see, in flat arrays: its nodes by number ascending, and each one's links both
// ways, first those it has, then those that lead to it. Nothing in it depends on what is hidden, nor on the order of writing.

export interface ScopeView {
  /** By place: the node's number, ascending. */
  readonly numbers: Float64Array
  readonly placeOf: (node: number) => number
  /** Ways of the node at `place` are rows `starts[place]` to below `starts[place + 1]`. */
  readonly starts: Int32Array
  readonly ends: Int32Array
  readonly weights: Float64Array
  /** By place: the weights of its ways together. */
  readonly totals: Float64Array
  /** Links within. */
  readonly links: number
}

/** Whether a node is in scope, by slot. */
export function seeing(graph: LinkGraph, { partitions, allow }: SearchScope): (slot: number) => boolean {
  const visible = new Set(partitions)
  return slot => {
    const entry = graph.entries.at(slot)
    return entry !== NONE && visible.has(graph.partitions.at(slot)) && (allow?.has(entry) ?? true)
  }
}

export function viewOf(graph: LinkGraph, scope: SearchScope): ScopeView {
  const sees = seeing(graph, scope)
  const slots = graph.slotsInOrder().filter(sees)
  const places = new Int32Array(graph.numbers.length).fill(NONE)
  for (const [place, slot] of slots.entries()) places[slot] = place
  const starts = new Int32Array(slots.length + 1)
  const totals = new Float64Array(slots.length)
  const ends: number[] = []
  const weights: number[] = []
  let links = 0
  const go = (slot: number | undefined, weight: number, place: number): boolean => {
    const end = places[slot as number] as number
    if (end === NONE) return false
    ends.push(end)
    weights.push(weight)
    totals[place] = (totals[place] as number) + weight
    return true
  }
  for (const [place, slot] of slots.entries()) {
    for (let row = graph.firstOut.at(slot); row !== NONE; row = graph.nextOut.at(row)) {
      if (go(graph.targets.at(row), graph.weights.at(row), place)) links++
    }
    for (let row = graph.firstIn.at(slot); row !== NONE; row = graph.nextIn.at(row)) {
      go(graph.sources.at(row), graph.weights.at(row), place)
    }
    starts[place + 1] = ends.length
  }
  return {
    numbers: Float64Array.from(slots, slot => graph.numbers.at(slot)),
    placeOf: node => {
      const slot = graph.slotOf(node)
      return slot === NONE ? NONE : (places[slot] as number)
    },
    starts,
    ends: Int32Array.from(ends),
    weights: Float64Array.from(weights),
    totals,
    links,
  }
}
