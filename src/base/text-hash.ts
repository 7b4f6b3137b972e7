/**
 * Quick hashes of texts and numbers, 32 bits each: for sums over many that tell whether they are still the same ones. No
 * defence against who wants two to be equal.
 */

const ONE = 0x9e3779b1
const OTHER = 0x85ebca6b

/** Another seed gives a hash that has nothing to do with it. */
export function textHash(text: string, seed = 0): number {
  let hash = Math.imul(seed ^ text.length, ONE)
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), ONE)
  return mixed(hash)
}

/** Two to one, in this order. */
export function hashOfTwo(a: number, b: number): number {
  return mixed(Math.imul(a, ONE) ^ b)
}

function mixed(hash: number): number {
  let h = Math.imul(hash ^ (hash >>> 15), OTHER)
  h = Math.imul(h ^ (h >>> 13), ONE)
  return (h ^ (h >>> 16)) >>> 0
}
