/**
 * What the images of all indexes share: a JSON header in front of the columns, and the bound of every entry key. The
 * snapshot file guards an image with a checksum, which whoever changed the image on purpose has put right too.
 */
import { invalidArgument, type QuerentError } from '../model/errors.ts'

/** Columns of numbers that are read in place begin at multiples of this. */
const ALIGNMENT = 8

/** As it was written by whomever: every field is to be looked at before it is used. */
export type UncheckedHeader = Readonly<Record<string, unknown>>

/** Its length (u32, little-endian), the JSON, and blanks up to where columns may begin. */
export function headerBytes(header: object): Uint8Array {
  const json = new TextEncoder().encode(JSON.stringify(header))
  const bytes = new Uint8Array(aligned(4 + json.byteLength)).fill(0x20)
  new DataView(bytes.buffer).setUint32(0, bytes.byteLength - 4, true)
  bytes.set(json, 4)
  return bytes
}

/** With the place where it ends. Throws `invalid_argument` when there is none. */
export function readHeader(bytes: Uint8Array): { readonly header: UncheckedHeader; readonly end: number } {
  const length = bytes.byteLength < 4 ? 0 : new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true)
  const end = 4 + length
  if (end > bytes.byteLength) throw refusedImage(bytes.byteLength, 'a header')
  try {
    const header: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(4, end)))
    if (typeof header === 'object' && header !== null) return { header: header as UncheckedHeader, end }
  } catch {
    // Told below: what else the bytes may be does not matter.
  }
  throw refusedImage(bytes.byteLength, 'a header')
}

/** Throws `invalid_argument` unless the columns behind the header are as long as it says. */
export function checkLength(bytes: Uint8Array, expected: number): void {
  if (bytes.byteLength !== expected) throw refusedImage(bytes.byteLength, `${expected} bytes`)
}

/**
 * Throws `invalid_argument` at a key that no entry had at this position of the feed. Every entry came by a change of its
 * own, and both are numbered from 1, so that no key is above the position. Indexes keep tables by entry key: for a key of
 * thousands of millions they would take gigabytes.
 */
export function checkEntryKeys(keys: Int32Array | Uint32Array, position: number): void {
  for (let at = 0; at < keys.length; at++) {
    const key = keys[at] as number
    if (!(key >= 0 && key <= position)) throw refusedImage(key, `an entry key up to ${position}`)
  }
}

export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

/** The next place where a column may begin. */
export function aligned(place: number): number {
  return Math.ceil(place / ALIGNMENT) * ALIGNMENT
}

export function refusedImage(value: unknown, expected: string): QuerentError {
  return invalidArgument('snapshot', value, expected)
}
