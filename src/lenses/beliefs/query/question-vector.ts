/** What a question is embedded as: its text, leaning towards its boosted terms (BQ-036). */
import { toUnit } from '../../../math/vector.ts'

/** Below this length a sum has no direction left, only rounding. */
const LEAST_LENGTH = 1e-6

/** `normalise(base + Σ (factor - 1) · vector)`; the base where that comes to nothing. All vectors have unit length. */
export function questionVector(
  base: Float32Array,
  boosts: readonly { readonly vector: Float32Array; readonly factor: number }[],
): Float32Array {
  if (boosts.length === 0) return base
  const sum = Float64Array.from(base)
  for (const { vector, factor } of boosts) {
    for (let i = 0; i < sum.length; i++) sum[i] = (sum[i] as number) + (factor - 1) * (vector[i] as number)
  }
  const square = sum.reduce((total, component) => total + component * component, 0)
  return Math.sqrt(square) < LEAST_LENGTH ? base : (toUnit(sum) ?? base)
}
