/** Many hits as numbers in one piece of memory that the garbage collector need not walk or copy: for what is kept a while. */
import type { Hit } from '../index/contract.ts'

const NUMBERS_EACH = 3

/** Gives them back in the same order, without the `similarity` that searches with a prior have. */
export function packHits(hits: readonly Hit[]): () => readonly Hit[] {
  const { length } = hits
  const numbers = new Float64Array(length * NUMBERS_EACH)
  let at = 0
  for (const { entry, chunk, score } of hits) {
    numbers[at++] = entry
    numbers[at++] = chunk
    numbers[at++] = score
  }
  return () => Array.from({ length }, (_, place) => hitAt(numbers, place * NUMBERS_EACH))
}

function hitAt(numbers: Float64Array, at: number): Hit {
  return { entry: numbers[at] as number, chunk: numbers[at + 1] as number, score: numbers[at + 2] as number }
}
