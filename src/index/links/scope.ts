/**
 * The part of a graph that a question may see, in flat arrays: its nodes by number ascending, and each one's links both
 * ways, first those it has, then those that lead to it. Nothing in it depends on what is hidden, nor on the order of writing.
 */
import type { SearchScope } from '../contract.ts'
import { type LinkGraph, NONE } from './graph.ts'

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
