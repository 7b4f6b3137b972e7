/** Vectors of what a call has written, so that it is found by meaning at once (CX-024); what fails is left to the engine. */
import { modelKey } from '../../embed/embedder.ts'
import type { VectorIndex } from '../../index/contract.ts'
import { type EntryKey, embeddedText } from '../../model/entry.ts'
import type { LensHost } from '../lens.ts'
import type { Call } from './call.ts'

/** More than this is work for the background. */
const MOST = 64

export async function embedEntries({ host, signal }: Call, entries: readonly EntryKey[]): Promise<void> {
  const { embedder, store, clock } = host
  if (embedder === null || entries.length > MOST) return
  const key = modelKey(embedder.model)
  const chunks = store.entries(entries).flatMap(entry => {
    return store.chunksOf(entry.key).map(chunk => ({ chunk: chunk.key, text: embeddedText(entry, chunk) }))
  })
  const known = new Set(
    store
      .vectorsOnly(
        key,
        chunks.map(({ chunk }) => chunk),
      )
      .map(({ chunk }) => chunk),
  )
  const missing = chunks.filter(({ chunk }) => !known.has(chunk))
  if (missing.length === 0) return
  try {
    const vectors = await embedder.embed(
      missing.map(({ text }) => text),
      'passage',
      signal,
    )
    store.write(clock.now(), writer => {
      const alive = new Set(writer.chunks(missing.map(({ chunk }) => chunk)).map(chunk => chunk.key))
      const found = missing.flatMap(({ chunk }, at) => {
        const vector = vectors[at]
        return alive.has(chunk) && vector !== undefined ? [{ chunk, vector }] : []
      })
      writer.putVectors(key, found)
    })
  } catch {
    // The concept is written; its vector is made by the background, which tells what keeps failing.
  }
}

/** Null without an embedder. */
export function vectorIndex(host: LensHost): VectorIndex | null {
  if (host.embedder === null) return null
  return host.index(`vectors-${modelKey(host.embedder.model)}`) as VectorIndex
}
