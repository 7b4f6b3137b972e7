/** Vectors in texts: f32, little-endian whatever the machine, base64, one behind the other. */

/** How far a length may be from 1: what single precision and other implementations make of it. */
const TOLERANCE = 1e-3
export const MOST_DIMENSIONS = 8_192
const BYTES = 4

/** All of the same length. */
export function vectorsToText(vectors: readonly Float32Array[]): string {
  const bytes = Buffer.concat(vectors.map(bytesOf))
  if (!IS_LITTLE_ENDIAN) bytes.swap32()
  return bytes.toString('base64')
}

/** Null unless it is so many vectors of this length; those that are not of finite numbers and of unit length are null. */
export function vectorsFromText(
  text: string,
  dimensions: number,
  count: number,
): readonly (Float32Array | null)[] | null {
  const bytes = Buffer.from(text, 'base64')
  // What is no base64 is passed over when it is read: then it is longer than its bytes.
  if (bytes.length !== count * dimensions * BYTES || text.length !== Math.ceil(bytes.length / 3) * 4) return null
  if (!IS_LITTLE_ENDIAN) bytes.swap32()
  const all = floatsOf(bytes)
  return Array.from({ length: count }, (_, at) => unitOrNull(all.subarray(at * dimensions, (at + 1) * dimensions)))
}

/** One vector of whatever length. Null unless it is of finite numbers and of unit length. */
export function vectorFromText(text: string): Float32Array | null {
  const dimensions = Math.floor((text.length / 4) * 3) / BYTES
  const count = Math.floor(dimensions)
  if (count < 1 || count > MOST_DIMENSIONS) return null
  return vectorsFromText(text, count, 1)?.[0] ?? null
}

const IS_LITTLE_ENDIAN = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1

function bytesOf({ buffer, byteOffset, byteLength }: Float32Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength)
}

/** The same memory where it begins at a whole number: short ones are cut from a common piece. */
function floatsOf(bytes: Buffer): Float32Array {
  const whole = bytes.byteOffset % BYTES === 0 ? bytes : Uint8Array.from(bytes)
  return new Float32Array(whole.buffer, whole.byteOffset, whole.byteLength / BYTES)
}

function unitOrNull(vector: Float32Array): Float32Array | null {
  let squares = 0
  for (let at = 0; at < vector.length; at++) squares += (vector[at] as number) ** 2
  // What is not finite makes a sum that is not, and no comparison with it holds.
  return Math.abs(Math.sqrt(squares) - 1) <= TOLERANCE ? vector : null
}
