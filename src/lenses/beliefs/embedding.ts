/** The engine's embedder, the index of its vectors, and the vectors of current beliefs. */
import { modelKey } from '../../embed/embedder.ts'
import { type VectorIndex, vectorsName } from '../../index/contract.ts'
import { cosine } from '../../math/vector.ts'
import type { EntryKey } from '../../model/entry.ts'
import type { LensHost } from '../lens.ts'
import type { ShowView } from './access/show.ts'

/** Key of the model that the engine embeds with; null: it has none. */
export function modelOf({ embedder }: Pick<LensHost, 'embedder'>): string | null {
  return embedder === null ? null : modelKey(embedder.model)
}

/** Opened when it is first asked for. */
export function vectorIndex(host: Pick<LensHost, 'index'>, model: string): VectorIndex {
  // The cast: what indexes of this name are.
  return host.index(vectorsName(model)) as VectorIndex
}

/** Vectors of beliefs, by place; undefined: there is none yet. */
export function vectorsOf(
  { reader, model, columns, guests }: Pick<ShowView, 'reader' | 'model' | 'columns' | 'guests'>,
  beliefs: readonly { readonly entry: EntryKey }[],
): readonly (Float32Array | undefined)[] {
  if (model === null) return beliefs.map(() => undefined)
  const keys = beliefs.map(({ entry }) => entry)
  const own = guests === undefined ? keys : keys.filter(key => !guests.has(key))
  const read = columns.vectorsBy(model).get(reader, own)
  const found = new Map(read.map(({ entry, vector }) => [entry, vector]))
  return keys.map(key => found.get(key) ?? guests?.get(key)?.vector ?? undefined)
}

/** Raw cosine of two, by their places; 0 where one has no vector. */
export function likenessBy(vectors: readonly (Float32Array | undefined)[]): (a: number, b: number) => number {
  return (a, b) => {
    const [one, other] = [vectors[a], vectors[b]]
    return one === undefined || other === undefined ? 0 : cosine(one, other)
  }
}
