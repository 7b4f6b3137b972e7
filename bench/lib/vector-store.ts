/** A SQLite store of public entries with one chunk and one given vector each. */
import type { ChunkKey, EntryKey } from '../../src/model/entry.ts'
import { audience, type PartitionId } from '../../src/model/partition.ts'
import { openSqliteStore } from '../../src/store/sqlite-store.ts'
import type { Store } from '../../src/store/store.ts'
import { draftOf, wholeChunk } from '../../test/support/entries.ts'

export interface VectorStore {
  readonly store: Store
  readonly model: string
  readonly partitions: readonly PartitionId[]
  /** Keys by row of the vectors given. */
  readonly entries: readonly EntryKey[]
  readonly chunks: readonly ChunkKey[]
}

export const VECTOR_MODEL = 'generated@1'
const BATCH = 1000

export function openVectorStore(file: string, vectors: Float32Array, dimensions: number): VectorStore {
  const store = openSqliteStore({ file })
  const rows = vectors.length / dimensions
  const entries: EntryKey[] = []
  const chunks: ChunkKey[] = []
  for (let start = 0; start < rows; start += BATCH) {
    store.write(0, writer => {
      const written = []
      for (let row = start; row < Math.min(rows, start + BATCH); row++) {
        const draft = draftOf({ id: `row-${row}`, content: `Entry of row ${row}.`, audience: audience('public') })
        const { key } = writer.put(draft, wholeChunk(draft))
        const chunk = writer.chunksOf(key)[0]?.key as ChunkKey
        entries.push(key)
        chunks.push(chunk)
        written.push({ chunk, vector: vectors.subarray(row * dimensions, (row + 1) * dimensions) })
      }
      writer.putVectors(VECTOR_MODEL, written)
    })
  }
  const partitions = store.partitions().map(({ id }) => id)
  return { store, model: VECTOR_MODEL, partitions, entries, chunks }
}
