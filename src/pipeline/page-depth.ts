/** How deep retrieval goes: how many candidates a page needs, and which cannot reach it. */
import { LEG_DEPTH } from '../model/limits.ts'
import type { Query } from '../model/query.ts'
import type { Plan } from './stage.ts'

/** How much deeper retrieval goes where a page is not full. */
export const DEEPER = 4

/** Ranked beyond the page, in case some of it are gone by now. When more are gone, retrieval goes deeper. */
export const SPARE = 5

/** Entries a leg that a page begins with: a quarter more than it shows; how that was chosen: docs/decisions/009. */
export function firstDepth(query: Query): number {
  return query.after?.depth ?? Math.max(LEG_DEPTH, Math.ceil(1.25 * query.limit))
}

/** As many of the best as must be known exactly. */
export function neededFor(query: Query): number {
  return (query.after?.rank ?? 0) + query.limit + SPARE
}

/**
 * The score below which nothing matters to the page, given scores that are surely reached. None where the order
 * is not by score alone, or where a first retrieval was not enough.
 */
export function pageBar(surely: readonly number[], query: Query, depth: number): number {
  // A passage may score less than its entry does, so entries do not say how much a page of passages needs.
  const isByScore = query.diversity >= 1 && !hasCaps(query) && query.group === 'entry'
  if (!isByScore || depth > firstDepth(query)) return Number.NEGATIVE_INFINITY
  return nthLargest(surely, neededFor(query))
}

/** Whether a collection or an origin may have only so many. */
export function hasCaps({ perCollection, perOrigin }: Query): boolean {
  return perCollection !== null || perOrigin !== null
}

/**
 * Whether a list is read on from where the page before ended. With caps it is read from the beginning, since what was shown
 * counts; so it is where passages are listed, since a page may end inside an entry.
 */
export function isReadOn({ mode, query }: Plan): boolean {
  return mode === 'list' && !hasCaps(query) && query.group === 'entry'
}

function nthLargest(values: readonly number[], n: number): number {
  if (n >= values.length) return Number.NEGATIVE_INFINITY
  return Float64Array.from(values).sort()[values.length - n] as number
}
