/**
 * Remembers the vectors of the latest questions: the same question again (next page, live query, another lens) costs
 * no model run. Passages pass through: they are embedded once and stored.
 */
import { LRUCache } from 'lru-cache'
import type { Embedder } from './embedder.ts'

export interface CachedEmbedder extends Embedder {
  /** Questions answered from memory since it was made. */
  readonly hits: number
}

/** `size` is the most questions kept (384 dimensions: 1.5 kB each). Returned vectors are shared: do not write to them. */
export function cacheQueries(embedder: Embedder, size: number): CachedEmbedder {
  const known = new LRUCache<string, Float32Array>({ max: size })
  let hits = 0
  return {
    model: embedder.model,
    get hits() {
      return hits
    },
    runsOn: embedder.runsOn,
    close: () => embedder.close(),
    async embed(texts, kind, signal) {
      if (kind === 'passage') return embedder.embed(texts, kind, signal)
      const found = new Map<string, Float32Array>()
      for (const text of texts) {
        const vector = known.get(text)
        if (vector === undefined) continue
        hits++
        found.set(text, vector)
      }
      const missing = [...new Set(texts)].filter(text => !found.has(text))
      const vectors = missing.length === 0 ? [] : await embedder.embed(missing, kind, signal)
      missing.forEach((text, i) => {
        const vector = vectors[i] as Float32Array
        known.set(text, vector)
        found.set(text, vector)
      })
      return texts.map(text => found.get(text) as Float32Array)
    },
  }
}
