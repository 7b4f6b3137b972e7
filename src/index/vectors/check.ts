/** What may be asked of a vector index, and what may enter it. */
import { isUnit, norm, UNIT_TOLERANCE } from '../../math/vector.ts'
import { invalidArgument, QuerentError } from '../../model/errors.ts'
import type { VectorSearch } from '../contract.ts'

/** Refuses a question vector of another length, not of unit length, or with components that are not numbers. */
export function checkQuery(request: Pick<VectorSearch, 'vector' | 'k'>, dimensions: number): void {
  const { vector, k } = request
  if (vector.length !== dimensions) throw invalidArgument('vector', vector.length, `${dimensions} components`)
  if (!isUnit(vector)) throw invalidArgument('vector', norm(vector), `length 1 (within ${UNIT_TOLERANCE})`)
  if (!(Number.isInteger(k) && k >= 0)) throw invalidArgument('k', k, 'a whole number, 0 or more')
}

/** A vector that the store holds and an index cannot take. */
export function unfitVector(model: string, problem: string): QuerentError {
  return new QuerentError('store_corrupt', `a stored vector of ${model} ${problem}; embed its entry again`, { model })
}
