/** Vectors in texts: f32, little-endian whatever the machine, base64. */

/** How far a length may be from 1: what single precision and other implementations make of it. */
const TOLERANCE = 1e-3
export const MOST_DIMENSIONS = 8_192
const BYTES = 4

export function vectorToText(vector: Float32Array): string {
  const bytes = Buffer.alloc(vector.length * BYTES)
  for (let at = 0; at < vector.length; at++) bytes.writeFloatLE(vector[at] as number, at * BYTES)
  return bytes.toString('base64')
}

/** Null unless it is a vector of finite numbers and of unit length. */
export function vectorFromText(text: string): Float32Array | null {
  const bytes = Buffer.from(text, 'base64')
  const dimensions = bytes.length / BYTES
  if (!Number.isInteger(dimensions) || dimensions < 1 || dimensions > MOST_DIMENSIONS) return null
  // What is no base64 is passed over when it is read: then it is longer than its bytes.
  if (text.length !== Math.ceil(bytes.length / 3) * 4) return null
  const vector = floatsOf(bytes, dimensions)
  let squares = 0
  for (const component of vector) squares += component * component
  // What is not finite makes a sum that is not, and no comparison with it holds.
  return Math.abs(Math.sqrt(squares) - 1) <= TOLERANCE ? vector : null
}

const IS_LITTLE_ENDIAN = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1

function floatsOf(bytes: Buffer, count: number): Float32Array {
  const vector = new Float32Array(count)
  if (IS_LITTLE_ENDIAN) new Uint8Array(vector.buffer).set(bytes)
  else for (let at = 0; at < count; at++) vector[at] = bytes.readFloatLE(at * BYTES)
  return vector
}
