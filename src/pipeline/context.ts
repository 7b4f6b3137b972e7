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
  /** Runs the query's work in steps, with pauses in which other work can run. */
  readonly turns: Turns
  readonly reader: StoreReader
  /** The index for searching words. Reading this property may load the index. */
  readonly words: WordIndex
  /**
   * The index for searching vectors; null when there is no embedder: answers then come from words alone, and say so. Reading this property
   * may load the index, so a query by words alone does not read it.
   */
  readonly vectors: VectorSearcher | null
  readonly model: EmbeddingModel | null
  /** Languages that the models in use support, as ISO 639-1; empty: all. Absent: there is no model, or it is used for any language. */
  readonly languages?: readonly string[] | undefined
  /**
   * A second embedding model, used for entries in languages that `model` does not support. `cosineOf` converts a cosine on the first
   * model's scale to the second model's scale.
   */
  readonly second?: { readonly model: EmbeddingModel; readonly cosineOf: (score: number) => number } | undefined
  /** Names of the fields on which a query may have conditions: `ENTRY_FIELDS` and the columns of aspects. */
  readonly fields: readonly FieldName[]
  /**
   * Tables that record which entries repeat the text of a file, so that a document of the same file can be shown instead; absent: there are
   * none.
   */
  readonly readings?: readonly ReadingTable[] | undefined
  /** Signs cursors; kept in the store, so that every process on it honours the others' cursors. The first call may write it. */
  secret(): string
  /** Whether a word in lower case is spelled correctly although no passage contains it. Absent: there is no dictionary. */
  readonly isWord?: ((word: string) => boolean) | undefined
  /** Caches that the engine keeps from one query to the next. */
  readonly memo: Memo
  /** An index that a lens has declared, by name. */
  index(name: string): Index
  /** The vector of a query; null when there is no embedder, or when it failed (a note then says why). `late` aborts the work. */
  embed(text: string, late?: AbortSignal): Promise<Float32Array | null>
  /** Determines again what the viewer may see at this moment, for the second access check just before an answer is returned. */
  look(): AccessScope
  note(note: Note): void
  readonly notes: readonly Note[]
  /** What each stage gave and what it cost, added as it ends. Times are measured, so they are the one part of an answer that varies. */
  readonly trace: StageTrace[]
}
