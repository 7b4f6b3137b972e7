/**
 * An embedder in whose place no model runs: it bears MiniLM's name, so that a store filled with generated vectors can
 * also be asked by the real one, and gives each new text the next held-out vector of the same generator.
 */
// biome-ignore lint/correctness/useImportExtensions: the file is a script with types beside it, and biome wants .mjs.mts
import { buildModel } from '../../scripts/build-model.mjs'
import type { Embedder, EmbeddingModel } from '../../src/embed/embedder.ts'
import { openLocalEmbedder } from '../../src/embed/local-embedder.ts'
import { quick } from './quick.ts'
import { type Mixture, mixture } from './vectors-data.ts'

export const ROWS: number = quick ? 10_000 : 100_000
export const QUESTIONS = 1000
export const DIMENSIONS = 384

export async function openStandIn(): Promise<Embedder> {
  const vectorOf = inTurn(heldOut)
  return { model: await miniLm(), embed: async texts => texts.map(vectorOf), close: async () => {} }
}

/** Gives the first text vector 0, each new one the next, and a known one its own again. */
export function inTurn(vectorAt: (n: number) => Float32Array): (text: string) => Float32Array {
  const known = new Map<string, Float32Array>()
  return text => {
    const vector = known.get(text) ?? vectorAt(known.size)
    known.set(text, vector)
    return vector
  }
}

export async function miniLm(): Promise<EmbeddingModel> {
  const embedder = await openLocalEmbedder({ folder: buildModel().folder, start: 'first-use' })
  await embedder.close()
  return embedder.model
}

/** The n-th generated vector of the store. */
export function generated(n: number): Float32Array {
  return vectors().rows.slice(n * DIMENSIONS, (n + 1) * DIMENSIONS)
}

/** All generated vectors of the store, one behind the other. */
export function allGenerated(): Float32Array {
  return vectors().rows
}

/** The n-th held-out vector; after the last the first again. */
export function heldOut(n: number): Float32Array {
  const at = (n % QUESTIONS) * DIMENSIONS
  return vectors().queries.slice(at, at + DIMENSIONS)
}

let loaded: Mixture | undefined

function vectors(): Mixture {
  loaded ??= mixture({ rows: ROWS, queries: QUESTIONS, dimensions: DIMENSIONS, seed: 42 })
  return loaded
}
