/** Ed25519 key pairs made from a seed, signatures by them, and checks of others' signatures. */
import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto'
import { Recent } from '../base/recent.ts'
import { didOf, publicKeyOf } from './did-key.ts'

export const SEED_BYTES = 32
export const SIGNATURE_BYTES = 64
/** The bytes before the 32 bytes in the DER form of a private and of a public Ed25519 key (RFC 8410). */
const PRIVATE_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex')
const PUBLIC_HEAD = Buffer.from('302a300506032b6570032100', 'hex')

export interface Keys {
  readonly did: string
  readonly publicKey: Uint8Array
  /** 64 bytes. */
  sign(message: Uint8Array): Uint8Array
}

/** The pair of this seed: 32 random bytes, to be kept as secret as the key itself. */
export function keysOf(seed: Uint8Array): Keys {
  if (seed.length !== SEED_BYTES) throw new RangeError(`a seed has ${SEED_BYTES} bytes`)
  const key = createPrivateKey({ key: Buffer.concat([PRIVATE_HEAD, seed]), format: 'der', type: 'pkcs8' })
  const spki = createPublicKey(key).export({ format: 'der', type: 'spki' })
  const publicKey = Uint8Array.from(spki.subarray(PUBLIC_HEAD.length))
  return { did: didOf(publicKey), publicKey, sign: message => Uint8Array.from(sign(null, message, key)) }
}

/** Checks signatures by one identity. */
export interface Verifier {
  verify(message: Uint8Array, signature: Uint8Array): boolean
}

/** Making one costs about as much as a check, and the same few keys are met again and again. */
const KNOWN = new Recent<string, Verifier>(1_000)

/** Null when the text is no did:key of an Ed25519 key. */
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
