/**
 * Fast 32-bit hashes of texts and numbers, for checksums that tell whether a large set has changed. Not cryptographic: collisions can be
 * made on purpose.
 */

const ONE = 0x9e3779b1
const OTHER = 0x85ebca6b

/** Hash of the text. Different seeds give independent hashes. */
export function textHash(text: string, seed = 0): number {
  let hash = Math.imul(seed ^ text.length, ONE)
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), ONE)
  return mixed(hash)
}

/** Combines two 32-bit hashes into one; swapping the two gives a different result. */
export function hashOfTwo(a: number, b: number): number {
  return mixed(Math.imul(a, ONE) ^ b)
}

function mixed(hash: number): number {
  let h = Math.imul(hash ^ (hash >>> 15), OTHER)
  h = Math.imul(h ^ (h >>> 13), ONE)
  return (h ^ (h >>> 16)) >>> 0
}
