/** Byte encoding used by the word index: a growing buffer, numbers of variable length, and terms in an encoding that keeps their order. */

/** Numbers below ONE_BYTE take one byte (most numbers in the index), numbers below TWO_BYTES take two, all others below 2^32 take five. */
export const ONE_BYTE = 192
const TWO_BYTES = ONE_BYTE + 63 * 256
/** First byte of a number that takes five bytes; the number itself follows in four bytes, in little-endian order. */
export const LONG = 255

/** A byte buffer that grows when more is written than it has room for. */
export class ByteSink {
  #bytes: Uint8Array
  length = 0

  constructor(capacity = 256) {
    this.#bytes = new Uint8Array(capacity)
  }

  /** View of the bytes written so far; the next write to the buffer may make the view invalid. */
  get written(): Uint8Array {
    return this.#bytes.subarray(0, this.length)
  }

  clear(): void {
    this.length = 0
  }

  number(value: number): void {
    if (this.length + 5 > this.#bytes.length) this.#grow(5)
    const bytes = this.#bytes
    if (value < ONE_BYTE) {
      bytes[this.length++] = value
    } else if (value < TWO_BYTES) {
      const rest = value - ONE_BYTE
      bytes[this.length++] = ONE_BYTE + (rest >>> 8)
      bytes[this.length++] = rest & 0xff
    } else {
      bytes[this.length++] = LONG
      for (let shift = 0; shift < 32; shift += 8) bytes[this.length++] = (value >>> shift) & 0xff
    }
  }

  /** Appends to this buffer the bytes of another buffer from the offset `from` to the offset `to` (exclusive). */
  copy(bytes: Uint8Array, from: number, to: number): void {
    const count = to - from
    if (this.length + count > this.#bytes.length) this.#grow(count)
    if (count < 24) for (let at = from; at < to; at++) this.#bytes[this.length++] = bytes[at] as number
    else {
      this.#bytes.set(bytes.subarray(from, to), this.length)
      this.length += count
    }
  }

  #grow(room: number): void {
    const grown = new Uint8Array(Math.max(this.length + room, Math.ceil(this.#bytes.length * 1.5)))
    grown.set(this.written)
    this.#bytes = grown
  }
}

/** Reads encoded numbers from a byte buffer, one after the other. */
export class ByteReader {
  readonly bytes: Uint8Array
  at: number

  constructor(bytes: Uint8Array, at = 0) {
    this.bytes = bytes
    this.at = at
  }

  number(): number {
    const { bytes } = this
    const first = bytes[this.at++] as number
    if (first < ONE_BYTE) return first
    if (first < LONG) return ONE_BYTE + ((first - ONE_BYTE) << 8) + (bytes[this.at++] as number)
    this.at += 4
    return readLong(bytes, this.at - 4)
  }

  /** Skips `count` encoded numbers. */
  skip(count: number): void {
    const { bytes } = this
    let at = this.at
    for (let left = count; left > 0; left--) {
      const first = bytes[at++] as number
      if (first >= ONE_BYTE) at += first < LONG ? 1 : 4
    }
    this.at = at
  }
}

/** Reads a number of the longest form (five bytes): `at` is the offset of the four bytes that follow the marking first byte. */
export function readLong(bytes: Uint8Array, at: number): number {
  let value = 0
  for (let next = 0; next < 4; next++) value |= (bytes[at + next] as number) << (8 * next)
  return value >>> 0
}

/** Length in bytes of the longest encoded term: a sign for the language (1 byte) and 64 UTF-16 units of up to three bytes each. */
const MAX_TERM_BYTES = 3 * 65
const scratch = new Uint8Array(MAX_TERM_BYTES)

/**
 * Encodes a term: each UTF-16 unit by itself, as UTF-8 would encode a code point of that number (CESU-8). Unlike with UTF-8, the order of
 * the bytes is the order of JavaScript strings, and every string, also one with half a surrogate pair, can be decoded again.
 */
export function encodeTerm(term: string): Uint8Array {
  let length = 0
  for (let at = 0; at < term.length; at++) {
    const unit = term.charCodeAt(at)
    if (unit < 0x80) {
      scratch[length++] = unit
    } else if (unit < 0x800) {
      scratch[length++] = 0xc0 | (unit >> 6)
      scratch[length++] = 0x80 | (unit & 0x3f)
    } else {
      scratch[length++] = 0xe0 | (unit >> 12)
      scratch[length++] = 0x80 | ((unit >> 6) & 0x3f)
      scratch[length++] = 0x80 | (unit & 0x3f)
    }
  }
  return scratch.slice(0, length)
}

export function decodeTerm(bytes: Uint8Array): string {
  let term = ''
  for (let at = 0; at < bytes.length; ) {
    const lead = bytes[at++] as number
    if (lead < 0x80) term += String.fromCharCode(lead)
    else if (lead < 0xe0) term += String.fromCharCode(((lead & 0x1f) << 6) | follow(bytes, at++))
    else term += String.fromCharCode(((lead & 0x0f) << 12) | (follow(bytes, at++) << 6) | follow(bytes, at++))
  }
  return term
}

function follow(bytes: Uint8Array, at: number): number {
  return (bytes[at] as number) & 0x3f
}

/** Compares two byte strings; negative, 0 or positive, as a sort function needs it. */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const common = Math.min(a.length, b.length)
  for (let at = 0; at < common; at++) {
    const difference = (a[at] as number) - (b[at] as number)
    if (difference !== 0) return difference
  }
  return a.length - b.length
}

/** 32-bit FNV-1a hash of the bytes of a term. */
export function hashBytes(bytes: Uint8Array): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < bytes.length; at++) hash = Math.imul(hash ^ (bytes[at] as number), 0x01000193)
  return (hash ^ (hash >>> 15)) >>> 0
}
