/** Scores given entries by looking them up in the lists; also the search that does so if few entries are allowed. */
import type { Steps } from '../../base/turns.ts'
import type { ChunkKey, EntryKey } from '../../model/entry.ts'
import type { Hit, SearchScope, WordSearch } from '../contract.ts'
import { Block, PostingCursor } from './cursor.ts'
import type { Reading, Saturations, SegmentView } from './lists.ts'
import type { Segment } from './segment.ts'
import type { SegmentSet } from './segments.ts'

/** The best chunk of each of these entries in the scope, in the given order. In steps, like `searchWords`. */
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

/** Each chunk of an entry in the scope, by ascending chunk key. In steps, like `searchWords`. */
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

/** Cost of looking up one chunk in one list, measured in postings read. */
export const LOOK_UP_COST = 24

/** Whether looking up the allowed entries is faster than reading the lists. */
export function isFewAllowed(reading: Reading, { allow }: SearchScope): boolean {
  if (allow === undefined) return false
  const postings = reading.words.reduce((sum, word) => {
    return word.bySegment.reduce((inSegments, { postings }) => inSegments + postings, sum)
  }, 0)
  return allow.size * reading.words.length * LOOK_UP_COST < postings
}

/** Searches by scoring each allowed entry. In steps, like `scoreEntries`. */
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

/** `sum`: the score, or -1 for a chunk without any of the words. */
type ChunkVisitor = (entry: EntryKey, chunk: number, sum: number) => void

/** Visits the chunks of these entries in the scope. */
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

/** Shared buffer of the cursor in use: only one is used at a time, as a step ends between two lists. */
const lookedAt = new Block()

/** Scores of ascending rows of one segment, in the same order; -1 for a row without any of the words. */
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

// Collects the k best entries of a stream of chunks, each with its best chunk, by descending score, then ascending chunk key. The chunks of
// an entry must follow one another. Uses three typed arrays rather than `TopK` and its objects, because this code is performance-critical.

/** Initial capacity: few queries want more results, and no query should pay for space that it may never fill. */
const ROOM = 256

export class EntryHeap {
  readonly #k: number
  /** A binary heap with the worst entry at its root, in three parallel arrays. */
  #scores = new Float64Array(ROOM)
  #entries = new Uint32Array(ROOM)
  #chunks = new Uint32Array(ROOM)
  #size = 0
  /** The best chunk so far of the entry whose chunks are arriving. */
  #entry: EntryKey = -1
  #chunk: ChunkKey = -1
  #score = 0
  /** Chunks with a lower score cannot be among the k best; one with exactly this score may. */
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

  /** The hits, best first. Empties the heap. */
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

  /** Inserts the entry whose chunks have arrived into the heap. */
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

  /** Adds an item at the end and moves it towards the root. */
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

  /** Replaces the root and moves the new item towards the leaves. */
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
