/** What the embedding worker and its owner say to each other. */
import type { EmbedKind } from './embedder.ts'
import type { RuntimeName } from './onnx-runtime.ts'
import type { SentenceModelParts } from './sentence-model.ts'

/** Requests may come before `load`; they wait for it. */
export type ToWorker =
  | { readonly type: 'load'; readonly parts: SentenceModelParts }
  | { readonly type: 'embed'; readonly id: number; readonly texts: readonly string[]; readonly kind: EmbedKind }
  | { readonly type: 'cancel'; readonly id: number }

export type FromWorker =
  | { readonly type: 'ready'; readonly runtime: RuntimeName }
  /** The model could not be loaded; the worker is of no use. */
  | { readonly type: 'unusable'; readonly reason: string }
  /** All vectors of a request, one behind the other. */
  | { readonly type: 'vectors'; readonly id: number; readonly values: Float32Array<ArrayBuffer> }
  | { readonly type: 'rejected'; readonly id: number; readonly reason: string }
