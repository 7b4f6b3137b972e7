/**
 * The value that passes through the pipeline: first with the signals of the legs, then with a score, then with a rank. It refers to its
 * entry by key alone; ids are read for candidates that reach the page, and to order equal scores.
 */
import { compareText } from '../base/compare.ts'
import type { ChunkKey, EntryKey } from './entry.ts'
import type { Explanation } from './explanation.ts'

export interface Candidate {
  readonly entry: EntryKey
  /** Key of the passage, where passages are ranked. Absent: the candidate is a whole entry. */
  readonly passage?: ChunkKey | undefined
  /** The source that found the candidate (`local`, an external collection, a peer). */
  readonly source: string
  /** One number per leg, by name (`words`, `meaning`, …), unscaled, as the leg gave it. Absent: unknown. */
  readonly signals: Readonly<Record<string, number>>
  /** The entry's best chunk by leg, for legs that found one. */
  readonly chunks: Readonly<Record<string, ChunkKey>>
  /** Entries that were folded into this one and are no items of their own. */
  readonly related?: readonly EntryKey[] | undefined
}

export interface Scored extends Candidate {
  /** Score by which it is ranked, unless there is an `order`. */
  readonly score: number
  /** Amount added to the formula's score so that the candidate stays among the first while some entries have no vector. */
  readonly lifted?: number | undefined
  /** Value by which a list is ranked (descending) that is ordered by something other than the score, such as a date. */
  readonly order?: number | undefined
  /** Of candidates with equal scores (or `order`), the one with the higher `tie` comes first. Absent: 0. */
  readonly tie?: number | undefined
  /** Number of the retrieval that first found it, from 0 (also when absent): entries of an earlier retrieval come first. */
  readonly round?: number | undefined
}

export interface Ranked extends Scored {
  /** Rank from 1, over the whole answer, not the page. */
  readonly rank: number
}

/** Identifies an item of an answer: an entry, or a passage where passages are ranked. */
export type ItemKey = EntryKey | ChunkKey

export function itemKey({ entry, passage }: Pick<Candidate, 'entry' | 'passage'>): ItemKey {
  return passage ?? entry
}

/** Builds the explanation of a scored candidate; called only for rows that are returned. */
export type Explain = (scored: Scored) => Explanation

/** What orders items with equal scores. Never an entry key, since keys would reveal hidden writes. */
export interface Named {
  readonly id: string
  readonly holder: string
  /** Position of a passage in its entry, from 1; absent: the whole entry. */
  readonly passage?: number | undefined
}

/** Position of an item in the total order of an answer. */
export interface Place extends Named {
  readonly order: number
  /** Value that orders equal scores, descending. Absent: 0. */
  readonly tie?: number | undefined
}

/** The total order of results: score (or `order`) and `tie` descending, then id, holder and passage ascending. */
export function byPlace(a: Place, b: Place): number {
  if (a.order !== b.order) return b.order - a.order
  if (a.tie !== b.tie) return (b.tie ?? 0) - (a.tie ?? 0)
  return compareText(a.id, b.id) || compareText(a.holder, b.holder) || (a.passage ?? 0) - (b.passage ?? 0)
}
