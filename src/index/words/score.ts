/**
 * Computes BM25 scores of given entries by looking up their rows in the lists of postings; also the search that scores each allowed entry
 * in this way, for sets of few allowed entries.
 */
import type { Steps } from '../../base/turns.ts'
import type { ChunkKey, EntryKey } from '../../model/entry.ts'
import type { Hit, SearchScope, WordSearch } from '../contract.ts'
import { Block, PostingCursor } from './cursor.ts'
import type { Reading, Saturations, SegmentView } from './lists.ts'
import type { Segment } from './segment.ts'
import type { SegmentSet } from './segments.ts'

/**
 * For each of the given entries that may be read, its chunk with the highest score; in the order of the entries. Pauses after about `step`
 * postings' worth of work so that other work can run.
 */
export function* scoreEntries(
  set: SegmentSet,
  reading: Reading,
  entries: readonly EntryKey[],
  scope: SearchScope,
  step: number,
): Steps<readonly Hit[]> {
  const best = new Map<EntryKey, Hit>()
  yield* eachChunk(set, reading, entries, scope, step, (entry, chunk, sum) => {
    const before = best.get(entry)
    const score = Math.max(0, sum)
    if (before !== undefined && (before.score > score || (before.score === score && before.chunk < chunk))) return
    best.set(entry, { entry, chunk, score })
  })
  const hits: Hit[] = []
  for (const entry of entries) {
    const hit = best.get(entry)
    if (hit !== undefined) hits.push(hit)
  }
  return hits
}

/**
 * The scores of all chunks of an entry, by ascending chunk key; none if the entry may not be read. Pauses after about `step` postings'
 * worth of work so that other work can run.
 */
export function* scoreChunks(
  set: SegmentSet,
  reading: Reading,
  entry: EntryKey,
  scope: SearchScope,
  step: number,
): Steps<readonly Hit[]> {
  const hits: Hit[] = []
  yield* eachChunk(set, reading, [entry], scope, step, (_, chunk, sum) => {
    hits.push({ entry, chunk, score: Math.max(0, sum) })
  })
  return hits.sort((a, b) => a.chunk - b.chunk)
}

/** Time of looking up one row in one list of postings, in the time that reading one posting takes. */
export const LOOK_UP_COST = 24

/** Whether it is faster to look up each allowed entry than to read the query's lists of postings completely. */
export function isFewAllowed(reading: Reading, { allow }: SearchScope): boolean {
  if (allow === undefined) return false
  const postings = reading.words.reduce((sum, word) => {
    return word.bySegment.reduce((inSegments, { postings }) => inSegments + postings, sum)
  }, 0)
  return allow.size * reading.words.length * LOOK_UP_COST < postings
}

/**
 * Finds the k best of the allowed entries by scoring each of them. Pauses after about `step` postings' worth of work so that other work can
 * run.
 */
export function* searchAllowed(
  set: SegmentSet,
  reading: Reading,
  request: WordSearch,
  step: number,
): Steps<readonly Hit[]> {
  const { allow } = request
  const k = Math.min(Math.floor(request.k), reading.chunks)
  if (!(k > 0) || allow === undefined) return []
  const heap = new EntryHeap(k)
  yield* eachChunk(set, reading, [...allow], request, step, (entry, chunk, sum) => {
    if (sum >= 0) heap.offer(entry, chunk, sum)
  })
  return heap.drain()
}

/** Function called for each chunk. `sum`: BM25 score of the chunk, or -1 if the chunk contains none of the query's words. */
type ChunkVisitor = (entry: EntryKey, chunk: number, sum: number) => void

/** Calls `visit` for each chunk of those of the given entries that are allowed and in the searched partitions, with the chunk's score. */
function* eachChunk(
  set: SegmentSet,
  reading: Reading,
  entries: readonly EntryKey[],
  { allow }: SearchScope,
  step: number,
  visit: ChunkVisitor,
): Steps<void> {
  const rowsByView: number[][] = reading.views.map(() => [])
  for (const entry of entries) {
    const place = set.find(entry)
    if (place === null || allow?.has(entry) === false) continue
    const { segment, row } = place
    const at = reading.views.findIndex(view => view.segment === segment)
    if (at < 0 || !isVisible(reading.views[at] as SegmentView, row)) continue
    const end = segment.entryEnd(row)
    for (let next = row; next < end; next++) (rowsByView[at] as number[]).push(next)
  }
  for (const [at, list] of rowsByView.entries()) {
    const { rows } = (reading.views[at] as SegmentView).segment
    const asked = Int32Array.from(list).sort()
    const sums = yield* sumRows(reading, at, asked, step)
    asked.forEach((row, next) => {
      visit(rows.entry[row] as number, rows.chunk[row] as number, sums[next] as number)
    })
  }
}

function isVisible({ segment, visible }: SegmentView, row: number): boolean {
  return visible === null || visible[segment.rankOf(row)] === 1
}

/** Shared buffer of decoded postings. One is enough, because work pauses only between two lists, when no cursor is in use. */
const lookedAt = new Block()

/**
 * BM25 scores of the given rows of one segment, in the order of the rows, which must ascend; -1 for a row that contains none of the query's
 * words.
 */
function* sumRows(reading: Reading, at: number, rows: Int32Array, step: number): Steps<Float64Array> {
  const { saturations } = reading
  const { segment } = reading.views[at] as SegmentView
  const sums = new Float64Array(rows.length).fill(-1)
  let left = step
  for (const { weight, bySegment } of reading.words) {
    for (const runs of bySegment[at]?.lists ?? []) {
      sumList(new PostingCursor(segment, runs, lookedAt, rows[0]), segment, weight, rows, sums, saturations)
      left -= rows.length * LOOK_UP_COST
      if (left > 0) continue
      left = step
      yield
    }
  }
  return sums
}

function sumList(
  cursor: PostingCursor,
  segment: Segment,
  weight: number,
  rows: Int32Array,
  sums: Float64Array,
  saturations: Saturations,
): void {
  const { length } = segment.rows
  for (let next = 0; next < rows.length; next++) {
    const row = rows[next] as number
    const tf = cursor.tfAt(row)
    if (tf === 0) continue
    const score = weight * saturations.of(tf, length[row] as number)
    sums[next] = Math.max(0, sums[next] as number) + score
  }
}

// Collects the k best entries from a stream of scored chunks: each with its best chunk, by descending score, then ascending chunk key. All
// chunks of an entry must arrive one directly after the other. Uses typed arrays rather than a heap of objects, because this code runs for
// every result row of every search.

/** Initial capacity of the heap in entries: few queries want more results, and a large k must not cost memory that may never be filled. */
const ROOM = 256

export class EntryHeap {
  readonly #k: number
  /** A binary heap of entries with the worst entry at its root, in three arrays with equal indexes. */
  #scores = new Float64Array(ROOM)
  #entries = new Uint32Array(ROOM)
  #chunks = new Uint32Array(ROOM)
  #size = 0
  /** The entry whose chunks are arriving, with its best chunk so far and that chunk's score. */
  #entry: EntryKey = -1
  #chunk: ChunkKey = -1
  #score = 0
  /** Score that a chunk must reach to be among the k best; with exactly this score the chunk key decides. */
  threshold: number = Number.NEGATIVE_INFINITY

  constructor(k: number) {
    this.#k = k
  }

  offer(entry: EntryKey, chunk: ChunkKey, score: number): void {
    if (entry !== this.#entry) {
      this.#take()
      this.#entry = entry
    } else if (score < this.#score || (score === this.#score && chunk > this.#chunk)) {
      return
    }
    this.#chunk = chunk
    this.#score = score
  }

  /** Returns the collected entries, best first, and empties the heap. */
  drain(): Hit[] {
    this.#take()
    this.#entry = -1
    const scores = this.#scores
    const entries = this.#entries
    const chunks = this.#chunks
    const hits = new Array<Hit>(this.#size)
    while (this.#size > 0) {
      this.#size--
      hits[this.#size] = { entry: entries[0] as number, chunk: chunks[0] as number, score: scores[0] as number }
      const last = this.#size
      if (last > 0) this.#sink(entries[last] as number, chunks[last] as number, scores[last] as number)
    }
    this.threshold = Number.NEGATIVE_INFINITY
    return hits
  }

  /** Adds the entry whose chunks have arrived to the heap, if it is among the k best so far. */
  #take(): void {
    if (this.#entry < 0) return
    const score = this.#score
    if (this.#size < this.#k) {
      this.#rise(this.#entry, this.#chunk, score)
    } else if (score > this.threshold || (score === this.threshold && this.#chunk < (this.#chunks[0] as number))) {
      this.#sink(this.#entry, this.#chunk, score)
    }
    if (this.#size === this.#k) this.threshold = this.#scores[0] as number
  }

  /** Adds an item at the end of the heap and moves it towards the root until the heap is in order. */
  #rise(entry: EntryKey, chunk: ChunkKey, score: number): void {
    if (this.#size === this.#scores.length) this.#grow()
    const scores = this.#scores
    const entries = this.#entries
    const chunks = this.#chunks
    let place = this.#size++
    while (place > 0) {
      const parent = (place - 1) >> 1
      const held = scores[parent] as number
      if (held < score || (held === score && (chunks[parent] as number) > chunk)) break
      scores[place] = held
      entries[place] = entries[parent] as number
      chunks[place] = chunks[parent] as number
      place = parent
    }
    scores[place] = score
    entries[place] = entry
    chunks[place] = chunk
  }

  /** Replaces the worst item, at the root of the heap, and moves the new item towards the leaves until the heap is in order. */
  #sink(entry: EntryKey, chunk: ChunkKey, score: number): void {
    const scores = this.#scores
    const entries = this.#entries
    const chunks = this.#chunks
    const size = this.#size
    let place = 0
    for (;;) {
      let worst = 2 * place + 1
      if (worst >= size) break
      let held = scores[worst] as number
      const other = scores[worst + 1] as number
      if (
        worst + 1 < size &&
        (other < held || (other === held && (chunks[worst + 1] as number) > (chunks[worst] as number)))
      ) {
        worst++
        held = other
      }
      if (held > score || (held === score && (chunks[worst] as number) < chunk)) break
      scores[place] = held
      entries[place] = entries[worst] as number
      chunks[place] = chunks[worst] as number
      place = worst
    }
    scores[place] = score
    entries[place] = entry
    chunks[place] = chunk
  }

  #grow(): void {
    const room = this.#scores.length * 2
    const scores = new Float64Array(room)
    const entries = new Uint32Array(room)
    const chunks = new Uint32Array(room)
    scores.set(this.#scores)
    entries.set(this.#entries)
    chunks.set(this.#chunks)
    this.#scores = scores
    this.#entries = entries
    this.#chunks = chunks
  }
}
