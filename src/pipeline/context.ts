/** Everything that one query needs from its environment: what it may see, the time, the budget, the store and the indexes. */

import type { Deadline, Instant } from '../base/clock.ts'
import type { Turns } from '../base/turns.ts'
import type { EmbeddingModel } from '../embed/embedder.ts'
import type { Index, VectorSearcher, WordIndex } from '../index/contract.ts'
import type { FieldName } from '../model/filter.ts'
import type { Note, StageTrace } from '../model/page.ts'
import type { Query } from '../model/query.ts'
import type { ReadingTable } from '../model/table.ts'
import type { AccessScope } from '../model/viewer.ts'
import type { StoreReader } from '../store/store.ts'
import type { Memo } from './memo.ts'

export interface QueryContext {
  readonly query: Query
  /** The only partitions that may be read. Determined again after the query was embedded, since others may have written meanwhile. */
  readonly accessScope: AccessScope
  readonly now: Instant
  /** Set where the caller does not read the page's items: none are made, and only keys or whole entries are read. */
  readonly rows?: 'keys' | 'entries' | undefined
  readonly deadline: Deadline
  /** Pauses of the query for other work. */
  readonly turns: Turns
  readonly reader: StoreReader
  /** The word index. Accessing this property may load it. */
  readonly words: WordIndex
  /**
   * The vector index; null when there is no embedder: answers then come from words alone and say so. Accessing this property may load the
   * index, so a query by words alone does not.
   */
  readonly vectors: VectorSearcher | null
  readonly model: EmbeddingModel | null
  /** Languages that the models in use support, as ISO 639-1; empty: all. Absent: there is no model, or it is used for any language. */
  readonly languages?: readonly string[] | undefined
  /**
   * The second model, for entries in languages that `model` does not support. `cosineOf`: converts a score on the first model's scale to
   * the second model's own cosine.
   */
  readonly second?: { readonly model: EmbeddingModel; readonly cosineOf: (score: number) => number } | undefined
  /** Fields that a query may use (`ENTRY_FIELDS` and the aspects' columns). */
  readonly fields: readonly FieldName[]
  /** Tables that record which entries repeat the text of which file. Absent: there are none. */
  readonly readings?: readonly ReadingTable[] | undefined
  /** Signs cursors; kept in the store, so that every process on it honours the others' cursors. The first call may write it. */
  secret(): string
  /** Whether a word in lower case is spelled correctly although no passage contains it. Absent: there is no dictionary. */
  readonly isWord?: ((word: string) => boolean) | undefined
  /** Caches that one engine keeps between queries. */
  readonly memo: Memo
  /** An index of a lens, by name. */
  index(name: string): Index
  /** The vector of a query; null when there is no embedder, or when it failed (a note then says why). `late` aborts the work. */
  embed(text: string, late?: AbortSignal): Promise<Float32Array | null>
  /** Determines again what the viewer may see now, for the second check just before an answer is returned. */
  look(): AccessScope
  note(note: Note): void
  readonly notes: readonly Note[]
  /** What each stage gave and what it cost, added as it ends. Times are measured, so they are the one part of an answer that varies. */
  readonly trace: StageTrace[]
}
