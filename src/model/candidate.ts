/**
 * A candidate for an answer, as the stages of a query pass it on: first with the raw numbers of the searches by words and meaning
 * (signals), then with a score, then with a rank. It refers to its entry by key alone; ids are read only for candidates that reach the
 * page, and to order equal scores.
 */
import { compareText } from '../base/compare.ts'
import type { ChunkKey, EntryKey } from './entry.ts'
import type { Explanation } from './explanation.ts'

export interface Candidate {
  readonly entry: EntryKey
  /** Key of the chunk that the candidate is, where passages are ranked; absent: the candidate is a whole entry. */
  readonly passage?: ChunkKey | undefined
  /** Name of the source that found the candidate: `local`, an external collection, or another node. */
  readonly source: string
  /**
   * Numbers from which the score is computed, by name, as the searches gave them (`words`: BM25, `meaning`: cosine, …). Absent: unknown.
   */
  readonly signals: Readonly<Record<string, number>>
  /** Key of the entry's best chunk, by the search (`words`, `meaning`) that found it. */
  readonly chunks: Readonly<Record<string, ChunkKey>>
  /** Entries that a lens merged into this candidate and that are not listed by themselves. */
  readonly related?: readonly EntryKey[] | undefined
}

export interface Scored extends Candidate {
  /** Score by which the candidate is ranked, unless it has an `order`. */
  readonly score: number
  /**
   * Amount by which the score was raised above the value of the formula. While some entries have no vector, candidates that rank first by
   * words alone are raised so that they stay first. Undefined: not raised.
   */
  readonly lifted?: number | undefined
  /** Value by which the candidate is ranked, descending, in a list that is not ordered by score, such as a date. */
  readonly order?: number | undefined
  /** Second number that orders candidates with equal scores (or equal `order`), descending; absent: 0. */
  readonly tie?: number | undefined
  /**
   * Number, from 0, of the retrieval that first found the candidate. A query retrieves again, each time more candidates, when a page needs
   * more than it has; candidates of an earlier retrieval rank first. Absent: 0.
   */
  readonly round?: number | undefined
}

export interface Ranked extends Scored {
  /** Rank of the candidate in the whole answer, over all pages, from 1. */
  readonly rank: number
}

/** Key that identifies an item of an answer: the entry's key, or the chunk's where passages are ranked. */
export type ItemKey = EntryKey | ChunkKey

export function itemKey({ entry, passage }: Pick<Candidate, 'entry' | 'passage'>): ItemKey {
  return passage ?? entry
}

/** Builds the explanation of a candidate's score; called only for results that are returned. */
export type Explain = (scored: Scored) => Explanation

/**
 * The names by which items with equal scores are ordered. Entry keys are not used for that, since their order would reveal writes that the
 * viewer may not see.
 */
export interface Named {
  readonly id: string
  readonly holder: string
  /** Position of the passage in its entry, from 1; absent: the item is a whole entry. */
  readonly passage?: number | undefined
}

/** What determines the position of an item in the total order of an answer, an order in which no two items are equal. */
export interface Place extends Named {
  readonly order: number
  /** Value that orders items with equal `order`, descending; absent: 0. */
  readonly tie?: number | undefined
}

/**
 * Compares two items by the total order of results: `order` (the score, unless a list has another order) and `tie` descending, then id,
 * holder and passage ascending.
 */
export function byPlace(a: Place, b: Place): number {
  if (a.order !== b.order) return b.order - a.order
  if (a.tie !== b.tie) return (b.tie ?? 0) - (a.tie ?? 0)
  return compareText(a.id, b.id) || compareText(a.holder, b.holder) || (a.passage ?? 0) - (b.passage ?? 0)
}
