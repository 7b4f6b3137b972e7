/** A vector index over a small store, and brute force over the same. */
import type { VectorIndex } from '../../../src/index/contract.ts'
import { type KernelVectorIndex, openVectorIndex } from '../../../src/index/vectors.ts'
import { openReferenceVectors } from '../../support/reference-vectors.ts'
import { MODEL, type VectorStore } from '../../support/vector-stores.ts'

/** So many rows that sign codes choose: fewer are all read by int8. */
export const MANY = 9000

export function openPair(
  world: VectorStore,
  dimensions: number,
): { readonly index: KernelVectorIndex; readonly reference: VectorIndex } {
  const source = (chunks: readonly number[]) => world.store.vectors(MODEL, chunks)
  const index = openVectorIndex({ model: MODEL, dimensions, source })
  index.refresh(world.store)
  return { index, reference: referenceOf(world, dimensions) }
}

export function referenceOf(world: VectorStore, dimensions: number): VectorIndex {
  const reference = openReferenceVectors(MODEL, dimensions)
  reference.rebuild(world.store)
  return reference
}
