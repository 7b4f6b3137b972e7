/** Canonical JSON: the same text for the same JSON value, whatever the order of its keys; and hashes of such texts. */
import { createHash, hash } from 'node:crypto'
import type { Steps } from './turns.ts'

export type Json = null | boolean | number | string | readonly Json[] | JsonObject
export interface JsonObject {
  readonly [key: string]: Json
}

/**
 * Serialises a value as JSON with keys sorted by UTF-16 code unit and without white space; numbers are written as `JSON.stringify` writes
 * them, as RFC 8785 requires.
 */
export function canonicalJson(value: Json): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(item => canonicalJson(item as Json)).join(',')}]`
  const object = value as JsonObject
  const keys = Object.keys(object).sort()
  return `{${keys.map(key => `${JSON.stringify(key)}:${canonicalJson(object[key] as Json)}`).join(',')}}`
}

/** Lower-case hexadecimal SHA-256 of UTF-8 text or of bytes. */
export function sha256(input: string | Uint8Array): string {
  return hash('sha256', input)
}

/** Number of bytes that are hashed without a pause, which takes about a millisecond. */
const HASHED_AT_ONCE = 1 << 20

/** SHA-256 of many bytes. The computation pauses regularly so that other work on the thread can run. */
export function* sha256InSteps(bytes: Uint8Array): Steps<string> {
  const sum = createHash('sha256')
  for (let at = 0; at < bytes.length; at += HASHED_AT_ONCE) {
    sum.update(bytes.subarray(at, at + HASHED_AT_ONCE))
    yield
  }
  return sum.digest('hex')
}

/** A random UUID (version 4). */
export function v4Id(random: (bytes: number) => Uint8Array): string {
  const bytes = random(16)
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x40
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80
  const hex = Buffer.from(bytes).toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}
