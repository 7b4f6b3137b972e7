/** What choosing the best of all matches starts from, and what it comes to. */
import type { VectorIndex } from '../../../index/contract.ts'
import type { EntryKey } from '../../../model/entry.ts'
import type { Sight } from '../../../model/viewer.ts'
import type { BeliefColumns } from '../columns/columns.ts'
import type { Matches } from '../matching/matches.ts'
import type { TimeLimit } from '../time-limit.ts'
import type { PriorOrder } from './prior-order.ts'
import type { Scorer } from './scorer.ts'

export interface BestRequest {
  readonly columns: BeliefColumns
  readonly matches: Matches
  readonly scorer: Scorer
  /** Of the matches, and maybe of others. */
  priorOrder(): PriorOrder
  readonly sight: Sight
  readonly time?: TimeLimit | undefined
  readonly meaning: Meaning
  /** Rows of matches that have no vector yet. */
  pending(): readonly number[]
  /** The weight of the semantic part. */
  readonly semanticWeight: number
}

/** Where cosines come from. */
export type Meaning =
  /** A question vector against the index; what has no vector there counts as 0. */
  | { readonly by: 'vector'; readonly index: VectorIndex; readonly vector: Float32Array }
  /** What stands in for a cosine, 0 to 1, by entry; absent: 0. */
  | { readonly by: 'words'; readonly likeness: ReadonlyMap<EntryKey, number> }
  /** List mode. */
  | { readonly by: 'nothing' }

/** So many rows, and the number that none of the others is above (less what is `NEAR`). */
export type Chooser = (asked: number) => Chosen

export interface Chosen {
  readonly rows: readonly number[]
  readonly floor: number
  /** Exact ones, of all chosen that have one, where choosing brought them along. */
  readonly cosines?: ReadonlyMap<EntryKey, number>
}
