/** What is drawn of the graph, and where. */
import type Graph from 'graphology'
import forceAtlas2 from 'graphology-layout-forceatlas2'
import { ApiError, call } from '../../api.ts'

// What is drawn: what was found, and the neighbours of what was opened. Made again of these two, so that closing undoes opening.

// The calls of the lens context that the view makes. Its answers come in an envelope, with its errors in it.

export interface Concept {
  readonly id: number
  readonly name: string
  readonly type: string
}

export interface Link {
  readonly source: number
  readonly target: number
  readonly relation: string
}

export interface Found {
  readonly concepts: readonly (Concept & { readonly relevance: string })[]
  readonly graph: { readonly edges: readonly Link[] }
}

export interface Neighbour extends Concept {
  readonly relation: string
}

export interface Neighbours {
  readonly concept: Concept
  readonly neighbors: { readonly incoming: readonly Neighbour[]; readonly outgoing: readonly Neighbour[] }
}

export interface Place {
  readonly url: string | null
  /** From 1, both included. */
  readonly start_line: number | null
  readonly end_line: number | null
}

export interface Definition extends Concept, Place {
  readonly signature: string | null
  readonly doc: string | null
  readonly text: string | null
}

interface Dependant extends Concept, Place {
  /** Links in a row, from 1. */
  readonly hops: number
}

interface Tally {
  readonly total: number
}

/** Concepts at most for one question. */
const MAX_FOUND = 30

const MAX_DEPENDANTS = 50

export function findConcepts(query: string, signal: AbortSignal): Promise<Found> {
  return ask('query', { query, mode: 'hybrid', rank: 'relevance', depth: 1, limit: MAX_FOUND }, signal)
}

export function neighboursOf(id: number, signal: AbortSignal): Promise<Neighbours> {
  return ask('graph_neighbors', { id }, signal)
}

export async function definitionOf(id: number, signal: AbortSignal): Promise<Definition | null> {
  const { definitions } = await ask<{ definitions: readonly Definition[] }>('definition', { id, limit: 1 }, signal)
  return definitions[0] ?? null
}

export interface Dependants {
  readonly dependants: readonly Dependant[]
  readonly total: number
}

export async function callersOf(id: number, signal: AbortSignal): Promise<Dependants> {
  type Callers = { readonly callers: readonly Dependant[]; readonly total: number }
  const { callers, total } = await ask<Callers>('callers', { id, depth: 3, limit: MAX_DEPENDANTS }, signal)
  return { dependants: callers, total }
}

/** Whether any code was read that the requester may see. */
export async function hasCode(signal: AbortSignal): Promise<boolean> {
  try {
    const { concepts } = await ask<{ concepts: Tally }>('graph_summary', {}, signal)
    return concepts.total > 0
  } catch (thrown) {
    if (thrown instanceof ApiError && thrown.code === 'not_initialized') return false
    throw thrown
  }
}

interface Envelope {
  readonly status: 'success' | 'error'
  readonly result: unknown
  readonly errors: unknown
}

async function ask<T>(name: string, params: object, signal: AbortSignal): Promise<T> {
  const { status, result, errors } = await call<Envelope>(`context.${name}`, params, signal)
  if (status === 'success') return result as T
  const { code, message } = firstError(errors) ?? { code: 'internal', message: 'The lens context could not answer.' }
  throw new ApiError(code, message)
}

/** Errors stand under the names of the parameters that they are about, as deep as these are. */
function firstError(errors: unknown): { readonly code: string; readonly message: string } | null {
  if (typeof errors !== 'object' || errors === null) return null
  const { code, message } = errors as { readonly code?: unknown; readonly message?: unknown }
  if (typeof code === 'string' && typeof message === 'string') return { code, message }
  for (const inner of Object.values(errors)) {
    const found = firstError(inner)
    if (found !== null) return found
  }
  return null
}

/** More than this nobody can read, and drawing it would be slow. */
export const MAX_DRAWN = 150
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
      if (at < held.shown && drawn.size < MAX_DRAWN) drawn.set(neighbour.id, { ...neighbour, isMatch: false })
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

// Where nodes stand: forces, worked out a few steps a frame, so that the page never stops answering.

const ROUNDS = 240
const ROUNDS_A_FRAME = 8

/** From where they stand now. Returns what ends it. Where motion is not wanted, only its end is shown. */
export function layOut(graph: Graph): () => void {
  const settings = { ...forceAtlas2.inferSettings(graph), gravity: 1.5, scalingRatio: 12, adjustSizes: true }
  if (graph.order < 2) return () => {}
  if (matchMedia('(prefers-reduced-motion: reduce)').matches) {
    forceAtlas2.assign(graph, { iterations: ROUNDS, settings })
    return () => {}
  }
  let left = ROUNDS
  let frame = requestAnimationFrame(function step() {
    forceAtlas2.assign(graph, { iterations: ROUNDS_A_FRAME, settings })
    left -= ROUNDS_A_FRAME
    if (left > 0) frame = requestAnimationFrame(step)
  })
  return () => cancelAnimationFrame(frame)
}

/** Near a linked node that has a place already, else on a spiral: forces start from distinct places. */
export function firstPlace(
  at: number,
  near: { readonly x: number; readonly y: number } | null,
): { readonly x: number; readonly y: number } {
  const angle = at * 2.39996 // the golden angle, in radians: no two points of the spiral lie on one ray
  const distance = near === null ? 4 * Math.sqrt(at + 1) : 2
  return { x: (near?.x ?? 0) + distance * Math.cos(angle), y: (near?.y ?? 0) + distance * Math.sin(angle) }
}

/** The path of a file and its lines, `/project/src/login.ts:4-6`. */
export function shownPlace({ url, start_line, end_line }: Place): string {
  if (url === null) return ''
  const lines = start_line === null ? '' : `:${start_line}${end_line === null ? '' : `-${end_line}`}`
  return `${plainPath(url)}${lines}`
}

function plainPath(url: string): string {
  const path = url.replace(/^file:\/\//, '')
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

// Colours of kinds of concepts and links: the drawing, its legends and the list use the same.

const GROUPS: Readonly<Record<string, string>> = {
  Module: 'file',
  Document: 'text',
  Section: 'text',
  Class: 'class',
  Interface: 'type',
  TypeAlias: 'type',
  Enum: 'type',
  Function: 'function',
  Method: 'method',
  Constant: 'value',
  Package: 'package',
  Caveat: 'note',
}

/** Kinds that are alike share one; what a model has named is `other`. */
export function colourOf(kind: string): string {
  return `var(--graph-${GROUPS[kind] ?? 'other'})`
}

const LINKS: Readonly<Record<string, string>> = {
  CALLS: 'function',
  USES: 'value',
  EXTENDS: 'class',
  IMPLEMENTS: 'type',
  DEPENDS_ON: 'file',
  MENTIONS: 'text',
  LINKS_TO: 'text',
}

/** Links from a concept to the file it is in have a quiet colour: there is one for nearly every concept. */
export function linkColourOf(relation: string): string {
  return `var(--graph-${LINKS[relation] ?? 'link'})`
}

/** In words: `DEPENDS_ON` is "depends on". */
export function relationName(relation: string): string {
  return relation.toLowerCase().replaceAll('_', ' ')
}

/** As the browser computes it now, for what draws by itself: `rgb(…)`. */
export function computedColour(colour: string, beside: HTMLElement): string {
  const probe = document.createElement('i')
  probe.style.color = colour
  beside.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}
