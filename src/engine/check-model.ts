/** Tests an embedding model before it is used: reports its properties, whether its vectors make sense, and its speed. */
import { promises as fs } from 'node:fs'
import { join } from 'node:path'
import { checkEmbedder } from '../embed/checked-embedder.ts'
import type { Embedder } from '../embed/embedder.ts'
import { openLocalEmbedder } from '../embed/local-embedder.ts'
import { MODEL_FILES } from '../embed/onnx-folder.ts'
import { dot } from '../math/vector.ts'
import type { ModelCheck } from '../model/reports.ts'

/** Pairs of sentences with the same meaning: the vectors of a pair must be nearer to each other than to those of all other sentences. */
const SAME: readonly (readonly [string, string])[] = [
  ['A cat sleeps on the sofa.', 'The cat is asleep on the couch.'],
  ['The bank raised its interest rates.', 'Interest rates were increased by the bank.'],
  ['Install the package before you run the tests.', 'Run the tests after the package is installed.'],
]
const SPEED_MS = 1_000

/**
 * Tests the embedding model in a folder with a manifest, the ONNX model and its tokenizer. Rejects with `model_invalid` if the folder
 * contains no model, or if a file differs from the manifest.
 */
export async function checkModel(folder: string): Promise<ModelCheck> {
  const embedder = await openLocalEmbedder({ folder, threads: 1, start: 'now' })
  try {
    const { model } = embedder
    const { id, dimensions, languages, maxTokens: max_tokens } = model
    const about = {
      id,
      dimensions,
      languages,
      max_tokens,
      bytes: await sizeOf(folder),
      calibrated: model.calibration !== null,
    }
    const problem = await selfTest(checkEmbedder(embedder)).catch((error: unknown) => (error as Error).message)
    if (problem !== null) return { ...about, ok: false, message: problem, texts_per_second: null }
    const message = 'sentences with the same meaning are nearest to each other, and a text always has the same vector'
    return { ...about, ok: true, message, texts_per_second: await speedOf(embedder) }
  } finally {
    await embedder.close()
  }
}

async function sizeOf(folder: string): Promise<number> {
  const sizes = await Promise.all(MODEL_FILES.map(async file => (await fs.stat(join(folder, file))).size))
  return sizes.reduce((sum, size) => sum + size, 0)
}

/**
 * Tests the embedder on pairs of sentences with the same meaning: equal texts must give equal vectors, and sentences of a pair near ones.
 * Returns the problem found, or null.
 */
async function selfTest(embedder: Embedder): Promise<string | null> {
  const texts = SAME.flat()
  const vectors = await embedder.embed(texts, 'passage')
  const again = await embedder.embed(texts.slice(0, 1), 'passage')
  if (again[0]?.some((value, at) => value !== vectors[0]?.[at])) return 'the same text has different vectors'
  for (const [at, vector] of vectors.entries()) {
    const cosines = vectors.map((other, i) => (i === at ? Number.NEGATIVE_INFINITY : dot(vector, other)))
    // The sentences of a pair are neighbours in the list: 0 and 1, 2 and 3, 4 and 5.
    const nearest = cosines.indexOf(Math.max(...cosines))
    if (nearest !== (at ^ 1))
      return `"${texts[at]}" is nearer to "${texts[nearest]}" than to the sentence with the same meaning`
  }
  return null
}

async function speedOf(embedder: Embedder): Promise<number> {
  const text = SAME.flat().join(' ')
  const start = performance.now()
  let texts = 0
  while (performance.now() - start < SPEED_MS) {
    await embedder.embed([`${texts} ${text}`], 'passage')
    texts++
  }
  return Math.round((texts / (performance.now() - start)) * 10_000) / 10
}
