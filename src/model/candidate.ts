/**
 * The value that travels through the pipeline: what the legs brought, then with a score, then with a rank. It knows its
 * entry by key alone; ids are read for those that reach the page, and where equal scores must be told apart.
 */
import { compareText } from '../base/compare.ts'
import type { ChunkKey, EntryKey } from './entry.ts'
import type { Explanation } from './explanation.ts'

export interface Candidate {
  readonly entry: EntryKey
  /** Where passages are ranked: the one that this is. Absent: it is the whole entry. */
  readonly passage?: ChunkKey | undefined
  /** Which source brought it (`local`, a collection elsewhere, a peer). */
  readonly source: string
  /** One number a leg, by name (`words`, `meaning`, …): raw, as the leg gave it. Absent: not known. */
  readonly signals: Readonly<Record<string, number>>
  /** The entry's best chunk by leg, where the leg found one. */
  readonly chunks: Readonly<Record<string, ChunkKey>>
  /** Entries that were folded into this one, and are no items themselves. */
  readonly related?: readonly EntryKey[] | undefined
}

export interface Scored extends Candidate {
  /** What it is ranked by, unless there is an `order`. */
  readonly score: number
  /** What was added to the score of its formula, so that it stays among the first while not all is embedded. */
  readonly lifted?: number | undefined
  /** A list ordered by something else than its score (a date, say) is ranked by this, descending. */
  readonly order?: number | undefined
  /** Where scores (or what stands for them) are equal, the one with the higher `tie` is first. Absent: 0. */
  readonly tie?: number | undefined
  /** The retrieval that brought it first, from 0 (also where absent): entries of an earlier one stand before it. */
  readonly round?: number | undefined
}

export interface Ranked extends Scored {
  /** From 1, over the whole answer, not the page. */
  readonly rank: number
}

/** Tells one item of an answer from the others: an entry, or a passage where passages are ranked. */
export type ItemKey = EntryKey | ChunkKey

export function itemKey({ entry, passage }: Pick<Candidate, 'entry' | 'passage'>): ItemKey {
  return passage ?? entry
}

/** Builds the tree of a scored candidate; called for returned rows only. */
export type Explain = (scored: Scored) => Explanation

/** What ends every order where scores are equal. Never a key: keys tell of hidden writes. */
export interface Named {
  readonly id: string
  readonly holder: string
  /** Position of a passage in its entry, from 1; absent: the whole entry. */
  readonly passage?: number | undefined
}

/** Where something is in the total order of an answer. */
export interface Place extends Named {
  readonly order: number
  /** Absent: 0. */
  readonly tie?: number | undefined
}

/** The one total order: score (or what stands for it) and `tie` descending, then id, holder and passage ascending. */
export function byPlace(a: Place, b: Place): number {
  if (a.order !== b.order) return b.order - a.order
  if (a.tie !== b.tie) return (b.tie ?? 0) - (a.tie ?? 0)
  return compareText(a.id, b.id) || compareText(a.holder, b.holder) || (a.passage ?? 0) - (b.passage ?? 0)
}
