/** Worlds of the plainest parts. */
import { type Embedder, modelKey } from '../../../src/embed/embedder.ts'
import type { ChunkDraft } from '../../../src/model/entry.ts'
import type { audience } from '../../../src/model/partition.ts'
import { openMemoryStore } from '../../../src/store/sqlite-store.ts'
import { AskWorld } from '../../support/ask-world.ts'
import { openReferenceVectors } from '../../support/reference-vectors.ts'
import { openReferenceWordIndex } from '../../support/reference-words.ts'
import { openToyEmbedder, TOY_MODEL } from '../../support/toy-embedder.ts'

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

/** One entry that a question about a fox finds by a word, one that it finds by meaning, and one of something else. */
export async function smallWorld(): Promise<AskWorld> {
  const world = openWorld()
  world.put({ id: 'words', content: 'fox dog', tags: ['red'] })
  world.put({ id: 'meaning', content: 'vixen' })
  world.put({ id: 'neither', content: 'tulip' })
  await world.embedAll()
  return world
}

/** Each text a paragraph and a chunk of its own, under a heading that bears its number; text n is on line 2n + 1. */
function linesOf(texts: readonly string[]): { readonly content: string; readonly chunks: readonly ChunkDraft[] } {
  const chunks: ChunkDraft[] = []
  let start = 0
  for (const [at, text] of texts.entries()) {
    chunks.push({
      start,
      end: start + text.length,
      startLine: 2 * at + 1,
      endLine: 2 * at + 1,
      headings: ['Top', `Part ${at + 1}`],
    })
    start += text.length + 2
  }
  return { content: texts.join('\n\n'), chunks }
}

export function putLines(
  world: AskWorld,
  id: string,
  texts: readonly string[],
  holder?: ReturnType<typeof audience>,
): void {
  const { content, chunks } = linesOf(texts)
  world.put({ id, content, ...(holder && { audience: holder }) }, chunks)
}
