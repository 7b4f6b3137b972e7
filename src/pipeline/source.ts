/** Where candidates come from: the local store, a collection in another engine, a peer. One contract for all. */
import type { Deadline } from '../base/clock.ts'
import type { Filter } from '../model/filter.ts'
import type { Sight } from '../model/viewer.ts'

export interface SourceRequest {
  readonly sight: Sight
  readonly text: string
  /** Null when there is no embedder. */
  readonly vector: Float32Array | null
  readonly filter: Filter | null
  readonly limit: number
  readonly deadline: Deadline
}

/** An entry from elsewhere, complete enough to be scored and shown here. */
export interface RemoteEntry {
  readonly id: string
  readonly holder: string
  readonly collection: string
  readonly title: string
  readonly content: string
  readonly tags: readonly string[]
  readonly metadata: Readonly<Record<string, unknown>>
  /** Cosine where the source gives one. */
  readonly similarity: number | null
}

export interface SourceAnswer {
  readonly source: string
  readonly entries: readonly RemoteEntry[]
  /** Null: all well. Otherwise what failed; the entries that did arrive still count. */
  readonly error: { readonly code: string; readonly message: string } | null
  readonly ms: number
}

export interface Source {
  readonly name: string
  retrieve(request: SourceRequest): Promise<SourceAnswer>
  close(): Promise<void>
}
