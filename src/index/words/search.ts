/**
 * Top k by BM25 with early exit (MaxScore, in windows of rows). Words are taken heaviest first. Once the k-th best score is
 * above all that the lightest words can add together, rows with those words alone need no look: the light words' lists are
 * only asked about rows that the others found, and only while these can still get in.
 */
import type { Bitset } from '../../base/bitset.ts'
import { TITLE_WEIGHT } from '../../math/bm25.ts'
import type { Hit, Prior, WordSearch } from '../contract.ts'
import { END, PostingCursor } from './cursor.ts'
import { EntryHeap } from './heap.ts'
import type { Reading, Saturations, SegmentView } from './lists.ts'
import { Block } from './runs.ts'
import { withPrior } from './score.ts'
import type { Segment } from './segment.ts'

/** Rows of a window: its sums (64 kB) stay in a near cache. */
const WINDOW = 8192

export function searchWords(reading: Reading, request: WordSearch): readonly Hit[] {
  const k = Math.min(Math.floor(request.k), reading.chunks)
  if (!(k > 0) || reading.words.length === 0) return []
  const heap = new EntryHeap(k)
  const { saturations } = reading
  reading.views.forEach((view, at) => {
    new SegmentSearch(reading, at, view, saturations, heap, request).run()
  })
  return heap.drain()
}

/** Sums by row of the window; -1 where no word was found. */
const sums = new Float64Array(WINDOW).fill(-1)
/** One bit for each row of the window with a sum: it keeps their order, and empty stretches cost nothing. */
const marks = new Uint32Array(WINDOW >>> 5)
/** Of the first cursors of a search in a segment: kept, for making them costs more than reading most lists. */
const blocks = Array.from({ length: 32 }, () => new Block())

interface Word {
  readonly weight: number
  readonly boundScale: number
  readonly cursors: readonly PostingCursor[]
}

class SegmentSearch {
  readonly #segment: Segment
  readonly #words: readonly Word[]
  /** By word: what it and all lighter ones can add. */
  readonly #rest: readonly number[]
  readonly #saturations: Saturations
  readonly #heap: EntryHeap
  readonly #allow: Bitset | undefined
  readonly #prior: Prior | undefined

  constructor(
    reading: Reading,
    at: number,
    view: SegmentView,
    saturations: Saturations,
    heap: EntryHeap,
    request: WordSearch,
  ) {
    this.#segment = view.segment
    this.#saturations = saturations
    this.#heap = heap
    this.#allow = request.allow
    this.#prior = request.prior
    let cursors = 0
    const found = reading.words.filter(word => (word.bySegment[at]?.postings ?? 0) > 0)
    this.#words = found.map(word => ({
      weight: word.weight,
      boundScale: word.bySegment[at]?.boundScale ?? 0,
      cursors: (word.bySegment[at]?.lists ?? []).map(runs => {
        return new PostingCursor(view.segment, runs, blocks[cursors++])
      }),
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
      const [first] = this.#words
      if (needed === 1 && first?.cursors.length === 1) {
        this.#considerBlock(first, first.cursors[0] as PostingCursor)
      } else {
        this.#sumWindow(needed, start)
        this.#considerWindow(needed, start)
      }
    }
  }

  /** One list alone is in order of rows already: no sums to keep. */
  #considerBlock({ weight }: Word, cursor: PostingCursor): void {
    const saturations = this.#saturations
    const { length } = this.#segment.rows
    const { rows, inText, inTitle, count } = cursor.block
    const rest = this.#restOf(1)
    let least = this.#heap.threshold - rest
    for (let { at } = cursor; at < count; at++) {
      const row = rows[at] as number
      const tf = (inText[at] as number) + TITLE_WEIGHT * (inTitle[at] as number)
      const sum = weight * saturations.of(tf, length[row] as number)
      if (sum < least) continue
      this.#consider(row, sum, 1)
      least = this.#heap.threshold - rest
    }
    cursor.nextBlock(this.#leastBound(1))
  }

  /** What the words from this one on can add, as far as that decides: a prior can lift any row. */
  #restOf(word: number): number {
    return this.#prior === undefined ? (this.#rest[word] as number) : Number.POSITIVE_INFINITY
  }

  #considerWindow(needed: number, start: number): void {
    const rest = this.#restOf(needed)
    let least = this.#heap.threshold - rest
    for (let word = 0; word < marks.length; word++) {
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

  /** Adds up the needed words' scores of the window's rows. */
  #sumWindow(needed: number, start: number): void {
    const leastBound = this.#leastBound(needed)
    for (let word = 0; word < needed; word++) {
      const { weight, cursors } = this.#words[word] as Word
      for (const cursor of cursors) this.#sumList(cursor, weight, leastBound, start, start + WINDOW)
    }
  }

  /** Blocks below this bound need not be read: when one word is needed, all with it may still be too light. */
  #leastBound(needed: number): number {
    const { threshold } = this.#heap
    if (needed !== 1 || this.#prior !== undefined || threshold === Number.NEGATIVE_INFINITY) return 0
    return (threshold - (this.#rest[1] as number)) / (this.#words[0] as Word).boundScale
  }

  #sumList(cursor: PostingCursor, weight: number, leastBound: number, start: number, end: number): void {
    const saturations = this.#saturations
    const { length } = this.#segment.rows
    const { rows, inText, inTitle } = cursor.block
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
      cursor.at = at
      if (at < count) break
      cursor.nextBlock(leastBound)
    }
  }

  /** Completes the sum of a row from the lists that were not read, and offers it. */
  #consider(row: number, sumOfNeeded: number, needed: number): void {
    if (this.#segment.isDead(row)) return
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
    const score = withPrior(sum, entry, this.#prior)
    if (score >= threshold) this.#heap.offer(entry, rows.chunk[row] as number, score)
  }
}
