/** Where cosines with a text come from. */
import type { VectorIndex } from '../../../index/contract.ts'
import type { EntryKey } from '../../../model/entry.ts'

export type Meaning =
  /** A query vector against the index. */
  | { readonly by: 'vector'; readonly index: VectorIndex; readonly vector: Float32Array }
  /** Share of the best BM25 score, 0 to 1, by entry; absent: 0. */
  | { readonly by: 'words'; readonly shares: ReadonlyMap<EntryKey, number> }
  /** List mode. */
  | { readonly by: 'nothing' }
