/**
 * Builds a segment of the word index from texts, with pauses so that other work can run: every occurrence of a term is recorded in the
 * order of rows, then a counting sort groups the occurrences by term.
 */

import { assert } from '../../base/assert.ts'
import { lowerBound } from '../../base/compare.ts'
import { StepPace, type Steps, sortInSteps } from '../../base/turns.ts'
import { K1, lengthPart, saturation, TITLE_WEIGHT } from '../../math/bm25.ts'
import { type Chunk, chunkTitle, type Entry } from '../../model/entry.ts'
import type { PartitionId } from '../../model/partition.ts'
import { language, SAMPLE } from '../../text/language.ts'
import { stem } from '../../text/stem.ts'
import { LANGUAGES, type Language } from '../../text/stopwords.ts'
import { eachToken } from '../../text/tokenise.ts'
import { ByteSink, encodeTerm, hashBytes } from './bytes.ts'
import { blockCount, type Run } from './cursor.ts'
import { BLOCK, hashTable, MAX_TERMS, type PartitionTable, type RowTable, Segment, SKIP, termKey } from './segment.ts'

/** An entry and its chunks, which a segment of the word index will contain. */
interface IndexedEntry {
  readonly entry: Entry
  readonly chunks: readonly Chunk[]
}

/**
 * Amount of work between two pauses while a segment is built, in UTF-16 units of content, occurrences of terms, or terms: one to five
 * milliseconds.
 */
const UNITS_AT_ONCE = 1 << 15

/** Collects entries, of which `finish` then builds one segment. Entries may be added in any order, each once. */
export class SegmentBuilder {
  readonly #entries: IndexedEntry[] = []
  #size = 0

  /** Number of UTF-16 units of content in the entries collected so far. */
  get size(): number {
    return this.#size
  }

  add(entry: Entry, chunks: readonly Chunk[]): void {
    if (chunks.length === 0) return
    this.#entries.push({ entry, chunks })
    this.#size += entry.content.length
  }

  /**
   * Builds a segment of the collected entries; null if there are none. The work pauses now and then so that other work can run; during a
   * pause no entry may be added. Afterwards the builder is empty.
   */
  *finish(): Steps<Segment | null> {
    if (this.#entries.length === 0) return null
    this.#entries.sort((a, b) => a.entry.partition - b.entry.partition || a.entry.key - b.entry.key)
    const scan = new Scan()
    for (const { entry, chunks } of this.#entries) yield* scan.read(entry, chunks)
    this.#entries.length = 0
    this.#size = 0
    return yield* writeSegment(scan)
  }
}

/**
 * Collects the rows (one per chunk) and the occurrences of terms of all entries of a segment; entries are read in the order of their rows.
 */
class Scan {
  /**
   * Words of the current entry's content, in three parallel lists: number of the term, place of the word (its number in the sequence of
   * words of the entry), and its offset in the text (doubled, plus 1 for an alias).
   */
  readonly #content = { term: new NumberList(), place: new NumberList(), start: new NumberList() }
  readonly #pace = new StepPace(UNITS_AT_ONCE)
  readonly partition: PartitionId[] = []
  readonly entries = new NumberList()
  readonly chunks = new NumberList()
  readonly lengths = new NumberList()
  readonly firstPlaces = new NumberList()
  /**
   * Occurrences of terms, in three parallel lists: number of the term, row (chunk), and the place of the word in the sequence of words,
   * doubled, plus 1 if the word is in the text rather than in the title.
   */
  readonly terms = new NumberList()
  readonly rows = new NumberList()
  readonly places = new NumberList()
  /** The terms of the segment (language and stem) by the number that each term was given when it first occurred. */
  readonly keys: string[] = []
  readonly #numbers = new Map<string, number>()
  /** For each language, a map from a word to the number of its term. */
  readonly #words = LANGUAGES.map(() => new Map<string, number>())

  #chunk(entry: Entry, chunk: Chunk, language: number): void {
    const row = this.partition.length
    this.partition.push(entry.partition)
    this.entries.push(entry.key)
    this.chunks.push(chunk.key)
    let length = eachTitleWord(entry, chunk, (word, place) => this.#occur(this.#number(word, language), row, place * 2))
    const { term, place, start } = this.#content
    const first = start.lowerBound(chunk.start * 2)
    const base = first < place.length ? place.at(first) : 0
    for (let at = first; at < start.length && start.at(at) < chunk.end * 2; at++) {
      this.#occur(term.at(at), row, (place.at(at) - base) * 2 + 1)
      if ((start.at(at) & 1) === 0) length++
    }
    this.lengths.push(length)
    this.firstPlaces.push(base)
  }

  *read(entry: Entry, chunks: readonly Chunk[]): Steps<void> {
    const language = LANGUAGES.indexOf(entryLanguage(entry))
    yield* this.#readContent(entry.content, language)
    for (const chunk of chunks) {
      this.#chunk(entry, chunk, language)
      if (this.#pace.isOver(chunk.end - chunk.start)) yield
    }
  }

  *#readContent(content: string, language: number): Steps<void> {
    const { term, place, start } = this.#content
    term.clear()
    place.clear()
    start.clear()
    let last = -1
    const visit = (word: string, from: number, _end: number, alias: boolean) => {
      if (!alias) last++
      term.push(this.#number(word, language))
      place.push(last)
      // The offset of a word is stored doubled, plus 1 if the word is an alias (a further form of the word at the same place), so that the
      // lowest bit marks aliases.
      start.push(from * 2 + Number(alias))
    }
    for (let from = 0; from < content.length; ) {
      const end = eachToken(content, visit, from, Math.min(content.length, from + this.#pace.left))
      if (this.#pace.isOver(end - from)) yield
      from = end
    }
  }

  #occur(term: number, row: number, place: number): void {
    this.terms.push(term)
    this.rows.push(row)
    this.places.push(place)
  }

  #number(word: string, language: number): number {
    const words = this.#words[language] as Map<string, number>
    const known = words.get(word)
    if (known !== undefined) return known
    const key = termKey(language, stem(word, LANGUAGES[language] as (typeof LANGUAGES)[number]))
    let number = this.#numbers.get(key)
    if (number === undefined) {
      number = this.keys.length
      this.keys.push(key)
      this.#numbers.set(key, number)
    }
    words.set(word, number)
    return number
  }
}

function* writeSegment(scan: Scan): Steps<Segment> {
  const rows: RowTable = {
    entry: scan.entries.toArray(),
    chunk: scan.chunks.toArray(),
    length: scan.lengths.toArray(),
    place: scan.firstPlaces.toArray(),
  }
  yield
  const writer = new SegmentWriter(rows, partitionTable({ rows, partition: scan.partition }))
  yield
  const { starts, occurrences } = yield* sortByTerm(scan)
  const order = yield* sortInSteps(Array.from(scan.keys.keys()), (a, b) =>
    (scan.keys[a] as string) < (scan.keys[b] as string) ? -1 : 1,
  )
  const pace = new StepPace(UNITS_AT_ONCE)
  for (const term of order) {
    const [from, to] = [starts[term] as number, starts[term + 1] as number]
    // A word whose first character is in no chunk has no occurrences, and its term is skipped, because every term of a segment must have at
    // least one posting.
    if (from === to) continue
    writer.beginTerm(encodeTerm(scan.keys[term] as string))
    writeTerm(writer, scan, occurrences.subarray(from, to))
    writer.endTerm()
    if (pace.isOver(to - from + UNITS_OF_TERM)) yield
  }
  return yield* writer.finish()
}

/** Fixed cost of writing a term, in the time that one occurrence of a term takes. */
const UNITS_OF_TERM = 32

/**
 * Sorts the occurrences by term with a counting sort: `occurrences` has their indexes, grouped by term and within a term in their original
 * order; `starts` has where each term's group begins.
 */
function* sortByTerm({ terms, keys }: Scan): Steps<{ starts: Uint32Array; occurrences: Uint32Array }> {
  const starts = new Uint32Array(keys.length + 1)
  for (let at = 0; at < terms.length; at++) {
    increment(starts, terms.at(at) + 1)
    if (at % UNITS_AT_ONCE === 0) yield
  }
  for (let term = 0; term < keys.length; term++) increment(starts, term + 1, starts[term])
  yield
  const next = starts.slice()
  const occurrences = new Uint32Array(terms.length)
  for (let at = 0; at < terms.length; at++) {
    occurrences[increment(next, terms.at(at)) - 1] = at
    if (at % UNITS_AT_ONCE === 0) yield
  }
  return { starts, occurrences }
}

function increment(counts: Uint32Array, at: number, by = 1): number {
  const sum = (counts[at] as number) + by
  counts[at] = sum
  return sum
}

function writeTerm(writer: SegmentWriter, scan: Scan, occurrences: Uint32Array): void {
  for (let from = 0; from < occurrences.length; ) {
    const row = scan.rows.at(occurrences[from] as number)
    let to = from
    let inText = 0
    for (; to < occurrences.length && scan.rows.at(occurrences[to] as number) === row; to++) {
      inText += scan.places.at(occurrences[to] as number) & 1
    }
    const inTitle = to - from - inText
    writer.posting(row, inTitle, inText)
    let before = 0
    for (let at = from; at < to; at++) {
      if (at === from + inTitle) before = 0
      const place = scan.places.at(occurrences[at] as number) >>> 1
      writer.place(place - before)
      before = place
    }
    from = to
  }
}

class NumberList {
  #numbers = new Uint32Array(64)
  length = 0

  at(index: number): number {
    return this.#numbers[index] as number
  }

  push(value: number): void {
    if (this.length === this.#numbers.length) {
      const grown = new Uint32Array(this.length * 2)
      grown.set(this.#numbers)
      this.#numbers = grown
    }
    this.#numbers[this.length++] = value
  }

  clear(): void {
    this.length = 0
  }

  /** Index of the first number in the list that is not below `value`; the list must be in ascending order. */
  lowerBound(value: number): number {
    return lowerBound(this.length, index => this.at(index) < value)
  }

  toArray(): Uint32Array {
    return this.#numbers.slice(0, this.length)
  }
}

// Defines which words of an entry are indexed and how they are numbered. The title of a chunk is the entry's title plus the headings above
// the chunk; one number is left out after each line of it, so that no phrase matches across lines. The content is split into words once, so
// a word has one number although chunks overlap, and belongs to every chunk that contains its first character.

/**
 * Version of the rules by which words are found in texts. Increased whenever a text may give different words, places, stems or another
 * language, so that index snapshots made by older rules are rejected.
 */
export const TEXT_RULES = 3

/**
 * The language of an entry, detected from its title and the beginning of its content; it decides by which rules the entry's words are
 * reduced to stems.
 */
export function entryLanguage(entry: Pick<Entry, 'title' | 'content'>): Language {
  return language(`${entry.title}\n${entry.content.slice(0, SAMPLE)}`)
}

type PlacedVisitor = (term: string, place: number, alias: boolean) => void

/**
 * Calls `visit` for each word of a chunk's title with its place (number in the sequence of the title's words); returns the number of words
 * that are not aliases (further forms of a word at the same place).
 */
export function eachTitleWord(entry: Entry, chunk: Chunk, visit: PlacedVisitor): number {
  let place = 0
  let words = 0
  for (const line of chunkTitle(entry, chunk).split('\n')) {
    let before = -1
    eachToken(line, (term, _start, _end, alias) => {
      if (!alias) {
        before++
        words++
      }
      visit(term, place + before, alias)
    })
    place += before + 2
  }
  return words
}

// Writes a segment: first its rows, then its terms in order, each with its postings in the order of rows. Used both to build a segment from
// texts and to merge segments.

/** Rows of a segment in their final order: grouped by partition, with partition ids ascending. */
export interface RowList {
  readonly rows: RowTable
  readonly partition: readonly PartitionId[] | Uint32Array
}

/**
 * Offsets at which a run ends (a run is the postings of one term in one partition): the end of its postings in the byte list `lists`, and
 * the end of its word positions in the byte list `places`.
 */
export interface RunEnds {
  readonly postings: number
  readonly places: number
}

export class SegmentWriter {
  readonly #rows: RowTable
  readonly #partitions: PartitionTable
  readonly #rank: Uint32Array
  readonly #records: number[] = []
  readonly #hashes: number[] = []
  readonly #lists = new ByteSink(1 << 12)
  readonly #places = new ByteSink(1 << 12)
  readonly #skips: number[] = []
  /** State of the term whose postings are being written. */
  readonly #heads = new ByteSink()
  readonly #postings = new ByteSink()
  #runs = 0
  #lastRank = 0
  #placesOfTerm = 0
  /** State of the run being written: the postings of one term in one partition. */
  readonly #blocks: number[] = []
  #count = 0
  #lastRow = -1
  #bound = 0
  #blockBound = 0
  #postingsOfRun = 0
  #placesOfRun = 0
  #runRank = -1

  constructor(rows: RowTable, partitions: PartitionTable) {
    this.#rows = rows
    this.#partitions = partitions
    this.#rank = new Uint32Array(rows.entry.length)
    for (let rank = 0; rank + 1 < this.#partitions.start.length; rank++) {
      this.#rank.fill(rank, this.#partitions.start[rank], this.#partitions.start[rank + 1])
    }
  }

  beginTerm(term: Uint8Array): void {
    assert(this.#records.length < MAX_TERMS, 'too many terms in a segment')
    this.#records.push(this.#lists.length)
    this.#hashes.push(hashBytes(term))
    this.#lists.number(term.length)
    this.#lists.copy(term, 0, term.length)
    this.#heads.clear()
    this.#postings.clear()
    this.#runs = 0
    this.#lastRank = 0
    this.#placesOfTerm = this.#places.length
    this.#runRank = -1
  }

  /**
   * Adds a posting: the occurrences of the current term in one row (chunk). Rows must ascend. Afterwards the caller must add the word
   * positions of all `inTitle + inText` occurrences with `place` or `copyPlaces`.
   */
  posting(row: number, inTitle: number, inText: number): void {
    const rank = this.#rank[row] as number
    if (rank !== this.#runRank) {
      this.#endRun()
      this.#beginRun(rank)
    } else if (this.#count % BLOCK === 0) {
      this.#endBlock()
    }
    const within = row - (this.#partitions.start[rank] as number)
    const distance = within - this.#lastRow - 1
    this.#lastRow = within
    this.#count++
    writePosting(this.#postings, distance, inTitle, inText)
    this.#blockBound = Math.max(this.#blockBound, this.#boundOf(row, rank, inText + TITLE_WEIGHT * inTitle))
  }

  /**
   * Adds the place of an occurrence (number of the word in the text or title), given as its distance from the previous place. Title places
   * come first, in ascending order, then text places, in ascending order counted from 0 again.
   */
  place(distance: number): void {
    this.#places.number(distance)
  }

  copyPlaces(bytes: Uint8Array, from: number, to: number): void {
    this.#places.copy(bytes, from, to)
  }

  /** Copies a run (the postings of one term in one partition) unchanged from a segment with the same rows and partitions. */
  copyRun({ lists, places, skips }: Segment, run: Run, ends: RunEnds): void {
    this.#endRun()
    const bytes = { postings: ends.postings - run.postings, places: ends.places - run.places }
    this.#head(run.rank, run.df, bytes, run.bound)
    if (run.df > BLOCK) {
      this.#heads.number(this.#skips.length)
      const end = run.skips + SKIP * blockCount(run)
      for (let at = run.skips; at < end; at++) this.#skips.push(skips[at] as number)
    }
    this.#postings.copy(lists, run.postings, ends.postings)
    this.#places.copy(places, run.places, ends.places)
  }

  endTerm(): void {
    this.#endRun()
    this.#lists.number(this.#placesOfTerm)
    this.#lists.number(this.#runs)
    for (const part of [this.#heads, this.#postings]) this.#lists.copy(part.written, 0, part.length)
  }

  *finish(): Steps<Segment> {
    const byChunk = yield* rowsByChunk(this.#rows.chunk)
    const slots = hashTable(this.#hashes)
    yield
    return new Segment({
      rows: this.#rows,
      partitions: this.#partitions,
      byChunk,
      records: Uint32Array.from(this.#records),
      slots,
      lists: this.#lists.written.slice(),
      places: this.#places.written.slice(),
      skips: Uint32Array.from(this.#skips),
    })
  }

  #beginRun(rank: number): void {
    this.#runRank = rank
    this.#blocks.length = 0
    this.#count = 0
    this.#lastRow = -1
    this.#bound = 0
    this.#blockBound = 0
    this.#postingsOfRun = this.#postings.length
    this.#placesOfRun = this.#places.length
  }

  #endBlock(): void {
    const postings = this.#postings.length - this.#postingsOfRun
    const places = this.#places.length - this.#placesOfRun
    this.#blocks.push(this.#lastRow, postings, places, this.#blockBound)
    this.#bound = Math.max(this.#bound, this.#blockBound)
    this.#blockBound = 0
  }

  #endRun(): void {
    if (this.#runRank < 0) return
    this.#endBlock()
    const postings = this.#postings.length - this.#postingsOfRun
    const places = this.#places.length - this.#placesOfRun
    this.#head(this.#runRank, this.#count, { postings, places }, this.#bound)
    if (this.#count > BLOCK) {
      this.#heads.number(this.#skips.length)
      for (const number of this.#blocks) this.#skips.push(number)
    }
    this.#runRank = -1
  }

  #head(rank: number, df: number, bytes: RunEnds, bound: number): void {
    this.#heads.number(rank - this.#lastRank)
    this.#heads.number(df)
    this.#heads.number(bytes.postings)
    this.#heads.number(bytes.places)
    this.#heads.number(bound)
    this.#lastRank = rank
    this.#runs++
  }

  #boundOf(row: number, rank: number, tf: number): number {
    const part = lengthPart(this.#rows.length[row] as number, this.#partitions.meanLength[rank] as number)
    return Math.ceil((saturation(tf, part) / (K1 + 1)) * 255)
  }
}

/**
 * Writes a posting: the distance from the previous row and the counts of the term in text and title. A count of 1 in the text and 0 in the
 * title is a single bit. All other counts are one number: four times the count in the text, plus the count in the title if that is below 3;
 * otherwise plus 3, followed by the count in the title minus 3.
 */
function writePosting(sink: ByteSink, distance: number, inTitle: number, inText: number): void {
  if (inTitle === 0 && inText === 1) {
    sink.number(distance * 2 + 1)
    return
  }
  sink.number(distance * 2)
  sink.number(inText * 4 + Math.min(inTitle, 3))
  if (inTitle >= 3) sink.number(inTitle - 3)
}

/** Builds the table of partitions (id, first row, mean chunk length) for rows that are grouped by partition and contain no gaps. */
export function partitionTable({ rows, partition }: RowList): PartitionTable {
  const id: number[] = []
  const start: number[] = []
  const words: number[] = []
  for (let row = 0; row < partition.length; row++) {
    if (row === 0 || partition[row] !== partition[row - 1]) {
      id.push(partition[row] as number)
      start.push(row)
      words.push(0)
    }
    words[words.length - 1] = (words.at(-1) as number) + (rows.length[row] as number)
  }
  start.push(partition.length)
  const mean = (words: number, rank: number) => words / ((start[rank + 1] as number) - (start[rank] as number))
  return { id: Uint32Array.from(id), start: Uint32Array.from(start), meanLength: Float64Array.from(words, mean) }
}

/**
 * Row numbers sorted by the chunk keys of the rows. The rows mostly are in that order already, which `sortInSteps` handles in one or two
 * comparisons per row.
 */
function* rowsByChunk(chunk: Uint32Array): Steps<Uint32Array> {
  const rows = Array.from(chunk.keys())
  return Uint32Array.from(yield* sortInSteps(rows, (a, b) => (chunk[a] as number) - (chunk[b] as number) || a - b))
}
