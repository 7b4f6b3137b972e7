/** A way of asking: what becomes of a text before the query, of the rows after it, and of the scores in between. */

import type { Json } from '../../../base/canonical.ts'
import type { Binding, EffectiveQuery, MetadataFilters, QueryParams, ResultRow, ScoreWeights } from '../model.ts'

export type Awaitable<T> = T | Promise<T>

/** Hooks get copies: what they change in them changes nothing else (CQ-007). */
export class QueryProfile {
  /** Parameters of a text. Their values are checked afterwards like those of a direct query. */
  parseInput(_text: string, _context: ParseContext): Awaitable<QueryParams> {
    throw new Error(`${this.constructor.name} has no parseInput: it answers lists of hashtags only`)
  }

  /** What is answered instead of these rows, best first. */
  postProcess(rows: ResultRow[], _context: PostContext): Awaitable<readonly ResultRow[]> {
    return rows
  }

  /** How well an entry fits, 0 to 1. Counted (three tenths) only in a profile that has its own (CQ-080). */
  customScoring(_entry: ResultRow, _query: EffectiveQuery): Awaitable<number> {
    return 0
  }
}

/** Anything with `parseInput` can be registered; the other hooks may be missing. */
export type ProfileHooks = Pick<QueryProfile, 'parseInput'> & Partial<QueryProfile>

/** The parameters that apply unless the profile says otherwise: the call's own, the configured, the built-in (CQ-004). */
export interface ProfileDefaults {
  readonly k: number
  readonly maxDistance: number | null
  readonly temporalRange: readonly [number, number] | null
  readonly metadataFilters: MetadataFilters | null
  readonly includeRotten: boolean
  readonly scoreWeights: ScoreWeights | null
}

/** What the query core lends for one parse: the store as this viewer sees it. */
export interface ProfileView {
  /** The one clock reading of the query, Unix seconds. */
  readonly now: number
  readonly defaults: ProfileDefaults
  /** False: tags that break the zone rules are an error instead of being completed (CQ-089). */
  readonly completeHashtags: boolean
  /** The binding of a hashtag in any spelling, null when it is not assigned. */
  resolve(hashtag: string): Binding | null
  /** Assigned hashtags found in a text, in order of first appearance: what `suggestHashtags` gives (CQ-143, CQ-144). */
  tagsIn(text: string): readonly string[]
  /** The hashtags of every node that carries this one, is visible to the viewer and not rotten. Normalised. */
  nodesWith(hashtag: string): Iterable<readonly string[]>
}

export interface ParseContext extends ProfileView {
  /**
   * These tags, and where they break the zone rules those that occur together with them most in nodes (CQ-090). What is still missing is
   * added when the profile has returned. Throws `ValidationError` where completion is switched off.
   */
  complete(hashtags: readonly string[]): readonly string[]
  /** Whether these tags keep the zone rules by themselves. */
  isValid(hashtags: readonly string[]): boolean
}

export interface PostContext {
  readonly query: EffectiveQuery
  /** `QueryParams.state` of this query's parse; undefined when there was none (CQ-081). */
  readonly state: unknown
  readonly now: number
}

/**
 * A deep copy of JSON data. Properties that are undefined are left out, as JSON does; anything else that is not JSON
 * (NaN, functions, class instances, circles) throws `TypeError` naming its place.
 */
export function copyJson<T>(value: T, place = 'value'): T {
  return copied(value, place, 0) as T
}

/** No data is nested deeper; a circle is. */
const MAX_DEPTH = 200

function copied(value: unknown, place: string, depth: number): Json {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number' && Number.isFinite(value)) return value
  if (depth > MAX_DEPTH) throw new TypeError(`${place}: nested too deeply, or inside itself`)
  if (Array.isArray(value)) return value.map((item, at) => copied(item, `${place}[${at}]`, depth + 1))
  if (!isPlain(value)) throw new TypeError(`${place}: ${typeof value} is not JSON data`)
  const copy: Record<string, Json> = Object.create(null)
  for (const [key, item] of Object.entries(value)) {
    if (item !== undefined) copy[key] = copied(item, `${place}.${key}`, depth + 1)
  }
  // A null prototype while filling keeps a key `__proto__` data; callers get an ordinary object.
  return Object.hasOwn(copy, '__proto__') ? copy : Object.setPrototypeOf(copy, Object.prototype)
}

function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false
  const prototype = Object.getPrototypeOf(value)
  // Objects of another realm (a plug-in in a VM) have an `Object.prototype` of their own.
  return prototype === null || Object.getPrototypeOf(prototype) === null
}
