/**
 * Caches the vectors of the latest queries, so that a query repeated for a next page, a live query or another lens does not run the model
 * again. Vectors of passages are not cached, because they are computed once and stored.
 */
import { LRUCache } from 'lru-cache'
import type { Embedder } from './embedder.ts'

export interface CachedEmbedder extends Embedder {
  /** Number of queries whose vector was found in the cache, since the cache was created. */
  readonly hits: number
}

/** `size`: maximum number of queries in the cache (384 dimensions: 1.5 kB each). The returned vectors are shared: do not write to them. */
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
