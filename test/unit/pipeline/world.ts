/** Worlds of the plainest parts. */
import { type Embedder, modelKey } from '../../../src/embed/embedder.ts'
import { openReferenceVectors } from '../../../src/index/reference-vectors.ts'
import { openReferenceWordIndex } from '../../../src/index/reference-words.ts'
import { openMemoryStore } from '../../../src/store/memory-store.ts'
import { AskWorld } from '../../../src/testing/ask-world.ts'
import { openToyEmbedder, TOY_MODEL } from '../../../src/testing/toy-embedder.ts'

export function openWorld(embedder: Embedder = openToyEmbedder()): AskWorld {
  return new AskWorld({
    store: openMemoryStore(),
    words: openReferenceWordIndex(),
    vectors: openReferenceVectors(modelKey(TOY_MODEL), TOY_MODEL.dimensions),
    embedder,
  })
}

export function openWordsWorld(): AskWorld {
  return new AskWorld({ store: openMemoryStore(), words: openReferenceWordIndex(), vectors: null, embedder: null })
}
