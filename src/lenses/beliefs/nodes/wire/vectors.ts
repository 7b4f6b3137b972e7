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
  if (bytes.toString('base64') !== text) return null
  const vector = new Float32Array(dimensions)
  let squares = 0
  for (let at = 0; at < dimensions; at++) {
    const component = bytes.readFloatLE(at * BYTES)
    vector[at] = component
    squares += component * component
  }
  // What is not finite makes a sum that is not, and no comparison with it holds.
  return Math.abs(Math.sqrt(squares) - 1) <= TOLERANCE ? vector : null
}
