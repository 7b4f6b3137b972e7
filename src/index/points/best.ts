/**
 * The k best by score, then by distance, of a stream, and all that tie with the last of them in both: a heap of k with
 * the worst at its root, and beside it what ties with the root.
 */
import type { EntryKey } from '../../model/entry.ts'
import type { PointHit } from '../contract.ts'

export class BestPoints {
  readonly #k: number
  readonly #heap: PointHit[] = []
  #ties: PointHit[] = []
  /** What a point must equal or beat: of the last place, once all are taken. */
  score: number = Number.NEGATIVE_INFINITY
  distance: number = Number.POSITIVE_INFINITY

  /** At least 1; may be infinite. */
  constructor(k: number) {
    this.#k = k
  }

  get isFull(): boolean {
    return this.#heap.length >= this.#k
  }

  /** Whether something of this score and this far away is surely not among the best. */
  isBeyond(score: number, distance: number): boolean {
    return score < this.score || (score === this.score && distance > this.distance)
  }

  offer(entry: EntryKey, distance: number, score: number): void {
    if (this.isBeyond(score, distance)) return
    const hit = { entry, distance, score }
    if (this.#heap.length < this.#k) {
      this.#heap.push(hit)
      if (this.#heap.length < this.#k) return
      for (let at = (this.#k >> 1) - 1; at >= 0; at--) this.#sink(at)
    } else if (score === this.score && distance === this.distance) {
      this.#ties.push(hit)
    } else {
      this.#replaceWorst(hit)
    }
    const worst = this.#heap[0] as PointHit
    this.score = worst.score
    this.distance = worst.distance
  }

  /** Best first; the last ones by entry key. */
  sorted(): PointHit[] {
    return [...this.#heap, ...this.#ties].sort((a, b) => compare(a, b) || a.entry - b.entry)
  }

  #replaceWorst(hit: PointHit): void {
    const worst = this.#heap[0] as PointHit
    this.#heap[0] = hit
    this.#sink(0)
    if (compare(this.#heap[0] as PointHit, worst) === 0) this.#ties.push(worst)
    else this.#ties = []
  }

  #sink(from: number): void {
    const heap = this.#heap
    const hit = heap[from] as PointHit
    let parent = from
    for (;;) {
      let child = 2 * parent + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && compare(heap[child + 1] as PointHit, heap[child] as PointHit) > 0) child++
      if (compare(heap[child] as PointHit, hit) <= 0) break
      heap[parent] = heap[child] as PointHit
      parent = child
    }
    heap[parent] = hit
  }
}

/** Negative when `a` is better. */
function compare(a: PointHit, b: PointHit): number {
  return b.score - a.score || a.distance - b.distance
}
