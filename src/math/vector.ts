/**
 * Arithmetic of embedding vectors. Sums run in double precision and in index order, so that a score is the same number
 * on every machine; vectors themselves are single precision.
 */

/** How far the length of a "unit" vector may be from 1: room for models that hand out half-precision numbers. */
export const UNIT_TOLERANCE = 1e-3

/** Inner product over the first `a.length` components of `b` from `offset` on. */
export function dot(a: Float32Array, b: Float32Array, offset = 0): number {
  let sum = 0
  for (let i = 0; i < a.length; i++) sum += (a[i] as number) * (b[offset + i] as number)
  return sum
}

/** Cosine of two unit vectors, in [-1, 1] whatever rounding did. */
export function cosine(a: Float32Array, b: Float32Array, offset = 0): number {
  return clampCosine(dot(a, b, offset))
}

/** The nearest number a cosine can be. */
export function clampCosine(value: number): number {
  return Math.min(1, Math.max(-1, value))
}

/** Euclidean length. */
export function norm(a: Float32Array): number {
  return Math.sqrt(dot(a, a))
}

/** False also for vectors with a component that is not finite. */
export function isUnit(a: Float32Array): boolean {
  return Math.abs(norm(a) - 1) <= UNIT_TOLERANCE
}

/** A copy of length 1, or undefined when there is no direction: length 0, or a component that is not finite. */
export function toUnit(a: ArrayLike<number>): Float32Array | undefined {
  let square = 0
  for (let i = 0; i < a.length; i++) square += (a[i] as number) ** 2
  const length = Math.sqrt(square)
  if (!(length > 0 && Number.isFinite(length))) return undefined
  return Float32Array.from(a, component => component / length)
}

/** Below this length a sum of unit vectors has no direction left, only rounding. */
const MIN_LENGTH = 1e-6

/**
 * `unit(base + Σ (factor - 1) · vector)`: what a text is compared by of which some terms count more than once, or less. The base where that comes
 * to nothing. All vectors have unit length.
 */
export function boostedVector(
  base: Float32Array,
  boosts: readonly { readonly vector: Float32Array; readonly factor: number }[],
): Float32Array {
  if (boosts.length === 0) return base
  const sum = Float64Array.from(base)
  for (const { vector, factor } of boosts) {
    for (let i = 0; i < sum.length; i++) sum[i] = (sum[i] as number) + (factor - 1) * (vector[i] as number)
  }
  const square = sum.reduce((total, component) => total + component * component, 0)
  return Math.sqrt(square) < MIN_LENGTH ? base : (toUnit(sum) ?? base)
}

/** Vectors of one query by two models, one after the other. */
export function jointVector(main: Float32Array, second: Float32Array): Float32Array {
  const joint = new Float32Array(main.length + second.length)
  joint.set(main)
  joint.set(second, main.length)
  return joint
}
