/** Typed arrays that grow: a larger one with the same contents takes the place of one that is full. */

type Numbers = Uint8Array | Uint16Array | Int32Array | Uint32Array | Float64Array

/** At least so long, and longer by a quarter: such arrays are large, and what is too much is never used. */
export function grown<A extends Numbers>(array: A, length: number): A {
  return larger(array, Math.max(length, Math.ceil(array.length * 1.25)))
}

/** The next power of two that is at least so long. */
export function doubled<A extends Numbers>(array: A, length: number): A {
  return larger(array, 2 ** Math.ceil(Math.log2(length)))
}

function larger<A extends Numbers>(array: A, length: number): A {
  // The constructor of an array makes arrays of its kind.
  const copy = new (array.constructor as new (length: number) => A)(length)
  copy.set(array)
  return copy
}
