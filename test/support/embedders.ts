/** Embedders that misbehave, around one that does not. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Embedder } from '../../src/embed/embedder.ts'
import { QuerentError } from '../../src/model/errors.ts'

/** Takes so long a text, and tells how many texts it was given so far. */
export function slowEmbedder(inner: Embedder, delayMs: number, onBatch: (texts: number) => void = () => {}): Embedder {
  let count = 0
  return {
    ...inner,
    async embed(texts, kind, signal) {
      await sleep(delayMs * texts.length, undefined, signal === undefined ? {} : { signal })
      const vectors = await inner.embed(texts, kind, signal)
      count += texts.length
      onBatch(count)
      return vectors
    },
  }
}

/** Fails for as long as `isDown` says so. */
export function failingEmbedder(inner: Embedder, isDown: () => boolean): Embedder {
  return {
    ...inner,
    embed: (texts, kind, signal) =>
      isDown()
        ? Promise.reject(new QuerentError('embedder_failed', 'the embedding worker ended unexpectedly'))
        : inner.embed(texts, kind, signal),
  }
}
