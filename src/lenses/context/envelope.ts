/** What every call comes back with, and how a handler says no. */
import type { Json, JsonObject } from '../../base/canonical.ts'

export interface ErrorDetail {
  readonly code: string
  readonly message: string
  readonly meta?: Json
}

/** Shaped like the parameters; positions in lists are keys. */
export interface ErrorMap {
  readonly [field: string]: readonly ErrorDetail[] | ErrorMap
}

export interface Meta extends JsonObject {
  readonly path: string
  /** ISO 8601, UTC. */
  readonly timestamp: string
  /** Three decimals. */
  readonly duration_ms: number
}

export interface Envelope {
  readonly status: 'success' | 'error'
  readonly result: JsonObject | null
  readonly errors: ErrorMap | null
  readonly meta: Meta
}

/** What a handler gives back. */
export interface Outcome {
  readonly result: JsonObject
  /** Of a success in parts. */
  readonly errors?: ErrorMap | undefined
  readonly meta?: JsonObject | undefined
}

/** Thrown by a handler: the call ends with these errors, and what it wrote in its transaction is undone. */
export class Refusal extends Error {
  override readonly name: string = 'Refusal'
  readonly errors: ErrorMap

  constructor(errors: ErrorMap) {
    super(JSON.stringify(errors))
    this.errors = errors
  }
}

export function refusal(field: string, code: string, message: string): Refusal {
  return new Refusal(errorAt([field], code, message))
}

/** One error at a place: `['concepts', '0', 'name']`. */
export function errorAt(place: readonly string[], code: string, message: string, meta?: JsonObject): ErrorMap {
  const [field = 'handler', ...rest] = place
  const detail = meta === undefined ? { code, message } : { code, message, meta }
  return { [field]: rest.length === 0 ? [detail] : errorAt(rest, code, message, meta) }
}

/** Both, where they are at different places. */
export function joined(maps: readonly ErrorMap[]): ErrorMap {
  const all: Record<string, readonly ErrorDetail[] | ErrorMap> = {}
  for (const map of maps) {
    for (const [field, found] of Object.entries(map)) {
      const known = all[field]
      if (known === undefined) all[field] = found
      else if (isDetails(known) && isDetails(found)) all[field] = [...known, ...found]
      else if (!isDetails(known) && !isDetails(found)) all[field] = joined([known, found])
    }
  }
  return all
}

function isDetails(value: readonly ErrorDetail[] | ErrorMap): value is readonly ErrorDetail[] {
  return Array.isArray(value)
}
