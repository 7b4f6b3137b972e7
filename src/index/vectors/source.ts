/** Reads from the store the vectors that rows are made of. */
import type { ChunkKey, EntryKey } from '../../model/entry.ts'
import type { ChunkVector, StoreReader } from '../../store/store.ts'

/** Vectors read at once. */
const PAGE = 2048

/** All of a model. */
export function* allVectors(reader: StoreReader, model: string): Iterable<ChunkVector> {
  let after = -1
  for (;;) {
    const page = reader.scanVectors(model, after, PAGE)
    yield* page
    const last = page.at(-1)
    if (last === undefined) return
    after = last.chunk
  }
}

/** Those of the chunks of these entries. */
export function* vectorsOf(entries: Iterable<EntryKey>, reader: StoreReader, model: string): Iterable<ChunkVector> {
  let chunks: ChunkKey[] = []
  for (const entry of entries) {
    for (const chunk of reader.chunksOf(entry)) chunks.push(chunk.key)
    if (chunks.length < PAGE) continue
    yield* reader.vectors(model, chunks)
    chunks = []
  }
  yield* reader.vectors(model, chunks)
}
