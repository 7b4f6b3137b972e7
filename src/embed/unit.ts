/** Vectors of length 1, so that a dot product is the cosine. */

/** A copy of length 1; null where there is no direction: all zero, or a number that is not finite. */
export function toUnit(values: ArrayLike<number>): Float32Array | null {
  let sum = 0
  for (let i = 0; i < values.length; i++) sum += (values[i] as number) ** 2
  const length = Math.sqrt(sum)
  if (!Number.isFinite(length) || length === 0) return null
  const unit = new Float32Array(values.length)
  for (let i = 0; i < values.length; i++) unit[i] = (values[i] as number) / length
  return unit
}
