/** One vector for a text from the vectors of its tokens. */

/** `mean` over all tokens, special ones included, or the vector of the first token (`cls`). */
export type Pooling = 'mean' | 'cls'

/** `tokenVectors` holds `tokens` rows of `dimensions` numbers. The sum is taken in double precision, in token order. */
export function pool(tokenVectors: Float32Array, tokens: number, dimensions: number, pooling: Pooling): Float64Array {
  const rows = pooling === 'cls' ? 1 : tokens
  const sum = new Float64Array(dimensions)
  for (let row = 0; row < rows; row++) {
    const start = row * dimensions
    for (let i = 0; i < dimensions; i++) sum[i] = (sum[i] as number) + (tokenVectors[start + i] as number)
  }
  for (let i = 0; i < dimensions; i++) sum[i] = (sum[i] as number) / rows
  return sum
}
