/** The model that comes with Querent, where meaning is measured. */
import type { Embedder } from '../../src/embed/embedder.ts'
import { openEmbedder } from '../../src/embed/open-embedder.ts'

export async function localEmbedder(): Promise<Embedder> {
  const embedder = await openEmbedder({ provider: 'local' }, { baseFolder: '.', env: {} })
  if (embedder === null) throw new Error('there is no local embedder')
  return embedder
}

/** For an engine, which closes its embedder, where several are to use the same one. */
export function lent(embedder: Embedder): Embedder {
  return { ...embedder, close: () => Promise.resolve() }
}
