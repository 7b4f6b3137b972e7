/** Identities that are their own public key: `did:key:z6Mk…`, an Ed25519 key in base58 behind its multicodec number. */
import { fromBase58, toBase58 } from './base58.ts'

const PUBLIC_KEY_BYTES = 32
const PREFIX = 'did:key:z'
/** Multicodec `ed25519-pub`, 0xed as a variable-length integer. */
const CODEC = [0xed, 0x01] as const
/** Characters that 34 bytes behind this codec come to; longer texts are not even read. */
const LONGEST = 48

export function didOf(publicKey: Uint8Array): string {
  if (publicKey.length !== PUBLIC_KEY_BYTES) throw new RangeError(`a public key has ${PUBLIC_KEY_BYTES} bytes`)
  return PREFIX + toBase58(Uint8Array.from([...CODEC, ...publicKey]))
}

/** The key of a did:key, or null for anything else: other methods, other kinds of key, texts that are not well formed. */
export function publicKeyOf(did: string): Uint8Array | null {
  if (!did.startsWith(PREFIX) || did.length > PREFIX.length + LONGEST) return null
  const bytes = fromBase58(did.slice(PREFIX.length))
  if (bytes === null || bytes.length !== CODEC.length + PUBLIC_KEY_BYTES) return null
  return bytes[0] === CODEC[0] && bytes[1] === CODEC[1] ? bytes.subarray(CODEC.length) : null
}
