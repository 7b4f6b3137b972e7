/** Bytes of the word index: a growing buffer, variable-length numbers, and terms in an encoding that keeps their order. */

/** Grows as it is written to. Numbers are 0 to 2^32 - 1, seven bits a byte, low bits first. */
export class ByteSink {
  #bytes: Uint8Array
  length = 0

  constructor(capacity = 256) {
    this.#bytes = new Uint8Array(capacity)
  }

  /** What was written, as a view that the next write may outdate. */
  get written(): Uint8Array {
    return this.#bytes.subarray(0, this.length)
  }

  clear(): void {
    this.length = 0
  }

  number(value: number): void {
    if (this.length + 5 > this.#bytes.length) this.#grow(5)
    let rest = value
    while (rest >= 0x80) {
      this.#bytes[this.length++] = (rest & 0x7f) | 0x80
      rest >>>= 7
    }
    this.#bytes[this.length++] = rest
  }

  /** Appends bytes `from` to `to` (excluded) of another buffer. */
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

/** Reads numbers one after the other. */
export class ByteReader {
  readonly bytes: Uint8Array
  at: number

  constructor(bytes: Uint8Array, at = 0) {
    this.bytes = bytes
    this.at = at
  }

  number(): number {
    const { bytes } = this
    let byte = bytes[this.at++] as number
    if (byte < 0x80) return byte
    let value = byte & 0x7f
    for (let shift = 7; ; shift += 7) {
      byte = bytes[this.at++] as number
      value |= (byte & 0x7f) << shift
      if (byte < 0x80 || shift === 28) return value >>> 0
    }
  }

  /** Steps over so many numbers. */
  skip(count: number): void {
    const { bytes } = this
    let at = this.at
    for (let left = count; left > 0; at++) if ((bytes[at] as number) < 0x80) left--
    this.at = at
  }
}

/** Longest encoded term: a language sign and 64 UTF-16 units of up to three bytes. */
const MAX_TERM_BYTES = 3 * 65
const scratch = new Uint8Array(MAX_TERM_BYTES)

/**
 * Each UTF-16 unit by itself as UTF-8 encodes a number of its size (CESU-8). Unlike UTF-8 it orders bytes as JavaScript
 * orders strings, and any string comes back as it was.
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

/** Negative, 0 or positive, as for sorting. */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const common = Math.min(a.length, b.length)
  for (let at = 0; at < common; at++) {
    const difference = (a[at] as number) - (b[at] as number)
    if (difference !== 0) return difference
  }
  return a.length - b.length
}

/** FNV-1a, 32 bits. */
export function hashBytes(bytes: Uint8Array): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < bytes.length; at++) hash = Math.imul(hash ^ (bytes[at] as number), 0x01000193)
  return (hash ^ (hash >>> 15)) >>> 0
}
