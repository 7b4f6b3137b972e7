/** Holds an embedder to its contract, so that no vector gets in that could not be compared with the others. */
import { QuerentError } from '../model/errors.ts'
import type { Embedder } from './embedder.ts'

/** How far the square of a length may be from 1: f32 sums are within 1e-6, some providers round to three digits. */
const TOLERANCE = 0.01

/** The same embedder; rejects with `embedder_failed` instead of giving too few vectors, too short ones, or not of unit length. */
export function checkEmbedder(embedder: Embedder): Embedder {
  const { model } = embedder
  return {
    model,
    runsOn: embedder.runsOn,
    close: () => embedder.close(),
    async embed(texts, kind, signal) {
      const vectors = await embedder.embed(texts, kind, signal)
      if (vectors.length !== texts.length) throw wrong(model.id, `${vectors.length} vectors for ${texts.length} texts`)
      for (const vector of vectors) {
        if (vector.length !== model.dimensions)
          throw wrong(model.id, `${vector.length} of ${model.dimensions} dimensions`)
        if (!isUnit(vector)) throw wrong(model.id, 'a vector that is not of unit length')
      }
      return vectors
    },
  }
}

/** False for numbers that are none, too. */
function isUnit(vector: Float32Array): boolean {
  let square = 0
  for (let at = 0; at < vector.length; at++) square += (vector[at] as number) ** 2
  return Math.abs(square - 1) <= TOLERANCE
}

function wrong(id: string, found: string): QuerentError {
  return new QuerentError('embedder_failed', `the embedder ${id} answered with ${found}`, { model: id })
}
