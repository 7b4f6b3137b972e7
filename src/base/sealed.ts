/**
 * Encrypts texts that leave the engine and come back, such as cursors, so that they cannot be read or forged. The same text under the same
 * secret and binding always gives the same bytes, so that a difference between two sealed texts reveals nothing else. Synthetic
 * initialisation vectors (as in RFC 5297) over AES-256-GCM.
 */
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  timingSafeEqual,
} from 'node:crypto'

const IV_BYTES = 12
const TAG_BYTES = 16

/**
 * Encrypts the text; the result is base64url. `binding`: text that says what the sealed text is for (its purpose, or viewer and query). It
 * is not contained in the result; opening requires exactly the same binding.
 */
export function seal(secret: string, binding: string, text: string): string {
  const keys = keysOf(secret)
  const iv = ivOf(keys.iv, binding, text)
  const cipher = createCipheriv('aes-256-gcm', keys.text, iv).setAAD(Buffer.from(binding))
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64url')
}

/**
 * Decrypts a sealed text. Null if the text is damaged, or was sealed under another secret or binding; the result does not show which of
 * these is the case.
 */
export function unseal(secret: string, binding: string, sealed: string): string | null {
  const bytes = Buffer.from(sealed, 'base64url')
  // Buffer's decoder ignores characters that are not base64url; a text with such characters was not made here, so it is rejected.
  if (bytes.length < IV_BYTES + TAG_BYTES || bytes.toString('base64url') !== sealed) return null
  const keys = keysOf(secret)
  const iv = bytes.subarray(0, IV_BYTES)
  try {
    const decipher = createDecipheriv('aes-256-gcm', keys.text, iv).setAAD(Buffer.from(binding))
    decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES))
    const text = Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]).toString()
    return timingSafeEqual(iv, ivOf(keys.iv, binding, text)) ? text : null
  } catch {
    return null
  }
}

interface Keys {
  readonly secret: string
  readonly iv: KeyObject
  readonly text: KeyObject
}

let last: Keys | null = null

function keysOf(secret: string): Keys {
  if (last?.secret === secret) return last
  const bytes = Buffer.from(hkdfSync('sha256', secret, '', 'querent sealed text', 64))
  last = { secret, iv: createSecretKey(bytes.subarray(0, 32)), text: createSecretKey(bytes.subarray(32)) }
  return last
}

function ivOf(key: KeyObject, binding: string, text: string): Buffer {
  const lengths = `${binding.length} ${text.length}\n`
  return createHmac('sha256', key).update(lengths).update(binding).update(text).digest().subarray(0, IV_BYTES)
}

// Signs texts that leave the engine and come back, so that only texts signed by this engine are accepted.

/** HMAC-SHA-256 of the text, base64url, 43 characters. */
export function sign(secret: string, text: string): string {
  return createHmac('sha256', secret).update(text).digest('base64url')
}

/**
 * Compares a text with its signature, taking the same time for right and wrong signatures, so that the duration does not reveal how much of
 * a signature is right.
 */
export function isSigned(secret: string, text: string, signature: string): boolean {
  const expected = Buffer.from(sign(secret, text))
  const given = Buffer.from(signature)
  return given.length === expected.length && timingSafeEqual(given, expected)
}
