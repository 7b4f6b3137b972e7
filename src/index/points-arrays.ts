/** Typed arrays that grow by a quarter or as far as is needed: they are large, and what is too much is never used. */

export function grownFloats(array: Float64Array, length: number): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(lengthFor(array, length))
  larger.set(array)
  return larger
}

export function grownInts(array: Int32Array, length: number): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(lengthFor(array, length))
  larger.set(array)
  return larger
}

function lengthFor(array: { readonly length: number }, length: number): number {
  return Math.max(length, Math.ceil(array.length * 1.25))
}
