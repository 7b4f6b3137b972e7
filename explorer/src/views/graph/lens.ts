/** The calls of the lens context that the view makes. Its answers come in an envelope, with its errors in it. */
import { ApiError, call } from '../../api/call.ts'

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

export interface Dependant extends Concept, Place {
  /** Links in a row, from 1. */
  readonly hops: number
}

interface Tally {
  readonly total: number
}

/** Concepts at most for one question. */
const MOST_FOUND = 30

const MOST_DEPENDANTS = 50

export function findConcepts(query: string, signal: AbortSignal): Promise<Found> {
  return ask('query', { query, mode: 'hybrid', rank: 'relevance', depth: 1, limit: MOST_FOUND }, signal)
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
  const { callers, total } = await ask<Callers>('callers', { id, depth: 3, limit: MOST_DEPENDANTS }, signal)
  return { dependants: callers, total }
}

/** Whether any code was read that the asker may see. */
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
