/** What all times are measured by: an index of 100,000 vectors, whose sign-code distances are all computed. */
import { type KernelVectorIndex, openVectorIndex } from '../../src/index/vectors.ts'
import type { ChunkVector, StoreReader } from '../../src/store/store.ts'

export const FLOOR_ROWS = 100_000
/** Where all of it is. */
export const FLOOR_SCOPE = { partitions: [1] }

/** Of the first vectors, one behind the other. */
export function floorIndexOf(model: string, dimensions: number, vectors: Float32Array): KernelVectorIndex {
  const index = openVectorIndex({ model, dimensions, source: () => [] })
  const row = (i: number): ChunkVector => {
    const vector = vectors.subarray(i * dimensions, (i + 1) * dimensions)
    return { chunk: i, entry: i, partition: 1, vector }
  }
  const count = Math.min(FLOOR_ROWS, vectors.length / dimensions)
  const scanVectors = (_: string, after: number, limit: number) =>
    Array.from({ length: Math.max(0, Math.min(limit, count - after - 1)) }, (_, i) => row(after + 1 + i))
  // The two calls that a rebuild makes.
  index.rebuild({ lastSeq: () => 1, scanVectors } as unknown as StoreReader)
  return index
}
