/** Embeds certain entries at once, so that a caller who has just written them need not wait for all other entries without vectors. */
import { type Embedder, modelKey } from '../embed/embedder.ts'
import { type ChunkKey, type EntryKey, embeddedText } from '../model/entry.ts'
import type { Progress } from '../model/operation.ts'
import type { LensHost } from './lens.ts'

/** Number of texts embedded before their vectors are written to the store. */
const BATCH = 64

interface Missing {
  readonly chunk: ChunkKey
  readonly text: string
}

/**
 * Makes the vectors of the given entries. Rejects with the embedder's error, but keeps the vectors made before. Does nothing where there is
 * no embedder.
 */
export async function embedEntries(
  host: LensHost,
  entries: readonly EntryKey[],
  signal: AbortSignal,
  report?: (progress: Progress) => void,
): Promise<void> {
  const { embedder } = host
  if (embedder === null) return
  const missing = missingOf(host, modelKey(embedder.model), entries)
  for (let done = 0; done < missing.length; done += BATCH) {
    report?.({ phase: 'embed', done, total: missing.length })
    await embed(host, embedder, missing.slice(done, done + BATCH), signal)
  }
}

function missingOf({ store }: LensHost, model: string, entries: readonly EntryKey[]): readonly Missing[] {
  const chunks = store.entries(entries).flatMap(entry => {
    return store.chunksOf(entry.key).map(chunk => ({ chunk: chunk.key, text: embeddedText(entry, chunk) }))
  })
  const keys = chunks.map(({ chunk }) => chunk)
  const known = new Set(store.vectorsOnly(model, keys).map(({ chunk }) => chunk))
  return chunks.filter(({ chunk }) => !known.has(chunk))
}

async function embed(
  { store, clock }: LensHost,
  embedder: Embedder,
  missing: readonly Missing[],
  signal: AbortSignal,
): Promise<void> {
  const texts = missing.map(({ text }) => text)
  const vectors = await embedder.embed(texts, 'passage', signal)
  await store.writeWhenFree(clock.now(), writer => {
    const alive = new Set(writer.chunks(missing.map(({ chunk }) => chunk)).map(chunk => chunk.key))
    const found = missing.flatMap(({ chunk }, at) => {
      const vector = vectors[at]
      return alive.has(chunk) && vector !== undefined ? [{ chunk, vector }] : []
    })
    writer.putVectors(modelKey(embedder.model), found)
  })
}
