/**
 * Best-first search for points: examines regions of the grid, and blocks of points in them, in the order of the highest score that a point
 * in them could have. It ends when no remaining region or block can contain a point better than the last result.
 */
import type { Bitset } from '../../base/bitset.ts'
import { grown } from '../../base/columns.ts'
import type { EntryKey } from '../../model/entry.ts'
import type { PointHit, PointScorer, PointSearch } from '../contract.ts'
import type { BlockNumber, PartitionPoints, PointBlocks } from './blocks.ts'

/** If at most this many entries are allowed by the filter, the points of all of them are examined directly, without the grid. */
const FEW_ALLOWED = 128
/**
 * Maximum number of points that a search through the grid may examine, for each entry that the filter allows. If that is not enough, the
 * allowed entries must be far from the query's point, and their points are examined directly.
 */
const PATIENCE = 16
/** Number of points of a block that are scored before the distance beyond which its points cannot be among the best is computed again. */
const RECHECK = 32
/** Factor, slightly above 1, on the square of a distance limit, so that rounding never excludes a point within the limit. */
const ROUNDING = 1 + 2 ** -50

export function searchPoints(blocks: PointBlocks, request: PointSearch): readonly PointHit[] {
  const { k, allow } = request
  const partitions = blocks.within(request.partitions)
  if (k === 0 || partitions.length === 0) return []
  if (allow === undefined) return new GridSearch(blocks, partitions, request, Number.POSITIVE_INFINITY).run() ?? []
  const found =
    allow.size <= FEW_ALLOWED ? undefined : new GridSearch(blocks, partitions, request, PATIENCE * allow.size).run()
  return found ?? searchAllowed(blocks, partitions, request, allow)
}

/** Searches without the grid, by examining the point of each entry that the filter allows. */
function searchAllowed(
  blocks: PointBlocks,
  partitions: readonly PartitionPoints[],
  { point: [l, a, b], k, maxDistance = Number.POSITIVE_INFINITY, scorer }: PointSearch,
  allow: Bitset,
): readonly PointHit[] {
  const seen = new Set(partitions)
  const best = new BestPoints(k)
  const { coordinates } = blocks.runs.arrays
  for (const entry of allow) {
    const slot = blocks.slotOf(entry)
    if (slot < 0 || !seen.has(blocks.block(blocks.blockOf(entry)).of)) continue
    const dl = (coordinates[3 * slot] as number) - l
    const da = (coordinates[3 * slot + 1] as number) - a
    const db = (coordinates[3 * slot + 2] as number) - b
    const distance = Math.sqrt(dl * dl + da * da + db * db)
    if (distance > maxDistance) continue
    best.offer(entry, distance, scorer === undefined ? 0 - distance : scorer.score(entry, distance))
  }
  return best.sorted()
}

class GridSearch {
  readonly #blocks: PointBlocks
  readonly #partitions: readonly PartitionPoints[]
  readonly #l: number
  readonly #a: number
  readonly #b: number
  readonly #maxDistance: number
  readonly #scorer: PointScorer | undefined
  readonly #allow: Bitset | undefined
  readonly #best: BestPoints
  readonly #regionsLeft = REGIONS_LEFT
  readonly #blocksLeft = BLOCKS_LEFT
  /** Number of points that the search through the grid may still examine. */
  #budget: number

  constructor(blocks: PointBlocks, partitions: readonly PartitionPoints[], request: PointSearch, budget: number) {
    this.#blocks = blocks
    this.#partitions = partitions
    const [l, a, b] = request.point
    this.#l = l
    this.#a = a
    this.#b = b
    this.#maxDistance = request.maxDistance ?? Number.POSITIVE_INFINITY
    this.#scorer = request.scorer
    this.#allow = request.allow
    this.#best = new BestPoints(request.k)
    this.#budget = budget
    this.#regionsLeft.clear()
    this.#blocksLeft.clear()
  }

  /** Runs the search through the grid. Returns the results, or undefined if the number of points that may be examined did not suffice. */
  run(): readonly PointHit[] | undefined {
    for (const of of this.#partitions) for (const region of of.regions.values()) this.#pushRegion(region)
    const [regions, blocks] = [this.#regionsLeft, this.#blocksLeft]
    for (;;) {
      const open = regions.size > 0 && this.#isOpen(regions)
      if (blocks.size > 0 && this.#isOpen(blocks) && !(open && this.#goesFirst(regions, blocks))) {
        this.#scan(blocks.pop())
        if (this.#budget < 0) return undefined
      } else if (open) {
        for (const block of this.#blocks.blocksOf(regions.pop())) this.#pushBlock(block)
      } else {
        return this.#best.sorted()
      }
    }
  }

  #isOpen(frontier: Frontier): boolean {
    return !this.#best.isBeyond(frontier.bound, frontier.distance)
  }

  #goesFirst(regions: Frontier, blocks: Frontier): boolean {
    // If there is no upper bound on the scores in regions (cubes of grid cells), any region may contain the best points. Blocks of points
    // from regions already opened are then examined first, until k results are found with which further regions can be compared.
    if (regions.bound === Number.POSITIVE_INFINITY && !this.#best.isFull) return false
    return regions.bound > blocks.bound || (regions.bound === blocks.bound && regions.distance < blocks.distance)
  }

  #pushRegion(region: number): void {
    const distance = this.#blocks.regionBoxes.distance(region, this.#l, this.#a, this.#b)
    if (distance > this.#maxDistance) return
    const scorer = this.#scorer
    const bound = scorer === undefined ? -distance : (scorer.limit?.(distance) ?? Number.POSITIVE_INFINITY)
    this.#regionsLeft.push(bound, distance, region)
  }

  #pushBlock(block: BlockNumber): void {
    const distance = this.#blocks.boxes.distance(block, this.#l, this.#a, this.#b)
    if (distance > this.#maxDistance) return
    const bound = this.#scorer === undefined ? -distance : this.#scorer.bound(block, distance)
    if (this.#best.isBeyond(bound, distance) || this.#blocks.block(block).points === 0) return
    this.#blocksLeft.push(bound, distance, block)
  }

  #scan(block: BlockNumber): void {
    const { first, points } = this.#blocks.block(block)
    const { coordinates, entries } = this.#blocks.runs.arrays
    const [l, a, b] = [this.#l, this.#a, this.#b]
    const [allow, scorer, best] = [this.#allow, this.#scorer, this.#best]
    this.#budget -= points
    let reach = this.#reach(block)
    let square = reach * reach * ROUNDING
    let standard = best.score
    let scored = 0
    for (let slot = first; slot < first + points; slot++) {
      const dl = (coordinates[3 * slot] as number) - l
      const da = (coordinates[3 * slot + 1] as number) - a
      const db = (coordinates[3 * slot + 2] as number) - b
      const squared = dl * dl + da * da + db * db
      if (squared > square) continue
      const distance = Math.sqrt(squared)
      if (distance > reach) continue
      const entry = entries[slot] as number
      if (allow !== undefined && !allow.has(entry)) continue
      best.offer(entry, distance, scorer === undefined ? 0 - distance : scorer.score(entry, distance))
      if (best.score === standard || (scorer !== undefined && ++scored % RECHECK > 0)) continue
      standard = best.score
      reach = this.#reach(block)
      square = reach * reach * ROUNDING
    }
  }

  /** The largest distance at which a point of the block can still be among the best; farther points need not be scored. */
  #reach(block: BlockNumber): number {
    const { isFull, distance, score } = this.#best
    // Once k results are found, a point farther away than the last of them is among the best only if its score is higher.
    const isOut = isFull && (this.#scorer === undefined || this.#scorer.bound(block, distance) <= score)
    return isOut ? distance : this.#maxDistance
  }
}

// Keeps the k best of a stream of points, by score and then by distance, and all points that equal the last of these k in both: a heap of k
// points with the worst at its root, and a list of points equal to the root.

class BestPoints {
  readonly #k: number
  readonly #heap: PointHit[] = []
  #ties: PointHit[] = []
  /**
   * Score and distance of the worst of the k best points kept so far. Once k points are kept, a further point is kept only if it is at
   * least as good as this.
   */
  score: number = Number.NEGATIVE_INFINITY
  distance: number = Number.POSITIVE_INFINITY

  /** `k`: number of points to keep, at least 1; may be infinite. */
  constructor(k: number) {
    this.#k = k
  }

  get isFull(): boolean {
    return this.#heap.length >= this.#k
  }

  /** Whether a point with this score and distance is certainly not among the k best points: it is worse than the worst of k results. */
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

  /**
   * The k best points, best first, with points that tie with the last one. Points with equal score and distance are ordered by entry key.
   */
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

/** Comparator of points found: negative if `a` is better, by descending score and then ascending distance. */
function compare(a: PointHit, b: PointHit): number {
  return b.score - a.score || a.distance - b.distance
}

class Frontier {
  #bounds = new Float64Array(256)
  #distances = new Float64Array(256)
  #items = new Int32Array(256)
  #size = 0

  get size(): number {
    return this.#size
  }

  clear(): void {
    this.#size = 0
  }

  /** Upper bound on the scores in the first region or block of the queue, the one with the highest bound. */
  get bound(): number {
    return this.#bounds[0] as number
  }

  get distance(): number {
    return this.#distances[0] as number
  }

  push(bound: number, distance: number, item: number): void {
    if (this.#size === this.#items.length) this.#grow()
    let at = this.#size++
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (!this.#isBefore(bound, distance, parent)) break
      this.#move(parent, at)
      at = parent
    }
    this.#set(at, bound, distance, item)
  }

  /** Removes the first region or block of the queue, the one with the highest bound, and returns its number. */
  pop(): number {
    const first = this.#items[0] as number
    const last = --this.#size
    const bound = this.#bounds[last] as number
    const distance = this.#distances[last] as number
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      if (child >= last) break
      if (
        child + 1 < last &&
        this.#isBefore(this.#bounds[child + 1] as number, this.#distances[child + 1] as number, child)
      )
        child++
      if (this.#isBefore(bound, distance, child)) break
      this.#move(child, at)
      at = child
    }
    this.#set(at, bound, distance, this.#items[last] as number)
    return first
  }

  #isBefore(bound: number, distance: number, other: number): boolean {
    const theirs = this.#bounds[other] as number
    return bound > theirs || (bound === theirs && distance < (this.#distances[other] as number))
  }

  #move(from: number, to: number): void {
    this.#set(to, this.#bounds[from] as number, this.#distances[from] as number, this.#items[from] as number)
  }

  #set(at: number, bound: number, distance: number, item: number): void {
    this.#bounds[at] = bound
    this.#distances[at] = distance
    this.#items[at] = item
  }

  #grow(): void {
    const length = 2 * this.#items.length
    this.#bounds = grown(this.#bounds, length)
    this.#distances = grown(this.#distances, length)
    this.#items = grown(this.#items, length)
  }
}

/**
 * Queues of regions and of blocks that all searches share, since searches never run inside each other. Allocating their arrays for each
 * search would take a tenth of its time.
 */
const REGIONS_LEFT = new Frontier()
const BLOCKS_LEFT = new Frontier()
