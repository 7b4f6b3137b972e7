/** What is drawn: what was found, and the neighbours of what was opened. Made anew of these two, so that closing undoes opening. */
import type { Concept, Found, Link, Neighbours } from './lens.ts'

/** More than this nobody can read, and drawing it would be slow. */
export const MOST_DRAWN = 150
/** Neighbours that one opening, or one more of them, brings. */
const STEP = 20

interface Matched extends Concept {
  /** Whether it answers the question itself, and did not come as a neighbour. */
  readonly isMatch: boolean
}

export interface Opened {
  readonly neighbours: readonly Concept[]
  readonly links: readonly Link[]
  readonly shown: number
}

export interface Drawing {
  readonly found: readonly Matched[]
  readonly links: readonly Link[]
  readonly opened: ReadonlyMap<number, Opened>
}

export interface Node extends Matched {
  /** Links that are drawn. */
  readonly degree: number
}

export interface Picture {
  readonly nodes: readonly Node[]
  readonly links: readonly Link[]
  /** Neighbours of what is open that are not drawn. */
  readonly leftOut: number
}

export const NOTHING: Drawing = { found: [], links: [], opened: new Map() }

export function drawingOf({ concepts, graph }: Found): Drawing {
  const found = concepts.map(({ id, name, type, relevance }) => ({ id, name, type, isMatch: relevance !== 'neighbor' }))
  return { found, links: graph.edges, opened: new Map() }
}

/** Beside what was found: where an address or a list leads to a concept that is not drawn. */
export function add(drawing: Drawing, { id, name, type }: Concept): Drawing {
  const others = drawing.found.filter(concept => concept.id !== id)
  return { ...drawing, found: [...others, { id, name, type, isMatch: true }] }
}

export function open(drawing: Drawing, { concept, neighbors: { incoming, outgoing } }: Neighbours): Drawing {
  const links = [
    ...outgoing.map(({ id, relation }) => ({ source: concept.id, target: id, relation })),
    ...incoming.map(({ id, relation }) => ({ source: id, target: concept.id, relation })),
  ]
  const others = new Map([...outgoing, ...incoming].map(({ id, name, type }) => [id, { id, name, type }]))
  others.delete(concept.id)
  const opened = new Map(drawing.opened).set(concept.id, { neighbours: [...others.values()], links, shown: STEP })
  return { ...drawing, opened }
}

export function close(drawing: Drawing, id: number): Drawing {
  const opened = new Map(drawing.opened)
  opened.delete(id)
  return { ...drawing, opened }
}

export function showMore(drawing: Drawing, id: number): Drawing {
  const before = drawing.opened.get(id)
  if (before === undefined) return drawing
  return { ...drawing, opened: new Map(drawing.opened).set(id, { ...before, shown: before.shown + STEP }) }
}

export function pictureOf({ found, links, opened }: Drawing): Picture {
  const drawn = new Map<number, Matched>(found.map(concept => [concept.id, concept]))
  const wanted: Link[] = [...links]
  const missed = new Set<number>()
  // A map goes on to what is added to it while it is walked: what an opened neighbour brings is reached in turn.
  for (const id of drawn.keys()) {
    const held = opened.get(id)
    if (held === undefined) continue
    wanted.push(...held.links)
    for (const [at, neighbour] of held.neighbours.entries()) {
      if (drawn.has(neighbour.id)) continue
      if (at < held.shown && drawn.size < MOST_DRAWN) drawn.set(neighbour.id, { ...neighbour, isMatch: false })
      else missed.add(neighbour.id)
    }
  }
  const kept = [...new Map(wanted.map(link => [keyOf(link), link])).values()].filter(
    ({ source, target }) => source !== target && drawn.has(source) && drawn.has(target),
  )
  const degrees = new Map<number, number>()
  for (const id of kept.flatMap(({ source, target }) => [source, target])) degrees.set(id, (degrees.get(id) ?? 0) + 1)
  return {
    nodes: [...drawn.values()].map(concept => ({ ...concept, degree: degrees.get(concept.id) ?? 0 })),
    links: kept,
    leftOut: [...missed].filter(id => !drawn.has(id)).length,
  }
}

export function keyOf({ source, target, relation }: Link): string {
  return `${source} ${relation} ${target}`
}
