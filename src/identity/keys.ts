/** Ed25519 key pairs derived from a seed, signatures made with them, and verification of signatures by other identities. */
import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto'
import { Recent } from '../base/recent.ts'

// Base58 with Bitcoin's alphabet (multibase prefix `z`): digits and letters without 0, O, I and l.

const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
const DIGITS: ReadonlyMap<string, number> = new Map([...ALPHABET].map((character, digit) => [character, digit]))

export function toBase58(bytes: Uint8Array): string {
  const zeros = leading(bytes, 0)
  const digits = convert(bytes.subarray(zeros), 256, 58)
  return '1'.repeat(zeros) + digits.map(digit => ALPHABET[digit]).join('')
}

/**
 * Decodes Base58. Null if the text contains a character that is not in the alphabet. Only one text is accepted for each sequence of bytes.
 */
export function fromBase58(text: string): Uint8Array | null {
  const digits: number[] = []
  for (const character of text) {
    const digit = DIGITS.get(character)
    if (digit === undefined) return null
    digits.push(digit)
  }
  const zeros = leading(digits, 0)
  return Uint8Array.from([...new Array<number>(zeros).fill(0), ...convert(digits.slice(zeros), 58, 256)])
}

/**
 * Converts a number from digits in one base to digits in another, most significant digit first, without leading zeros. Takes quadratic
 * time, which is no problem for numbers as short as keys.
 */
function convert(digits: Iterable<number>, from: number, to: number): number[] {
  const result: number[] = []
  for (const digit of digits) {
    let carry = digit
    for (let at = 0; at < result.length; at++) {
      carry += (result[at] as number) * from
      result[at] = carry % to
      carry = Math.floor(carry / to)
    }
    for (; carry > 0; carry = Math.floor(carry / to)) result.push(carry % to)
  }
  return result.reverse()
}

function leading(digits: ArrayLike<number>, value: number): number {
  let count = 0
  while (count < digits.length && digits[count] === value) count++
  return count
}

// Identities that contain their own public key: `did:key:z6Mk…`, an Ed25519 key in base58 after its multicodec number.

const PUBLIC_KEY_BYTES = 32
const PREFIX = 'did:key:z'
/** Multicodec `ed25519-pub`: 0xed as a variable-length integer. */
const CODEC = [0xed, 0x01] as const
/** Length in characters of a did:key's encoded part, 34 bytes with the codec; longer texts are not decoded. */
const LONGEST = 48

export function didOf(publicKey: Uint8Array): string {
  if (publicKey.length !== PUBLIC_KEY_BYTES) throw new RangeError(`a public key has ${PUBLIC_KEY_BYTES} bytes`)
  return PREFIX + toBase58(Uint8Array.from([...CODEC, ...publicKey]))
}

/** The public key of a did:key; null for anything else: other DID methods, other kinds of keys, malformed texts. */
export function publicKeyOf(did: string): Uint8Array | null {
  if (!did.startsWith(PREFIX) || did.length > PREFIX.length + LONGEST) return null
  const bytes = fromBase58(did.slice(PREFIX.length))
  if (bytes === null || bytes.length !== CODEC.length + PUBLIC_KEY_BYTES) return null
  return bytes[0] === CODEC[0] && bytes[1] === CODEC[1] ? bytes.subarray(CODEC.length) : null
}

export const SEED_BYTES = 32
export const SIGNATURE_BYTES = 64
/** DER headers that precede the 32 bytes of an Ed25519 key in its standard encoding: for a private key and for a public key (RFC 8410). */
const PRIVATE_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex')
const PUBLIC_HEAD = Buffer.from('302a300506032b6570032100', 'hex')

export interface Keys {
  readonly did: string
  readonly publicKey: Uint8Array
  /** Signs a message with the private key of this identity; the signature has 64 bytes. */
  sign(message: Uint8Array): Uint8Array
}

/** The key pair for this seed: 32 random bytes that must be kept as secret as the private key. */
export function keysOf(seed: Uint8Array): Keys {
  if (seed.length !== SEED_BYTES) throw new RangeError(`a seed has ${SEED_BYTES} bytes`)
  const key = createPrivateKey({ key: Buffer.concat([PRIVATE_HEAD, seed]), format: 'der', type: 'pkcs8' })
  const spki = createPublicKey(key).export({ format: 'der', type: 'spki' })
  const publicKey = Uint8Array.from(spki.subarray(PUBLIC_HEAD.length))
  return { did: didOf(publicKey), publicKey, sign: message => Uint8Array.from(sign(null, message, key)) }
}

/** Verifies signatures made by one identity. */
export interface Verifier {
  verify(message: Uint8Array, signature: Uint8Array): boolean
}

/**
 * Cache of verifiers by did:key: creating a verifier takes about as long as one verification, and a node mostly hears from the same few
 * identities.
 */
const KNOWN = new Recent<string, Verifier>(1_000)

/** The verifier for a did:key. Null if the text is not the did:key of an Ed25519 key. */
export function verifierOf(did: string): Verifier | null {
  const known = KNOWN.find(did)
  if (known !== undefined) return known
  const made = makeVerifier(did)
  return made === null ? null : KNOWN.get(did, () => made)
}

function makeVerifier(did: string): Verifier | null {
  const publicKey = publicKeyOf(did)
  const key = publicKey === null ? null : keyObject(publicKey)
  if (key === null) return null
  return {
    verify: (message, signature) => signature.length === SIGNATURE_BYTES && verify(null, message, key, signature),
  }
}

function keyObject(publicKey: Uint8Array): KeyObject | null {
  try {
    return createPublicKey({ key: Buffer.concat([PUBLIC_HEAD, publicKey]), format: 'der', type: 'spki' })
  } catch {
    return null
  }
}

// Encodes bytes as base64url text without padding; on decoding, only the canonical text of a sequence of bytes is accepted.

export function toBase64Url(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64url')
}

/** Decodes base64url. Null unless the text encodes exactly `length` bytes in canonical form, so that each value has only one text. */
export function fromBase64Url(text: string, length: number): Uint8Array | null {
  if (text.length !== Math.ceil((length * 4) / 3)) return null
  const bytes = Buffer.from(text, 'base64url')
  return bytes.length === length && bytes.toString('base64url') === text ? Uint8Array.from(bytes) : null
}
