/** Everything that one query needs from its surroundings: what its viewer may see, the time, the time limit, the store and the indexes. */

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
  /**
   * The only partitions (each the entries of one audience) that this query may read. They are determined again after the query's text was
   * embedded, since others may have written meanwhile.
   */
  readonly accessScope: AccessScope
  readonly now: Instant
  /**
   * Set where the caller does not need the page's items: then none are made. `keys`: the answer has only the ranked candidates; `entries`:
   * also their entries.
   */
  readonly rows?: 'keys' | 'entries' | undefined
  readonly deadline: Deadline
  /** Runs the query's work in steps, with pauses in which other work can run. */
  readonly turns: Turns
  readonly reader: StoreReader
  /** The index for searching words. Reading this property may load the index. */
  readonly words: WordIndex
  /**
   * The index for searching vectors; null when there is no embedder: the answer then comes from words alone and has a note that says so.
   * Reading this property may load the index, so a query by words alone does not read it.
   */
  readonly vectors: VectorSearcher | null
  readonly model: EmbeddingModel | null
  /**
   * Languages that the models in use support, as ISO 639-1 codes; empty: all languages. Absent: there is no model, or the model is used for
   * every language.
   */
  readonly languages?: readonly string[] | undefined
  /**
   * A second embedding model, used for entries in languages that `model` does not support. `cosineOf` converts a cosine on the first
   * model's scale to the second model's scale.
   */
  readonly second?: { readonly model: EmbeddingModel; readonly cosineOf: (score: number) => number } | undefined
  /**
   * Names of the fields on which a query may have conditions: `ENTRY_FIELDS` and the columns of aspects (tables with one row per entry).
   */
  readonly fields: readonly FieldName[]
  /**
   * Tables that record which entries repeat the text of a file, so that a document of the same file can be shown instead; absent: there are
   * none.
   */
  readonly readings?: readonly ReadingTable[] | undefined
  /**
   * The secret by which cursors are sealed. It is kept in the store, so that every process on the store accepts the others' cursors; the
   * first call may write it.
   */
  secret(): string
  /**
   * Whether a word in lower case is in the dictionary, and so is spelled correctly even if no passage contains it. Absent: there is no
   * dictionary.
   */
  readonly isWord?: ((word: string) => boolean) | undefined
  /** Caches that the engine keeps from one query to the next. */
  readonly memo: Memo
  /** An index that a lens has declared, by name. */
  index(name: string): Index
  /**
   * Makes the vector of a text; null when there is no embedder, or when embedding failed (a note then says why). The signal `late` aborts
   * the work.
   */
  embed(text: string, late?: AbortSignal): Promise<Float32Array | null>
  /** Determines again what the viewer may see at this moment, for the second access check just before an answer is returned. */
  look(): AccessScope
  note(note: Note): void
  readonly notes: readonly Note[]
  /**
   * What each stage of the query returned and how long it took, added when the stage ends. Durations are measured, so they are the one part
   * of an answer that varies between equal queries.
   */
  readonly trace: StageTrace[]
}
