/** The engine's embedder, and the index of its vectors, as parts of the lens ask for them. */
import { modelKey } from '../../embed/embedder.ts'
import { type VectorIndex, vectorsName } from '../../index/contract.ts'
import type { LensHost } from '../lens.ts'

/** Key of the model that the engine embeds with; null: it has none. */
export function modelOf({ embedder }: Pick<LensHost, 'embedder'>): string | null {
  return embedder === null ? null : modelKey(embedder.model)
}

/** Opened when it is first asked for. */
export function vectorIndex(host: Pick<LensHost, 'index'>, model: string): VectorIndex {
  // The cast: what indexes of this name are.
  return host.index(vectorsName(model)) as VectorIndex
}
