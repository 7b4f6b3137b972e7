/** Checks of vectors: of the vector of a query, and of vectors that are added to a vector index. */
import { isUnit, norm, UNIT_TOLERANCE } from '../../math/vector.ts'
import { invalidArgument, QuerentError } from '../../model/errors.ts'
import type { VectorSearch } from '../contract.ts'

/**
 * Throws `invalid_argument` for the vector of a query that has the wrong number of components, is not of unit length or is not finite, and
 * for a `k` that is not a whole number of 0 or more.
 */
export function checkQuery(request: Pick<VectorSearch, 'vector' | 'k'>, dimensions: number): void {
  const { vector, k } = request
  if (vector.length !== dimensions) throw invalidArgument('vector', vector.length, `${dimensions} components`)
  if (!isUnit(vector)) throw invalidArgument('vector', norm(vector), `length 1 (within ${UNIT_TOLERANCE})`)
  if (!(Number.isInteger(k) && k >= 0)) throw invalidArgument('k', k, 'a whole number, 0 or more')
}

/** The error for a vector in the store that a vector index cannot use. */
export function unfitVector(model: string, problem: string): QuerentError {
  return new QuerentError('store_corrupt', `a stored vector of ${model} ${problem}; embed its entry again`, { model })
}
