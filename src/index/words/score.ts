/** Scores of given entries, by looking them up in the lists; and the search that does so when few entries are allowed. */
import type { Steps } from '../../base/turns.ts'
import type { EntryKey } from '../../model/entry.ts'
import type { Hit, Prior, SearchScope, WordSearch } from '../contract.ts'
import { PostingCursor } from './cursor.ts'
import { EntryHeap } from './heap.ts'
import type { Reading, Saturations, SegmentView } from './lists.ts'
import { Block } from './runs.ts'
import type { Segment } from './segment.ts'
import type { SegmentSet } from './segments.ts'

/**
 * The best chunk of each of these entries that the scope holds, in the order asked for. In steps, as `searchWords`.
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

/** Each chunk of an entry that the scope holds, by chunk key ascending. In steps, as `searchWords`. */
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

/** What looking one chunk up in one list costs, in postings read. */
export const LOOK_UP_COST = 24

/** Whether looking up the allowed entries is quicker than reading the lists. */
export function isFewAllowed(reading: Reading, { allow }: SearchScope): boolean {
  if (allow === undefined) return false
  const postings = reading.words.reduce((sum, word) => {
    return word.bySegment.reduce((inSegments, { postings }) => inSegments + postings, sum)
  }, 0)
  return allow.size * reading.words.length * LOOK_UP_COST < postings
}

/** In steps, as `scoreEntries`. */
export function* searchAllowed(
  set: SegmentSet,
  reading: Reading,
  request: WordSearch,
  step: number,
): Steps<readonly Hit[]> {
  const { allow, prior } = request
  const k = Math.min(Math.floor(request.k), reading.chunks)
  if (!(k > 0) || allow === undefined) return []
  const heap = new EntryHeap(k)
  yield* eachChunk(set, reading, [...allow], request, step, (entry, chunk, sum) => {
    if (sum >= 0) heap.offer(entry, chunk, withPrior(sum, entry, prior))
  })
  return heap.drain()
}

export function withPrior(sum: number, entry: EntryKey, prior: Prior | undefined): number {
  return prior === undefined ? sum : prior.weight * sum + (prior.values[entry] ?? 0)
}

/** `sum` is -1 for a chunk without any of the words. */
type ChunkVisitor = (entry: EntryKey, chunk: number, sum: number) => void

/** Visits the chunks of these entries that the scope holds. */
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

/** Of the one cursor at work; a step ends between two lists. */
const lookedAt = new Block()

/** Scores of ascending rows of one segment, in their order; -1 for a row without any of the words. */
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
