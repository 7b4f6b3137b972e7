/**
 * A segment of the word index: some chunks and the positions of their words, written once. Afterwards it is only recorded which rows
 * (chunks) are dead, because they were deleted or replaced. All data is in typed arrays, so that a snapshot file is used in place without
 * being decoded.
 *
 * `lists` has one record per term, in the order of terms:
 *
 *     length of the term, the term, start in `places`, number of runs,
 *     a head for each run: partitions skipped, chunks, bytes of postings, bytes of places, bound, [start in `skips`]
 *     the postings of each run
 *
 * A run is the postings of one partition, so a partition that may not be read is skipped without reading its postings. A posting is the
 * distance from the previous row, doubled, plus 1 if the word occurs once in the text and not in the title; otherwise the two counts
 * follow. A run of more than BLOCK postings is divided into blocks, each with four numbers in `skips`: the block's last row (counted within
 * the partition), the ends of its postings and its places (counted within the run), and its bound. A bound is the highest BM25 saturation
 * of a posting at the partition's mean chunk length when the segment was written, in units of 2.2 / 255, rounded up.
 */
import { lowerBound } from '../../base/compare.ts'
import type { ChunkKey } from '../../model/entry.ts'
import { LANGUAGES } from '../../text/stopwords.ts'
import { ByteReader, compareBytes, encodeTerm, hashBytes } from './bytes.ts'

export const BLOCK = 128
/**
 * Layout of the table `skips`, which describes blocks of postings: number of values per block (SKIP), and the index of each value (last
 * row, end of postings, end of word positions, bound of the score).
 */
export const SKIP = 4
export const SKIP_ROW = 0
export const SKIP_POSTINGS = 1
export const SKIP_PLACES = 2
export const SKIP_BOUND = 3

/** Entry key 0 in the row table: it marks a gap, which is a row whose data was removed. */
export const GAP = 0

/**
 * Columns of a segment by row number. A row is a chunk; rows are grouped by partition, and the rows of an entry are adjacent. A gap is a
 * row whose data was removed here and in all lists while the other rows kept their numbers.
 */
export interface RowTable {
  readonly entry: Uint32Array
  readonly chunk: Uint32Array
  /** Number of words in the chunk, in title and text together. */
  readonly length: Uint32Array
  /**
   * Position of the chunk's first word in the sequence of words of its entry; the text positions of the chunk stored in `places` count from
   * that position.
   */
  readonly place: Uint32Array
}

/**
 * Columns of a segment by partition. The index into each column is the partition's rank: its position among the partitions of the segment.
 */
export interface PartitionTable {
  /** Ids of the segment's partitions, ascending. */
  readonly id: Uint32Array
  /** First row of each partition, followed by the end (exclusive) of the last partition. */
  readonly start: Uint32Array
  readonly meanLength: Float64Array
}

interface SegmentParts extends TermArrays {
  readonly rows: RowTable
  readonly partitions: PartitionTable
  /** Row numbers of the segment, sorted by the chunk keys of the rows. */
  readonly byChunk: Uint32Array
  readonly places: Uint8Array
  readonly skips: Uint32Array
}

export class Segment implements SegmentParts {
  readonly rows: RowTable
  readonly partitions: PartitionTable
  readonly byChunk: Uint32Array
  readonly records: Uint32Array
  readonly slots: Uint32Array
  readonly lists: Uint8Array
  readonly places: Uint8Array
  readonly skips: Uint32Array
  readonly terms: TermTable
  /**
   * Bit set with 1 for each dead row (of a deleted or replaced chunk). After a search was given this array, it is copied before the next
   * change, so that the search keeps seeing the previous state.
   */
  #dead: Uint8Array
  #isDeadShared = false
  readonly #gaps: number
  /** Dead rows (of deleted or replaced chunks) whose postings are still in the lists, in the order in which they died. */
  readonly deadRows: number[] = []

  constructor(parts: SegmentParts) {
    this.rows = parts.rows
    this.partitions = parts.partitions
    this.byChunk = parts.byChunk
    this.records = parts.records
    this.slots = parts.slots
    this.lists = parts.lists
    this.places = parts.places
    this.skips = parts.skips
    this.terms = new TermTable(parts)
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

  /**
   * Whether the row is dead (its chunk was deleted or replaced) or a gap (a row whose data was removed while other rows kept their
   * numbers).
   */
  isDead(row: number): boolean {
    return isDeadIn(this.#dead, row)
  }

  /**
   * The rows that are dead now (their chunks were deleted or replaced), as a bit set to be read with `isDeadIn`. Rows that die later do not
   * change the returned array.
   */
  get dead(): Uint8Array {
    this.#isDeadShared = true
    return this.#dead
  }

  bury(row: number): void {
    if (this.isDead(row)) return
    this.#mark(row)
    this.deadRows.push(row)
  }

  /** End (exclusive) of the rows of the entry to which this row belongs. */
  entryEnd(row: number): number {
    const { entry } = this.rows
    let end = row + 1
    while (end < entry.length && entry[end] === entry[row]) end++
    return end
  }

  /** The row number of a chunk, if the row is not dead; otherwise -1. */
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

  /** Marks gaps (rows whose data was removed) as dead; returns the number of gaps. */
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
    if (this.#isDeadShared) this.#dead = this.#dead.slice()
    this.#isDeadShared = false
    this.#dead[row >>> 3] = (this.#dead[row >>> 3] as number) | (1 << (row & 7))
  }
}

/** Whether a row is dead according to a bit set of dead rows of its segment. */
export function isDeadIn(dead: Uint8Array, row: number): boolean {
  return (((dead[row >>> 3] as number) >>> (row & 7)) & 1) === 1
}

/**
 * A term in the form in which segments store it: a sign for the language of the entry, then the stem. So stems of different languages are
 * never the same term.
 */
export function termKey(language: number, stem: string): string {
  return String.fromCharCode(LANGUAGE_SIGN + language) + stem
}

const LANGUAGE_SIGN = 0x61

/** Maximum number of terms in a segment: the hash table keeps a term's number in 24 bits. */
export const MAX_TERMS = 0xffffff

/** Arrays of a segment that locate its terms: offsets of their records, a hash table, and the records themselves. */
interface TermArrays {
  /** For each term, by its number, the offset of its record in `lists`. */
  readonly records: Uint32Array
  /**
   * Hash table of the terms. A slot is 0 if it is free; otherwise its low 24 bits are a term's number + 1, and its top 8 bits are part of
   * the term's hash.
   */
  readonly slots: Uint32Array
  readonly lists: Uint8Array
}

/** Length and letters of each term without its language sign, indexed by the number of the term. */
interface TermShapes {
  /** Length of each encoded term in bytes, without the language sign; at most 195. */
  readonly lengths: Uint8Array
  /** For each term, its ASCII letters as a bit set, or `NOT_ASCII` if the term has other characters. */
  readonly letters: Uint32Array
}

/** Marks a word with characters outside ASCII; larger than the bit set of any ASCII word. */
export const NOT_ASCII = 0xffffffff

/**
 * The characters of a word as a bit set, with the ASCII code modulo 32 as the bit; `NOT_ASCII` if the word has a character outside ASCII.
 */
export function lettersOf(bytes: Uint8Array, from: number): number {
  let letters = 0
  for (let at = from; at < bytes.length; at++) {
    const byte = bytes[at] as number
    if (byte >= 0x80) return NOT_ASCII
    letters |= 1 << (byte & 31)
  }
  return letters >>> 0
}

class TermTable {
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

  /** Languages of which the segment has terms, as indexes in LANGUAGES. */
  get languages(): readonly number[] {
    this.#languages ??= LANGUAGES.flatMap((_, language) => {
      const [low, high] = [this.lowerBound(languageSign(language)), this.lowerBound(languageSign(language + 1))]
      return low < high ? [language] : []
    })
    return this.#languages
  }

  /** The number of a term, given as `termKey` makes it; -1 if the segment does not have the term. */
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

  /** The encoded bytes of the term with this number. */
  bytes(term: number): Uint8Array {
    const reader = new ByteReader(this.#lists, this.#records[term] as number)
    const length = reader.number()
    return this.#lists.subarray(reader.at, reader.at + length)
  }

  /**
   * Lengths and letter sets of all terms, five bytes per term, computed at the first call. They exclude most terms from a comparison of
   * spellings.
   */
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

  /** Number of the first term that is equal to or after `term` in byte order. */
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

/**
 * Builds a hash table from the hashes of terms, given in the order of term numbers. The table's size is a power of two, and at most four
 * fifths of its slots are used.
 */
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
