/**
 * Arithmetic of embedding vectors. Sums run in double precision and in index order, so that a score is the same number
 * on every machine; vectors themselves are single precision.
 */

/** Tolerance within which the length of a vector counts as 1; it allows for models that return half-precision numbers. */
export const UNIT_TOLERANCE = 1e-3

/** Inner product of `a` with the equally long part of `b` that begins at index `offset`. */
export function dot(a: Float32Array, b: Float32Array, offset = 0): number {
  let sum = 0
  for (let i = 0; i < a.length; i++) sum += (a[i] as number) * (b[offset + i] as number)
  return sum
}

/**
 * Cosine of two unit vectors: their inner product, clamped to [-1, 1] against rounding errors. `offset`: where the vector begins in `b`.
 */
export function cosine(a: Float32Array, b: Float32Array, offset = 0): number {
  return clampCosine(dot(a, b, offset))
}

/**
 * Cosines of one unit vector with several others of its length, in their order. Each is exactly what `cosine` returns. Four are computed at
 * a time, which takes two thirds of the time: one sum alone waits for each of its additions.
 *
 *     cosines(a, [b, c])   // [cosine(a, b), cosine(a, c)]
 */
export function cosines(a: Float32Array, others: readonly Float32Array[]): Float64Array {
  const values = new Float64Array(others.length)
  for (let at = 0; at < others.length; at += 4) {
    const [b = a, c = a, d = a, e = a] = [others[at], others[at + 1], others[at + 2], others[at + 3]]
    let [ofB, ofC, ofD, ofE] = [0, 0, 0, 0]
    for (let i = 0; i < a.length; i++) {
      const component = a[i] as number
      ofB += component * (b[i] as number)
      ofC += component * (c[i] as number)
      ofD += component * (d[i] as number)
      ofE += component * (e[i] as number)
    }
    // Beyond the end of `values`, an assignment to a typed array has no effect.
    values[at] = clampCosine(ofB)
    values[at + 1] = clampCosine(ofC)
    values[at + 2] = clampCosine(ofD)
    values[at + 3] = clampCosine(ofE)
  }
  return values
}

/** The value, clamped to the range of a cosine, [-1, 1]. */
export function clampCosine(value: number): number {
  return Math.min(1, Math.max(-1, value))
}

/** Euclidean length of the vector. */
export function norm(a: Float32Array): number {
  return Math.sqrt(dot(a, a))
}

/** Whether the vector has length 1 within the tolerance; false also for one with a component that is not finite. */
export function isUnit(a: Float32Array): boolean {
  return Math.abs(norm(a) - 1) <= UNIT_TOLERANCE
}

/** A copy scaled to length 1, or undefined for a vector without a direction: length 0, or a component that is not finite. */
export function toUnit(a: ArrayLike<number>): Float32Array | undefined {
  let square = 0
  for (let i = 0; i < a.length; i++) square += (a[i] as number) ** 2
  const length = Math.sqrt(square)
  if (!(length > 0 && Number.isFinite(length))) return undefined
  return Float32Array.from(a, component => component / length)
}

/** Shortest length at which a sum of unit vectors has a meaningful direction; in a shorter one only rounding errors are left. */
const MIN_LENGTH = 1e-6

/**
 * The unit vector of `base + Σ (factor − 1) · vector`: the vector of a text in which some terms are strengthened (factor above 1) or
 * weakened (below 1). Returns `base` where the sum is near 0. All given vectors must have unit length.
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

/** Joins the vectors that two models give for a query into one, the second model's components after the first's. */
export function jointVector(main: Float32Array, second: Float32Array): Float32Array {
  const joint = new Float32Array(main.length + second.length)
  joint.set(main)
  joint.set(second, main.length)
  return joint
}
