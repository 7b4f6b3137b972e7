/** The value that travels through the pipeline: what a leg brought, then with a score, then with a rank. */
import type { Explanation } from './explanation.ts'
import type { ChunkKey, EntryKey } from './entry.ts'

export interface Candidate {
  readonly entry: EntryKey
  /** Id and holder end every order: keys must not, since they tell of hidden writes. */
  readonly id: string
  readonly holder: string
  /** The chunk to show: the best of the leg that weighs most. */
  readonly chunk: ChunkKey
  /** Which source brought it (`local`, a collection elsewhere, a peer). */
  readonly source: string
  /** One number a component, by name (`words`, `meaning`, …): raw, as the leg gave it. Absent: not known. */
  readonly signals: Readonly<Record<string, number>>
}

export interface Scored extends Candidate {
  /** What it is ranked by. */
  readonly score: number
  /** The parts the score was made from, by name: values in the unit the lens states. */
  readonly components: Readonly<Record<string, number>>
}

export interface Ranked extends Scored {
  /** From 1, over the whole answer, not the page. */
  readonly rank: number
}

/** Builds the tree of a scored candidate; called for returned rows only. */
export type Explain = (scored: Scored) => Explanation

/** The one total order: score descending, id ascending by code unit, holder ascending. */
export function byScore(
  a: { readonly score: number; readonly id: string; readonly holder: string },
  b: { readonly score: number; readonly id: string; readonly holder: string },
): number {
  if (a.score !== b.score) return b.score - a.score
  if (a.id !== b.id) return a.id < b.id ? -1 : 1
  return a.holder < b.holder ? -1 : a.holder > b.holder ? 1 : 0
}
