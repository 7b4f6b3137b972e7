/** Reads from the store the vectors that rows are made of. */
import type { ChunkKey, EntryKey } from '../../model/entry.ts'
import type { ChunkVector, StoreReader } from '../../store/store.ts'

/** Vectors read at once: some milliseconds, with what is made of them. */
const PAGE = 128

/** All of a model, page by page. */
export function* allVectors(reader: StoreReader, model: string): Iterable<readonly ChunkVector[]> {
  let after = -1
  for (;;) {
    const page = reader.scanVectors(model, after, PAGE)
    const last = page.at(-1)
    if (last === undefined) return
    yield page
    // Else one more could come at each pause, and it would never end.
    if (page.length < PAGE) return
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
