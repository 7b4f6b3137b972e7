/** Checks that an embedder keeps its contract, so that no vector is stored that could not be compared with the others. */
import { QuerentError } from '../model/errors.ts'
import type { Embedder } from './embedder.ts'

/**
 * Tolerance around 1 for the squared length of a unit vector: vectors in 32-bit floats are within 1e-6, but some embedding providers round
 * components to three digits.
 */
const TOLERANCE = 0.01

/**
 * Wraps an embedder: it rejects with `embedder_failed` if there are too few vectors, or a vector has too few dimensions or is not of unit
 * length.
 */
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

/** Whether a vector is of unit length, within a tolerance. The comparison is also false if a component of the vector is NaN. */
function isUnit(vector: Float32Array): boolean {
  let square = 0
  for (let at = 0; at < vector.length; at++) square += (vector[at] as number) ** 2
  return Math.abs(square - 1) <= TOLERANCE
}

function wrong(id: string, found: string): QuerentError {
  return new QuerentError('embedder_failed', `the embedder ${id} answered with ${found}`, { model: id })
}
