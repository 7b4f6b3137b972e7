/**
 * A segment: some chunks and where their words are, written once. Only deaths are noted afterwards. All of it lies in
 * typed arrays, so a snapshot is read in place.
 *
 * `lists` has one record a term, in order of terms:
 *
 *     length of the term, the term, start in `places`, number of runs,
 *     a head for each run: partitions skipped, chunks, bytes of postings, bytes of places, bound, [start in `skips`]
 *     the postings of each run
 *
 * A run holds the chunks of one partition, so one that may not be read is stepped over unread. A posting is the distance
 * to the row before, doubled, plus 1 when the word comes once in the text and not in the title; otherwise the counts
 * follow. Runs of more than BLOCK postings have a row of four numbers in `skips` for each block: its last row (within
 * the partition), the ends of its postings and its places (within the run), its bound. A bound is the highest saturation of a posting at
 * its partition's mean length when the segment was written, in 255ths of 2.2, rounded up.
 */
import type { ChunkKey } from '../model/entry.ts'
import { LANGUAGES } from '../text/stopwords.ts'
import { ByteReader, compareBytes, decodeTerm } from './words-bytes.ts'

export const BLOCK = 128
/** Numbers of a block in `skips`, and which is which. */
export const SKIP = 4
export const SKIP_ROW = 0
export const SKIP_POSTINGS = 1
export const SKIP_PLACES = 2
export const SKIP_BOUND = 3

/** Entry of a row where nothing stands any more. */
export const GAP = 0

/**
 * By row. Rows are grouped by partition; the rows of an entry are neighbours. A gap is a row of no entry: what stood
 * there was taken out (`words-scrub.ts`), from all lists too, and the other rows kept their numbers.
 */
export interface RowTable {
  readonly entry: Uint32Array
  readonly chunk: Uint32Array
  /** Words of title and text. */
  readonly length: Uint32Array
  /** Place in its entry of the chunk's first word: places in `places` count from there. */
  readonly place: Uint32Array
}

/** By rank: place among the partitions of the segment. */
export interface PartitionTable {
  /** Ascending. */
  readonly id: Uint32Array
  /** First row; one more at the end. */
  readonly start: Uint32Array
  readonly meanLength: Float64Array
}

export interface SegmentParts {
  readonly rows: RowTable
  readonly partitions: PartitionTable
  /** Rows by chunk key. */
  readonly byChunk: Uint32Array
  /** Where each term's record starts. */
  readonly records: Uint32Array
  /** Hash table: 0, or a term's number + 1 with eight bits of its hash on top. */
  readonly slots: Uint32Array
  readonly lists: Uint8Array
  readonly places: Uint8Array
  readonly skips: Uint32Array
}

/** Stored terms begin with a sign for their entry's language, so that stems of different languages never meet. */
export function termKey(language: number, stem: string): string {
  return String.fromCharCode(LANGUAGE_SIGN + language) + stem
}

const LANGUAGE_SIGN = 0x61

function languageSign(language: number): Uint8Array {
  return Uint8Array.of(LANGUAGE_SIGN + language)
}

/** Terms a segment can hold: 24 bits of a slot. */
export const MAX_TERMS = 0xffffff

export class Segment implements SegmentParts {
  readonly rows: RowTable
  readonly partitions: PartitionTable
  readonly byChunk: Uint32Array
  readonly records: Uint32Array
  readonly slots: Uint32Array
  readonly lists: Uint8Array
  readonly places: Uint8Array
  readonly skips: Uint32Array
  /** One bit a row. */
  readonly #dead: Uint8Array
  readonly #gaps: number
  /** Rows that died and still stand in lists, in the order they died. */
  readonly deadRows: number[] = []
  #languages: readonly number[] | undefined

  constructor(parts: SegmentParts) {
    this.rows = parts.rows
    this.partitions = parts.partitions
    this.byChunk = parts.byChunk
    this.records = parts.records
    this.slots = parts.slots
    this.lists = parts.lists
    this.places = parts.places
    this.skips = parts.skips
    this.#dead = new Uint8Array((this.size + 7) >>> 3)
    this.#gaps = this.#markGaps()
  }

  get size(): number {
    return this.rows.entry.length
  }

  get liveSize(): number {
    return this.size - this.#gaps - this.deadRows.length
  }

  get byteLength(): number {
    return this.arrays.reduce((sum, array) => sum + array.byteLength, this.#dead.byteLength)
  }

  get arrays(): readonly (Uint8Array | Uint32Array | Float64Array)[] {
    const { rows, partitions } = this
    return [
      ...[rows.entry, rows.chunk, rows.length, rows.place],
      ...[partitions.id, partitions.start, partitions.meanLength],
      ...[this.byChunk, this.records, this.slots, this.skips, this.lists, this.places],
    ]
  }

  /** Gaps are. */
  isDead(row: number): boolean {
    return (((this.#dead[row >>> 3] as number) >>> (row & 7)) & 1) === 1
  }

  bury(row: number): void {
    if (this.isDead(row)) return
    this.#mark(row)
    this.deadRows.push(row)
  }

  /** End (excluded) of the rows of the entry that has this row. */
  entryEnd(row: number): number {
    const { entry } = this.rows
    let end = row + 1
    while (end < entry.length && entry[end] === entry[row]) end++
    return end
  }

  /** The live row of a chunk, or -1. */
  rowOfChunk(chunk: ChunkKey): number {
    const { byChunk, rows } = this
    let at = lowerBound(byChunk.length, place => (rows.chunk[byChunk[place] as number] as number) < chunk)
    for (; at < byChunk.length; at++) {
      const row = byChunk[at] as number
      if (rows.chunk[row] !== chunk) return -1
      if (!this.isDead(row)) return row
    }
    return -1
  }

  rankOf(row: number): number {
    const { start } = this.partitions
    return lowerBound(start.length, rank => (start[rank] as number) <= row) - 1
  }

  /** Places in LANGUAGES of those that terms begin with the sign of. */
  get languages(): readonly number[] {
    this.#languages ??= LANGUAGES.flatMap((_, language) => {
      const [low, high] = [this.lowerBound(languageSign(language)), this.lowerBound(languageSign(language + 1))]
      return low < high ? [language] : []
    })
    return this.#languages
  }

  get termCount(): number {
    return this.records.length
  }

  /** The number of a term, or -1. `hash` is `hashBytes(term)`. */
  find(term: Uint8Array, hash: number): number {
    const { slots } = this
    const mask = slots.length - 1
    const sign = hash >>> 24
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const held = slots[slot] as number
      if (held === 0) return -1
      if (held >>> 24 === sign && this.#hasTerm((held & MAX_TERMS) - 1, term)) return (held & MAX_TERMS) - 1
    }
  }

  termBytes(term: number): Uint8Array {
    const reader = new ByteReader(this.lists, this.records[term] as number)
    const length = reader.number()
    return this.lists.subarray(reader.at, reader.at + length)
  }

  termText(term: number): string {
    return decodeTerm(this.termBytes(term))
  }

  /** Number of the first term that is not below this one. */
  lowerBound(term: Uint8Array): number {
    return lowerBound(this.termCount, at => compareBytes(this.termBytes(at), term) < 0)
  }

  /** How many there are. */
  #markGaps(): number {
    const { entry } = this.rows
    let gaps = 0
    for (let row = 0; row < entry.length; row++) {
      if (entry[row] !== GAP) continue
      this.#mark(row)
      gaps++
    }
    return gaps
  }

  #mark(row: number): void {
    this.#dead[row >>> 3] = (this.#dead[row >>> 3] as number) | (1 << (row & 7))
  }

  #hasTerm(number: number, term: Uint8Array): boolean {
    const { lists } = this
    const reader = new ByteReader(lists, this.records[number] as number)
    if (reader.number() !== term.length) return false
    const { at } = reader
    for (let next = 0; next < term.length; next++) if (lists[at + next] !== term[next]) return false
    return true
  }
}

/** The hash table of terms in their order. At most four fifths full, a power of two. */
export function hashTable(hashes: Uint32Array): Uint32Array {
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

/** First of 0..size-1 for which `isBelow` is false, or size; it must be true up to some point. */
export function lowerBound(size: number, isBelow: (at: number) => boolean): number {
  let low = 0
  let high = size
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isBelow(middle)) low = middle + 1
    else high = middle
  }
  return low
}
