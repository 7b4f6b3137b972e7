/** Everything one question needs from the world: what it may see, the time, the budget, the store and the indexes. */

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
  /** What anything may be read from. Taken again when the question was embedded: others may have written meanwhile. */
  readonly accessScope: AccessScope
  readonly now: Instant
  /** Nobody reads the items of the page: none are made, and only keys or whole entries are read for them. */
  readonly rows?: 'keys' | 'entries' | undefined
  readonly deadline: Deadline
  /** Its pauses for the work of others. */
  readonly turns: Turns
  readonly reader: StoreReader
  /** Looking at it may load the index. */
  readonly words: WordIndex
  /**
   * Null when there is no embedder: then answers come from words alone and say so. Looking at it may load the index:
   * what asks by words alone does not.
   */
  readonly vectors: VectorSearcher | null
  readonly model: EmbeddingModel | null
  /** Languages that the models in use know, as ISO 639-1; empty: all. Absent: there is no model, or it is asked whatever the language. */
  readonly languages?: readonly string[] | undefined
  /** The second model, where entries that `model` does not know are compared by it. `cosineOf`: its own cosine of a score on the first one's scale. */
  readonly second?: { readonly model: EmbeddingModel; readonly cosineOf: (score: number) => number } | undefined
  /** Fields that a question may name (`ENTRY_FIELDS` and the aspects' columns). */
  readonly fields: readonly FieldName[]
  /** Tables that say what was read from which file. Absent: none do. */
  readonly readings?: readonly ReadingTable[] | undefined
  /** Signs cursors; kept in the store, so that every process on it honours the others' cursors. The first call may write it. */
  secret(): string
  /** Whether a word, in lower case, is spelled correctly although no passage has it. Absent: nothing is known of any word. */
  readonly isWord?: ((word: string) => boolean) | undefined
  /** What one engine keeps between questions. */
  readonly memo: Memo
  /** An index that a lens brought, by name. */
  index(name: string): Index
  /** The vector of a question; null when there is no embedder, or when it failed (a note then says why). `late` ends the work. */
  embed(text: string, late?: AbortSignal): Promise<Float32Array | null>
  /** Resolves again what the viewer may see now: for the second check, just before an answer leaves. */
  look(): AccessScope
  note(note: Note): void
  readonly notes: readonly Note[]
  /** What each stage gave and what it cost, added as it ends. Times are measured, so they are the one part of an answer that varies. */
  readonly trace: StageTrace[]
}
