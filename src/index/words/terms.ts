/** The terms of a segment, in their order: found by their hash, or by what they begin with. */
import { lowerBound } from '../../base/lower-bound.ts'
import { LANGUAGES } from '../../text/stopwords.ts'
import { ByteReader, compareBytes, encodeTerm, hashBytes } from './bytes.ts'

/** Stored terms begin with a sign for their entry's language, so that stems of different languages never meet. */
export function termKey(language: number, stem: string): string {
  return String.fromCharCode(LANGUAGE_SIGN + language) + stem
}

const LANGUAGE_SIGN = 0x61

/** Terms a segment can hold: 24 bits of a slot. */
export const MAX_TERMS = 0xffffff

/** Where terms lie in a segment: see `segment.ts`. */
export interface TermArrays {
  /** Where each term's record starts. */
  readonly records: Uint32Array
  /** Hash table: 0, or a term's number + 1 with eight bits of its hash on top. */
  readonly slots: Uint32Array
  readonly lists: Uint8Array
}

/** By the number of a term, without the sign of its language. */
export interface TermShapes {
  /** In bytes; no term has more than 195. */
  readonly lengths: Uint8Array
  /** See `lettersOf`. */
  readonly letters: Uint32Array
}

/** Above all sets of letters that a word can have. */
export const NOT_ASCII = 0xffffffff

/** Letters that occur, as bits (ASCII modulo 32). `NOT_ASCII`: others occur. */
export function lettersOf(bytes: Uint8Array, from: number): number {
  let letters = 0
  for (let at = from; at < bytes.length; at++) {
    const byte = bytes[at] as number
    if (byte >= 0x80) return NOT_ASCII
    letters |= 1 << (byte & 31)
  }
  return letters >>> 0
}

export class TermTable {
  readonly #records: Uint32Array
  readonly #slots: Uint32Array
  readonly #lists: Uint8Array
  #languages: readonly number[] | undefined
  #shapes: TermShapes | undefined

  constructor({ records, slots, lists }: TermArrays) {
    this.#records = records
    this.#slots = slots
    this.#lists = lists
  }

  get count(): number {
    return this.#records.length
  }

  /** Places in LANGUAGES of those that terms begin with the sign of. */
  get languages(): readonly number[] {
    this.#languages ??= LANGUAGES.flatMap((_, language) => {
      const [low, high] = [this.lowerBound(languageSign(language)), this.lowerBound(languageSign(language + 1))]
      return low < high ? [language] : []
    })
    return this.#languages
  }

  /** The number of a term (`termKey`), or -1. */
  find(key: string): number {
    const term = encodeTerm(key)
    const hash = hashBytes(term)
    const slots = this.#slots
    const mask = slots.length - 1
    const sign = hash >>> 24
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const held = slots[slot] as number
      if (held === 0) return -1
      if (held >>> 24 === sign && this.#isAt((held & MAX_TERMS) - 1, term)) return (held & MAX_TERMS) - 1
    }
  }

  /** A term by its number, encoded. */
  bytes(term: number): Uint8Array {
    const reader = new ByteReader(this.#lists, this.#records[term] as number)
    const length = reader.number()
    return this.#lists.subarray(reader.at, reader.at + length)
  }

  /** What rules out most terms in a comparison of spellings: five bytes a term, made at the first call. */
  shapes(): TermShapes {
    this.#shapes ??= this.#shapesOf()
    return this.#shapes
  }

  #shapesOf(): TermShapes {
    const shapes = { lengths: new Uint8Array(this.count), letters: new Uint32Array(this.count) }
    for (let term = 0; term < this.count; term++) {
      const bytes = this.bytes(term)
      shapes.lengths[term] = bytes.length - 1
      shapes.letters[term] = lettersOf(bytes, 1)
    }
    return shapes
  }

  /** Number of the first term that is not below this one. */
  lowerBound(term: Uint8Array): number {
    return lowerBound(this.count, at => compareBytes(this.bytes(at), term) < 0)
  }

  #isAt(number: number, term: Uint8Array): boolean {
    const lists = this.#lists
    const reader = new ByteReader(lists, this.#records[number] as number)
    if (reader.number() !== term.length) return false
    const { at } = reader
    for (let next = 0; next < term.length; next++) if (lists[at + next] !== term[next]) return false
    return true
  }
}

/** The hash table of terms in their order. At most four fifths full, a power of two. */
export function hashTable(hashes: readonly number[]): Uint32Array {
  const slots = new Uint32Array(2 ** Math.max(2, Math.ceil(Math.log2(hashes.length * 1.25 + 1))))
  const mask = slots.length - 1
  for (let term = 0; term < hashes.length; term++) {
    const hash = hashes[term] as number
    let slot = hash & mask
    while (slots[slot] !== 0) slot = (slot + 1) & mask
    slots[slot] = ((hash >>> 24) << 24) | (term + 1)
  }
  return slots
}

function languageSign(language: number): Uint8Array {
  return Uint8Array.of(LANGUAGE_SIGN + language)
}
