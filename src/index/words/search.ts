/**
 * Finds the k best entries by BM25 without reading all postings (the MaxScore algorithm, in windows of rows). Words are processed by
 * descending weight. As soon as the k-th best score so far exceeds the most that the lightest words together can add, rows that contain
 * only those words are ignored: their lists are then consulted only for rows found by heavier words, and only while that row can still be
 * among the k best.
 */
import { Bitset } from '../../base/bitset.ts'
import type { Steps } from '../../base/turns.ts'
import { TITLE_WEIGHT } from '../../math/bm25.ts'
import { stem } from '../../text/stem.ts'
import { LANGUAGES, type Language } from '../../text/stopwords.ts'
import type { Hit, SearchScope, WordSearch } from '../contract.ts'
import { ByteReader } from './bytes.ts'
import { Block, END, PostingCursor, type Run, readRuns } from './cursor.ts'
import { type Reading, type Saturations, type SegmentView, viewsOf } from './lists.ts'
import { EntryHeap, LOOK_UP_COST } from './score.ts'
import { isDeadIn, type Segment, termKey } from './segment.ts'
import type { SegmentSet } from './segments.ts'

/** Number of rows (chunks) that are scored together; their sums (64 KiB) fit a fast processor cache. */
const WINDOW = 8192

/**
 * Searches the lists of postings, and pauses after about `step` postings so that other work can run; looking up one row in a list counts as
 * `LOOK_UP_COST` postings. The result is for the state of the index at the start: changes during the pauses are not seen.
 */
export function* searchWords(reading: Reading, request: WordSearch, step: number): Steps<readonly Hit[]> {
  const k = Math.min(Math.floor(request.k), reading.chunks)
  if (!(k > 0) || reading.words.length === 0) return []
  const heap = new EntryHeap(k)
  const { views } = reading
  const dead = views.map(({ segment }) => segment.dead)
  const buffers = freeBuffers.pop() ?? new Buffers()
  for (let at = 0; at < views.length; at++) {
    const search = new SegmentSearch(reading, at, dead[at] as Uint8Array, heap, request, buffers)
    while (search.advance(step)) yield
  }
  // If a search throws or is given up, its buffers are not kept for reuse, because scores of that search are still in them; the garbage
  // collector frees them.
  if (freeBuffers.length < MAX_FREE) freeBuffers.push(buffers)
  return heap.drain()
}

/**
 * Working memory of one search, reused by later searches because allocating it costs more than most searches. Every search leaves it
 * cleared.
 */
class Buffers {
  /** Sum of the words' BM25 scores for each row (chunk) of the window; -1 if none of the words was found in the row. */
  readonly sums: Float64Array = new Float64Array(WINDOW).fill(-1)
  /**
   * One bit for each row of the window, 1 if the row has a sum: rows with a sum can be visited in order, and 32 rows without one are
   * skipped at once.
   */
  readonly marks: Uint32Array = new Uint32Array(WINDOW >>> 5)
  /** Buffers of decoded postings for the first 32 cursors that a search opens in a segment. */
  readonly blocks: readonly Block[] = Array.from({ length: 32 }, () => new Block())
}

/** Working memory of completed searches, kept for reuse. */
const freeBuffers: Buffers[] = [new Buffers()]
/** Maximum number of `Buffers` objects kept for reuse, 120 kB each: about as many as searches are paused at one time. */
const MAX_FREE = 4

interface Word {
  readonly weight: number
  readonly boundScale: number
  readonly cursors: readonly PostingCursor[]
}

/** What a search does next: begin a window of rows, add the words' scores in it, or offer its rows to the heap of best entries. */
type Phase = 'begin' | 'sum' | 'consider'

class SegmentSearch {
  readonly #segment: Segment
  readonly #dead: Uint8Array
  readonly #words: readonly Word[]
  /** For each of the words, heaviest first, the most that this word and all lighter ones together can add to a score. */
  readonly #rest: readonly number[]
  readonly #saturations: Saturations
  readonly #heap: EntryHeap
  readonly #allow: Bitset | undefined
  readonly #sums: Float64Array
  readonly #marks: Uint32Array
  /** Number of postings that may still be read before the search pauses; 0 or less: it pauses now. */
  #left = 0
  #phase: Phase = 'begin'
  /**
   * State of the current window of rows: its first row, the number of words (heaviest first) whose scores are added for all its rows, and
   * where to continue after a pause: the next word, or the next group of 32 rows.
   */
  #start = 0
  #needed = 0
  #next = 0

  constructor(
    reading: Reading,
    at: number,
    dead: Uint8Array,
    heap: EntryHeap,
    request: WordSearch,
    { sums, marks, blocks }: Buffers,
  ) {
    const { segment } = reading.views[at] as SegmentView
    this.#segment = segment
    this.#dead = dead
    this.#saturations = reading.saturations
    this.#heap = heap
    this.#allow = request.allow
    this.#sums = sums
    this.#marks = marks
    let cursors = 0
    const found = reading.words.filter(word => (word.bySegment[at]?.postings ?? 0) > 0)
    this.#words = found.map(word => ({
      weight: word.weight,
      boundScale: word.bySegment[at]?.boundScale ?? 0,
      cursors: (word.bySegment[at]?.lists ?? []).map(runs => new PostingCursor(segment, runs, blocks[cursors++])),
    }))
    const rest = new Array<number>(found.length + 1).fill(0)
    for (let word = found.length - 1; word >= 0; word--) {
      rest[word] = (rest[word + 1] as number) + (found[word]?.bySegment[at]?.bound ?? 0)
    }
    this.#rest = rest
  }

  /** Continues the search until about `step` postings were read. Returns false when the search in this segment is complete. */
  advance(step: number): boolean {
    this.#left = step
    while (this.#left > 0) {
      if (this.#phase === 'begin' && !this.#begin()) return false
      if (this.#phase === 'sum' && this.#sumWindow()) {
        this.#phase = 'consider'
        this.#next = 0
      }
      if (this.#phase === 'consider' && this.#considerWindow()) this.#phase = 'begin'
    }
    return true
  }

  /**
   * Begins the next window of rows; or, if only one list must be read completely, processes the next block of that list. Returns false if
   * no row is left.
   */
  #begin(): boolean {
    const needed = this.#countNeeded()
    const start = this.#nextRow(needed)
    if (start === END) return false
    const [first] = this.#words
    if (needed === 1 && first?.cursors.length === 1) {
      this.#considerBlock(first, first.cursors[0] as PostingCursor)
      return true
    }
    this.#needed = needed
    this.#start = start
    this.#next = 0
    this.#phase = 'sum'
    return true
  }

  /**
   * Offers the rows (chunks) of one word's current block of postings directly to the heap of best entries. With one list only, rows already
   * come in order and each has only one score, so no table of sums is needed.
   */
  #considerBlock({ weight }: Word, cursor: PostingCursor): void {
    const saturations = this.#saturations
    const { length } = this.#segment.rows
    const { rows, inText, inTitle, count } = cursor.block
    const rest = this.#rest[1] as number
    const cost = this.#costToConsider(1)
    let left = this.#left - count
    let least = this.#heap.threshold - rest
    for (let { at } = cursor; at < count; at++) {
      const row = rows[at] as number
      const tf = (inText[at] as number) + TITLE_WEIGHT * (inTitle[at] as number)
      const sum = weight * saturations.of(tf, length[row] as number)
      if (sum < least) continue
      this.#consider(row, sum, 1)
      left -= cost
      least = this.#heap.threshold - rest
    }
    this.#left = left
    cursor.nextBlock(this.#minBound(1))
  }

  /** Offers the rows of the window that have a sum to the heap of best entries. Returns false if some rows are left for after a pause. */
  #considerWindow(): boolean {
    const marks = this.#marks
    const sums = this.#sums
    const start = this.#start
    const needed = this.#needed
    const rest = this.#rest[needed] as number
    const cost = this.#costToConsider(needed)
    let left = this.#left
    let least = this.#heap.threshold - rest
    for (let word = this.#next; word < marks.length; word++) {
      let bits = marks[word] as number
      if (bits === 0) continue
      marks[word] = 0
      while (bits !== 0) {
        const bit = 31 - Math.clz32(bits & -bits)
        bits &= bits - 1
        const offset = (word << 5) + bit
        const sum = sums[offset] as number
        sums[offset] = -1
        if (sum < least) continue
        this.#consider(start + offset, sum, needed)
        least = this.#heap.threshold - rest
        left -= cost
        if (left > 0) continue
        marks[word] = bits
        this.#next = word
        this.#left = left
        return false
      }
    }
    this.#left = left
    return true
  }

  /** Highest cost of completing the score of a row by look-ups in the remaining lists; usually a row is rejected earlier. */
  #costToConsider(needed: number): number {
    return (this.#words.length - needed) * LOOK_UP_COST
  }

  /**
   * Number of words, heaviest first, whose lists must be read completely: a row that contains none of these words cannot be among the k
   * best.
   */
  #countNeeded(): number {
    const { threshold } = this.#heap
    let needed = this.#words.length
    while (needed > 0 && (this.#rest[needed - 1] as number) < threshold) needed--
    return needed
  }

  #nextRow(needed: number): number {
    let first = END
    for (let word = 0; word < needed; word++) {
      for (const cursor of (this.#words[word] as Word).cursors) first = Math.min(first, cursor.row)
    }
    return first
  }

  /**
   * Adds up the scores of the words whose lists are read completely, for all rows of the window. Returns false if some words are left for
   * after a pause.
   */
  #sumWindow(): boolean {
    const needed = this.#needed
    const start = this.#start
    const minBound = this.#minBound(needed)
    while (this.#next < needed) {
      if (this.#left <= 0) return false
      const { weight, cursors } = this.#words[this.#next++] as Word
      for (const cursor of cursors) this.#sumList(cursor, weight, minBound, start, start + WINDOW)
    }
    return true
  }

  /**
   * Bound below which a block of postings need not be read. If the list of only one word is read completely, a row in a block with a lower
   * bound cannot reach the k-th best score even with all other words.
   */
  #minBound(needed: number): number {
    const { threshold } = this.#heap
    if (needed !== 1 || threshold === Number.NEGATIVE_INFINITY) return 0
    return (threshold - (this.#rest[1] as number)) / (this.#words[0] as Word).boundScale
  }

  #sumList(cursor: PostingCursor, weight: number, minBound: number, start: number, end: number): void {
    const saturations = this.#saturations
    const { length } = this.#segment.rows
    const { rows, inText, inTitle } = cursor.block
    const sums = this.#sums
    const marks = this.#marks
    while (cursor.row < end) {
      const { count } = cursor.block
      let at = cursor.at
      for (; at < count; at++) {
        const row = rows[at] as number
        if (row >= end) break
        const tf = (inText[at] as number) + TITLE_WEIGHT * (inTitle[at] as number)
        const score = weight * saturations.of(tf, length[row] as number)
        const offset = row - start
        const sum = sums[offset] as number
        if (sum < 0) {
          marks[offset >>> 5] = (marks[offset >>> 5] as number) | (1 << (offset & 31))
          sums[offset] = score
        } else {
          sums[offset] = sum + score
        }
      }
      this.#left -= at - cursor.at
      cursor.at = at
      if (at < count) break
      cursor.nextBlock(minBound)
    }
  }

  /**
   * Completes the score of a row by looking it up in the lists of the lighter words, and offers the row to the heap; gives up as soon as
   * the row cannot be among the k best.
   */
  #consider(row: number, sumOfNeeded: number, needed: number): void {
    if (isDeadIn(this.#dead, row)) return
    const { threshold } = this.#heap
    const { rows } = this.#segment
    const entry = rows.entry[row] as number
    if (this.#allow !== undefined && !this.#allow.has(entry)) return
    let sum = sumOfNeeded
    for (let word = needed; word < this.#words.length; word++) {
      if (sum + (this.#rest[word] as number) < threshold) return
      const { weight, cursors } = this.#words[word] as Word
      for (const cursor of cursors) {
        const tf = cursor.tfAt(row)
        if (tf > 0) sum += weight * this.#saturations.of(tf, rows.length[row] as number)
      }
    }
    if (sum >= threshold) this.#heap.offer(entry, rows.chunk[row] as number, sum)
  }
}

// Finds the entries that contain a phrase: its words directly after one another, in one line of a title or in the content.

/**
 * Finds entries that contain the words as a phrase, at most `most` of them. Pauses after about `step` postings' worth of work so that other
 * work can run; changes of the index during the pauses are not seen.
 */
export function* entriesWithPhrase(
  set: SegmentSet,
  words: readonly string[],
  scope: SearchScope,
  most: number,
  step: number,
): Steps<Bitset> {
  const found = new Bitset()
  if (words.length === 0) return found
  const views = viewsOf(set, new Set(scope.partitions))
  const dead = new Map(views.map(({ segment }) => [segment, segment.dead]))
  for (const view of views) {
    for (const language of view.segment.terms.languages) {
      const keys = words.map(word => termKey(language, stem(word, LANGUAGES[language] as Language)))
      const lists = listsOf(view, keys)
      if (lists === null) continue
      yield* addEntriesWith(view.segment, dead.get(view.segment) as Uint8Array, lists, scope, found, most, step)
      if (found.size >= most) return found
    }
  }
  return found
}

/**
 * For each term, the runs of its postings that may be read (a run has the postings of one partition); null if any of the terms has none.
 */
function listsOf({ segment, visible }: SegmentView, keys: readonly string[]): readonly (readonly Run[])[] | null {
  const lists: (readonly Run[])[] = []
  for (const key of keys) {
    const term = segment.terms.find(key)
    if (term < 0) return null
    const runs = readRuns(segment, term, visible)
    if (runs.length === 0) return null
    lists.push(runs)
  }
  return lists
}

function* addEntriesWith(
  segment: Segment,
  dead: Uint8Array,
  lists: readonly (readonly Run[])[],
  { allow }: SearchScope,
  found: Bitset,
  most: number,
  step: number,
): Steps<void> {
  const cursors = lists.map(runs => new PostingCursor(segment, runs))
  const rarest = cursors[rarestOf(lists)] as PostingCursor
  let left = step
  while (rarest.row !== END) {
    const { row } = rarest
    const first = entryStart(segment, row)
    const end = segment.entryEnd(row)
    const entry = segment.rows.entry[row] as number
    const isWanted = !isDeadIn(dead, row) && (allow === undefined || allow.has(entry))
    if (isWanted && (cursors.length === 1 || holdsPhrase(segment, cursors, first, end))) {
      found.add(entry)
      if (found.size >= most) return
    }
    rarest.seek(end)
    left -= cursors.length * COST
    if (left > 0) continue
    left = step
    yield
  }
}

/** Time of examining one word of a phrase in one entry, in the time that reading one posting takes. */
const COST = 50

function rarestOf(lists: readonly (readonly Run[])[]): number {
  const sizes = lists.map(runs => runs.reduce((sum, run) => sum + run.df, 0))
  return sizes.indexOf(Math.min(...sizes))
}

function entryStart({ rows: { entry } }: Segment, row: number): number {
  let start = row
  while (start > 0 && entry[start - 1] === entry[row]) start--
  return start
}

/** Whether the entry whose rows are from `first` to `end` (exclusive) contains the words of a phrase directly after one another. */
function holdsPhrase(segment: Segment, cursors: readonly PostingCursor[], first: number, end: number): boolean {
  for (const cursor of cursors) {
    cursor.seek(first)
    if (cursor.row >= end) return false
  }
  let starts: Set<number> | null = null
  for (const [word, cursor] of cursors.entries()) {
    const next = new Set<number>()
    for (const place of placesIn(segment, cursor, first, end)) {
      if (starts === null || starts.has(place - word)) next.add(place - word)
    }
    if (next.size === 0) return false
    starts = next
  }
  return true
}

/**
 * Word positions in titles are moved by this offset, times the number of the chunk in its entry, so that no word of a chunk's title counts
 * as adjacent to a word elsewhere.
 */
const TITLE_PLACES = 2 ** 33

/** Positions of a term's words in an entry: in the content counted through the whole entry, in titles within each chunk's title. */
function* placesIn(segment: Segment, cursor: PostingCursor, first: number, end: number): Generator<number> {
  for (cursor.seek(first); cursor.row < end; cursor.next()) {
    const { row, block, at } = cursor
    const inTitle = block.inTitle[at] as number
    const inText = block.inText[at] as number
    const reader = new ByteReader(segment.places, block.placesOf(segment, at))
    let place = (row - first + 1) * TITLE_PLACES
    for (let next = 0; next < inTitle; next++) {
      place += reader.number()
      yield place
    }
    place = segment.rows.place[row] as number
    for (let next = 0; next < inText; next++) {
      place += reader.number()
      yield place
    }
  }
}
