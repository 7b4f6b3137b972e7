/** A longer copy; what is new in it is -1. */
export function grown(from: Int32Array, length: number): Int32Array<ArrayBuffer> {
  const into = new Int32Array(length)
  into.set(from)
  return into.fill(-1, from.length)
}
