/** Where records are looked for: the store itself, or a server. Pure lists come back, so that strategies know no backend. */
import type { SearchHit } from '../enrichment/hits.ts'

/** What kept an answer from being all it could be; `code` is stable. */
export interface SearchWarning {
  /** `words_only`, `vectors_pending`, `plugin_failed`, or of a note of the pipeline. */
  readonly code: string
  readonly message: string
}

/** One question, embedded once, however many searches it takes. */
export interface AskedQuestion {
  readonly warnings: readonly SearchWarning[]
  /**
   * At most `limit`, best first, among all records (no tags) or those with any of the tags; more tags of the question
   * on a record count for it.
   */
  search(tags: readonly string[], limit: number): Promise<readonly SearchHit[]>
}

export interface Question {
  /** What is embedded and searched for. */
  readonly text: string
  /** Names, addresses and labels in it that a record may have letter by letter. */
  readonly exact: readonly string[]
}

export interface Backend {
  readonly name: 'embedded' | 'qdrant'
  ask(question: Question): Promise<AskedQuestion>
}
