/** What a question to collections may say beside its text. */
import type { Clock } from '../../base/clock.ts'
import type { Warning } from '../../lenses/collections/ask.ts'
import type { CollectionsInput } from '../../lenses/collections/request.ts'
import type { Viewer } from '../../model/viewer.ts'
import type { GivenEmbedder } from '../given-embedder.ts'

export interface QueryCollectionsOptions extends Omit<CollectionsInput, 'query'> {
  /** A Querent home; absent: the one of the working folder. */
  readonly persistDirectory?: string | undefined
  /** The sample that comes with this package instead of a store. */
  readonly sample?: boolean | undefined
  /** A ChromaDB server instead; default QUERENT_CHROMA_URL, where no home is named. */
  readonly url?: string | undefined
  /** Of the server; default QUERENT_CHROMA_TENANT, _DATABASE and _TOKEN, then the server's own defaults. */
  readonly tenant?: string | undefined
  readonly database?: string | undefined
  readonly token?: string | undefined
  /** Default: the home's for a home, else all-MiniLM-L6-v2. */
  readonly embedder?: GivenEmbedder | 'none' | undefined
  /** For collections that were embedded by another model. */
  readonly embedders?: Readonly<Record<string, GivenEmbedder>> | undefined
  readonly clock?: Clock | undefined
  /** Who asks; default the local owner. */
  readonly viewer?: Viewer | undefined
  /** Default 10 seconds. */
  readonly timeoutMs?: number | undefined
  readonly signal?: AbortSignal | undefined
  readonly onWarning?: ((warning: Warning) => void) | undefined
}
