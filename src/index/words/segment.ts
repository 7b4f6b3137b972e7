/**
 * A segment: some chunks and the positions of their words, written once. Afterwards only the deaths of rows are recorded. All data is in
 * typed arrays, so a snapshot is read in place.
 *
 * `lists` has one record per term, in the order of terms:
 *
 *     length of the term, the term, start in `places`, number of runs,
 *     a head for each run: partitions skipped, chunks, bytes of postings, bytes of places, bound, [start in `skips`]
 *     the postings of each run
 *
 * A run has the chunks of one partition, so a run that may not be read is skipped without reading it. A posting is the doubled distance
 * from the previous row, plus 1 if the word occurs once in the text and not in the title; otherwise the counts follow. Runs of more than
 * BLOCK postings have four numbers in `skips` for each block: its last row (within the partition), the ends of its postings and its places
 * (within the run), and its bound. A bound is the highest saturation of a posting at its partition's mean length when the segment was
 * written, in 255ths of 2.2, rounded up.
 */
import { lowerBound } from '../../base/compare.ts'
import type { ChunkKey } from '../../model/entry.ts'
import { LANGUAGES } from '../../text/stopwords.ts'
import { ByteReader, compareBytes, encodeTerm, hashBytes } from './bytes.ts'

export const BLOCK = 128
/** Numbers per block in `skips`, and the index of each. */
export const SKIP = 4
export const SKIP_ROW = 0
export const SKIP_POSTINGS = 1
export const SKIP_PLACES = 2
export const SKIP_BOUND = 3

/** Entry key that marks a gap: a row whose contents were removed. */
export const GAP = 0

/**
 * Columns by row. Rows are grouped by partition, and the rows of an entry are adjacent. A gap is a row without an entry: its contents were
 * removed (`merge.ts`), also from all lists, while the other rows kept their numbers.
 */
export interface RowTable {
  readonly entry: Uint32Array
  readonly chunk: Uint32Array
  /** Number of words in title and text of the chunk. */
  readonly length: Uint32Array
  /** Place, within its entry, of the chunk's first word: the numbers in `places` count from it. */
  readonly place: Uint32Array
}

/** Columns by rank: the position of a partition among those of the segment. */
export interface PartitionTable {
  /** Partition ids, ascending. */
  readonly id: Uint32Array
  /** First row of each partition, and the end of the last one. */
  readonly start: Uint32Array
  readonly meanLength: Float64Array
}

interface SegmentParts extends TermArrays {
  readonly rows: RowTable
  readonly partitions: PartitionTable
  /** Row numbers, sorted by the chunk keys of the rows. */
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
  /** Bit set of dead rows. Once it was given out, it is copied before the next change. */
  #dead: Uint8Array
  #isDeadShared = false
  readonly #gaps: number
  /** Rows that died and are still in the lists, in the order of their deaths. */
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

  /** Whether the row is dead; gaps count as dead. */
  isDead(row: number): boolean {
    return isDeadIn(this.#dead, row)
  }

  /** The rows that are dead at present, for `isDeadIn`; later deaths do not change the returned array. */
  get dead(): Uint8Array {
    this.#isDeadShared = true
    return this.#dead
  }

  bury(row: number): void {
    if (this.isDead(row)) return
    this.#mark(row)
    this.deadRows.push(row)
  }

  /** End (exclusive) of the rows of the entry that this row belongs to. */
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

  /** Marks gaps as dead; returns their number. */
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

/** `dead`: the bit set of the segment that contains the row. */
export function isDeadIn(dead: Uint8Array, row: number): boolean {
  return (((dead[row >>> 3] as number) >>> (row & 7)) & 1) === 1
}

/**
 * A term as it is stored: it begins with a sign for the language of its entry, so that stems of different languages are never the same
 * term.
 */
export function termKey(language: number, stem: string): string {
  return String.fromCharCode(LANGUAGE_SIGN + language) + stem
}

const LANGUAGE_SIGN = 0x61

/** Maximum number of terms in a segment: 24 bits of a slot. */
export const MAX_TERMS = 0xffffff

/** Arrays that locate the terms of a segment: see `segment.ts`. */
interface TermArrays {
  /** Offset of each term's record in `lists`. */
  readonly records: Uint32Array
  /** Hash table of the terms. A slot is 0, or a term's number + 1 with eight bits of its hash in the top byte. */
  readonly slots: Uint32Array
  readonly lists: Uint8Array
}

/** Properties of the terms without their language sign, by number of the term. */
interface TermShapes {
  /** Length of each term in bytes; at most 195. */
  readonly lengths: Uint8Array
  /** Set of letters in each term: see `lettersOf`. */
  readonly letters: Uint32Array
}

/** Larger than every set of ASCII letters. */
export const NOT_ASCII = 0xffffffff

/** The letters of a word as a bit set (ASCII code modulo 32). `NOT_ASCII` if other characters occur. */
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

  /** Indexes in LANGUAGES of the languages that have terms in this segment. */
  get languages(): readonly number[] {
    this.#languages ??= LANGUAGES.flatMap((_, language) => {
      const [low, high] = [this.lowerBound(languageSign(language)), this.lowerBound(languageSign(language + 1))]
      return low < high ? [language] : []
    })
    return this.#languages
  }

  /** The number of a term (from `termKey`), or -1. */
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

  /** The encoded term with this number. */
  bytes(term: number): Uint8Array {
    const reader = new ByteReader(this.#lists, this.#records[term] as number)
    const length = reader.number()
    return this.#lists.subarray(reader.at, reader.at + length)
  }

  /**
   * Lengths and letter sets of the terms, which exclude most terms from a comparison of spellings: five bytes per term, computed at the
   * first call.
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

/** Builds the hash table of terms in their order. Its size is a power of two; at most four fifths of the slots are used. */
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
