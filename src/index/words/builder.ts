/**
 * Text to a segment, in steps: every occurrence of a term is noted in the order of rows, then a counting sort brings the
 * occurrences of each term together.
 */
import { lowerBound } from '../../base/compare.ts'
import { StepPace, type Steps, sortInSteps } from '../../base/turns.ts'
import { type Chunk, chunkTitle, type Entry } from '../../model/entry.ts'
import type { PartitionId } from '../../model/partition.ts'
import { language, SAMPLE } from '../../text/language.ts'
import { stem } from '../../text/stem.ts'
import { LANGUAGES, type Language } from '../../text/stopwords.ts'
import { eachToken } from '../../text/tokenise.ts'
import { encodeTerm } from './bytes.ts'
import { type RowTable, type Segment, termKey } from './segment.ts'
import { partitionTable, SegmentWriter } from './segment-writer.ts'

/** What an entry brings into the index. */
interface IndexedEntry {
  readonly entry: Entry
  readonly chunks: readonly Chunk[]
}

/** UTF-16 units of content, occurrences, or terms, that are worked on in one step: one to five milliseconds. */
const UNITS_AT_ONCE = 1 << 15

/** Collects entries; `finish` gives their segment. Entries may come in any order, each once. */
export class SegmentBuilder {
  readonly #entries: IndexedEntry[] = []
  #size = 0

  /** UTF-16 units collected. */
  get size(): number {
    return this.#size
  }

  add(entry: Entry, chunks: readonly Chunk[]): void {
    if (chunks.length === 0) return
    this.#entries.push({ entry, chunks })
    this.#size += entry.content.length
  }

  /** In steps, between which none may be added. It is empty again then. */
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

/** Rows and occurrences of entries in their final order. */
class Scan {
  /** Words of the entry at hand: term, place, start. */
  readonly #content = { term: new NumberList(), place: new NumberList(), start: new NumberList() }
  readonly #pace = new StepPace(UNITS_AT_ONCE)
  readonly partition: PartitionId[] = []
  readonly entries = new NumberList()
  readonly chunks = new NumberList()
  readonly lengths = new NumberList()
  readonly firstPlaces = new NumberList()
  /** Occurrences, three lists in step: term, row, and place doubled, plus 1 in the text. */
  readonly terms = new NumberList()
  readonly rows = new NumberList()
  readonly places = new NumberList()
  /** By number of the term. */
  readonly keys: string[] = []
  readonly #numbers = new Map<string, number>()
  /** By language, from a word to the number of its term. */
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
      // The sign of an alias: its start is doubled like the others', plus 1.
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
    // A word that no chunk has whole: every term of a segment has at least one posting.
    if (from === to) continue
    writer.beginTerm(encodeTerm(scan.keys[term] as string))
    writeTerm(writer, scan, occurrences.subarray(from, to))
    writer.endTerm()
    if (pace.isOver(to - from + UNITS_OF_TERM)) yield
  }
  return yield* writer.finish()
}

/** What a term costs beside its occurrences, in those. */
const UNITS_OF_TERM = 32

/** Numbers of the occurrences, those of each term together and in their order. */
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

  /** First index whose number is not below `value`; the list must ascend. */
  lowerBound(value: number): number {
    return lowerBound(this.length, index => this.at(index) < value)
  }

  toArray(): Uint32Array {
    return this.#numbers.slice(0, this.length)
  }
}

// What of an entry the word index holds. The title of a chunk is the entry's title and the headings above the chunk, a
// gap after each line so that no phrase runs from one into the next. The content is cut into words once, so a word has
// one place in its entry however chunks overlap; a word belongs to every chunk that its first character is in.

/** Raised whenever a text may give other words, places, stems or another language: older snapshots are then refused. */
export const TEXT_RULES = 3

/** Decides which language's stems stand for an entry's words. */
export function entryLanguage(entry: Pick<Entry, 'title' | 'content'>): Language {
  return language(`${entry.title}\n${entry.content.slice(0, SAMPLE)}`)
}

type PlacedVisitor = (term: string, place: number, alias: boolean) => void

/** Visits the words of a chunk's title with their places. Returns how many are no alias. */
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
