/**
 * What the images of all indexes share: a JSON header, and arrays of numbers behind it, in the machine's order (little-endian).
 * The snapshot file guards an image with a checksum, but whoever changes an image on purpose can correct that too: so every
 * field is checked before it is used.
 */
import type { Numbers } from '../base/columns.ts'
import { invalidArgument, type QuerentError } from '../model/errors.ts'

/** Columns of numbers that are read in place begin at multiples of this. */
const ALIGNMENT = 8

/** Not checked yet. */
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
    // Refused below.
  }
  throw refusedImage(bytes.byteLength, 'a header')
}

/** Throws `invalid_argument` unless what lies behind the header is as long as it says. */
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

/** Throws `invalid_argument` unless the header has these fields: format, and whatever the index is declared by. */
export function checkIdentity(header: UncheckedHeader, identity: object): void {
  for (const [name, value] of Object.entries(identity)) {
    if (JSON.stringify(header[name]) === JSON.stringify(value)) continue
    throw invalidArgument(`snapshot.${name}`, header[name], String(value))
  }
}

/** Views of the arrays, to be written before they change. `header` holds the identity, and no field `arrays`. */
export function imageOf(header: object, arrays: readonly Numbers[]): readonly Uint8Array[] {
  return [
    headerBytes({ ...header, arrays: arrays.map(({ byteLength }) => byteLength) }),
    ...arrays.flatMap(({ buffer, byteOffset, byteLength }) => [
      new Uint8Array(buffer, byteOffset, byteLength),
      new Uint8Array(aligned(byteLength) - byteLength),
    ]),
  ]
}

export interface Image {
  readonly header: UncheckedHeader
  /** Arrays that are not taken yet. */
  readonly left: number
  /** The next array: a view of the image. Its length is not checked. */
  take<A extends Numbers>(of: ArrayType<A>): A
}

interface ArrayType<A> {
  readonly BYTES_PER_ELEMENT: number
  new (buffer: ArrayBufferLike, at: number, length: number): A
}

/** What `imageOf` wrote; the bytes must not change any more. Throws `invalid_argument` when they are no image of this identity. */
export function readImage(bytes: Uint8Array, identity: object): Image {
  // Not `slice`: a Buffer's gives a view.
  const image = aligned(bytes.byteOffset) === bytes.byteOffset ? bytes : new Uint8Array(bytes)
  const { header, end } = readHeader(image)
  checkIdentity(header, identity)
  const sizes = header['arrays']
  if (!(Array.isArray(sizes) && sizes.every(isCount))) throw refusedImage(sizes, 'sizes of arrays')
  let at = aligned(end)
  checkLength(
    image,
    sizes.reduce((sum, size) => sum + aligned(size), at),
  )
  let next = 0
  return {
    header,
    get left() {
      return sizes.length - next
    },
    take: of => {
      const size = sizes[next++]
      if (size === undefined || size % of.BYTES_PER_ELEMENT !== 0) throw refusedImage(size, 'the size of an array')
      const array = new of(image.buffer, image.byteOffset + at, size / of.BYTES_PER_ELEMENT)
      at += aligned(size)
      return array
    },
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
