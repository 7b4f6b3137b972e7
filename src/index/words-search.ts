/**
 * Top k by BM25 with early exit (MaxScore, in windows of rows). Words are taken heaviest first. Once the k-th best score is
 * above all that the lightest words can add together, rows with those words alone need no look: the light words' lists are
 * only asked about rows that the others found, and only while these can still get in.
 */
import type { Bitset } from '../base/bitset.ts'
import { TITLE_WEIGHT } from '../math/bm25.ts'
import type { Hit, Prior, WordSearch } from './contract.ts'
import { END, PostingCursor } from './words-cursor.ts'
import { EntryHeap } from './words-heap.ts'
import { LengthParts, type Reading, type SegmentView } from './words-lists.ts'
import type { Segment } from './words-segment.ts'
import type { SegmentSet } from './words-segments.ts'

/** Rows of a window: its sums stay in the nearest cache. */
const WINDOW = 2048

export function searchWords(set: SegmentSet, reading: Reading, request: WordSearch): readonly Hit[] {
  const k = Math.min(Math.floor(request.k), reading.chunks)
  if (!(k > 0) || reading.words.length === 0) return []
  const heap = new EntryHeap(k, set.heapPlaces)
  const lengths = new LengthParts(reading.meanLength)
  reading.views.forEach((view, at) => {
    new SegmentSearch(reading, at, view, lengths, heap, request).run()
  })
  return heap.drain()
}

/** Sums by row of the window; -1 where no word was found. */
const sums = new Float64Array(WINDOW).fill(-1)
const touched = new Int32Array(WINDOW)

interface Word {
  readonly weight: number
  readonly cursors: readonly PostingCursor[]
}

class SegmentSearch {
  readonly #segment: Segment
  readonly #words: readonly Word[]
  /** By word: what it and all lighter ones can add. */
  readonly #rest: readonly number[]
  readonly #lengths: LengthParts
  readonly #heap: EntryHeap
  readonly #allow: Bitset | undefined
  readonly #prior: Prior | undefined

  constructor(
    reading: Reading,
    at: number,
    view: SegmentView,
    lengths: LengthParts,
    heap: EntryHeap,
    request: WordSearch,
  ) {
    this.#segment = view.segment
    this.#lengths = lengths
    this.#heap = heap
    this.#allow = request.allow
    this.#prior = request.prior
    const found = reading.words.filter(word => (word.bySegment[at]?.postings ?? 0) > 0)
    this.#words = found.map(word => ({
      weight: word.weight,
      cursors: (word.bySegment[at]?.lists ?? []).map(runs => new PostingCursor(view.segment, runs)),
    }))
    const bounds = found.map(word => word.bySegment[at]?.bound ?? 0)
    this.#rest = [...bounds.keys(), bounds.length].map(from =>
      bounds.slice(from).reduce((sum, bound) => sum + bound, 0),
    )
  }

  run(): void {
    for (;;) {
      const needed = this.#needed()
      const start = this.#nextRow(needed)
      if (start === END) return
      const count = this.#sumWindow(needed, start)
      for (let at = 0; at < count; at++) {
        const offset = touched[at] as number
        const sum = sums[offset] as number
        sums[offset] = -1
        this.#consider(start + offset, sum, needed)
      }
    }
  }

  /** How many of the words, heaviest first, a row must have one of to get in. */
  #needed(): number {
    const words = this.#words.length
    if (this.#prior !== undefined) return words
    const { threshold } = this.#heap
    let needed = words
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

  /** Adds up the needed words' scores of the window's rows, and returns how many were touched. */
  #sumWindow(needed: number, start: number): number {
    const end = start + WINDOW
    let count = 0
    for (let word = 0; word < needed; word++) {
      const { weight, cursors } = this.#words[word] as Word
      for (const cursor of cursors) count = this.#sumList(cursor, weight, start, end, count)
    }
    return count
  }

  #sumList(cursor: PostingCursor, weight: number, start: number, end: number, touchedBefore: number): number {
    const lengths = this.#lengths
    const { length } = this.#segment.rows
    const { rows, inText, inTitle } = cursor.block
    let touchedCount = touchedBefore
    while (cursor.row < end) {
      const { count } = cursor.block
      let at = cursor.at
      for (; at < count; at++) {
        const row = rows[at] as number
        if (row >= end) break
        const tf = (inText[at] as number) + TITLE_WEIGHT * (inTitle[at] as number)
        const score = weight * lengths.saturation(tf, length[row] as number)
        const offset = row - start
        const sum = sums[offset] as number
        if (sum < 0) {
          touched[touchedCount++] = offset
          sums[offset] = score
        } else {
          sums[offset] = sum + score
        }
      }
      cursor.at = at
      if (at < count) break
      cursor.nextBlock()
    }
    return touchedCount
  }

  /** Completes the sum of a row from the lists that were not read, and offers it. */
  #consider(row: number, sumOfNeeded: number, needed: number): void {
    const { threshold } = this.#heap
    if (this.#prior === undefined && sumOfNeeded + (this.#rest[needed] as number) < threshold) return
    if (this.#segment.isDead(row)) return
    const { rows } = this.#segment
    const entry = rows.entry[row] as number
    if (this.#allow !== undefined && !this.#allow.has(entry)) return
    let sum = sumOfNeeded
    for (let word = needed; word < this.#words.length; word++) {
      if (sum + (this.#rest[word] as number) < threshold) return
      const { weight, cursors } = this.#words[word] as Word
      for (const cursor of cursors) {
        const tf = cursor.tfAt(row)
        if (tf > 0) sum += weight * this.#lengths.saturation(tf, rows.length[row] as number)
      }
    }
    const prior = this.#prior
    const score = prior === undefined ? sum : prior.weight * sum + (prior.values[entry] ?? 0)
    if (score >= threshold) this.#heap.offer(entry, rows.chunk[row] as number, score)
  }
}
