/**
 * The vector index. It holds quantised vectors (rows) in one WebAssembly memory, in partitions; a search scans all rows of its partitions,
 * or only some groups of rows (cells) near the query if there are very many. The exact f32 vectors of the few best rows are read from the
 * store to decide the result. There is no neighbour graph and no training: a filter makes a search faster, a change takes microseconds, and
 * results are exact unless an approximate search is requested. 448 bytes per row at 384 dimensions.
 */
import { atOnce, type Steps } from '../base/turns.ts'
import type { ChunkKey, EntryKey } from '../model/entry.ts'
import { invalidArgument } from '../model/errors.ts'
import type { PartitionId } from '../model/partition.ts'
import { isMostOf, readFeed } from '../store/feed.ts'
import type { ChunkVector, StoreReader } from '../store/store.ts'
import {
  bestFirst,
  bestOfEntries,
  type Hit,
  type SearchScope,
  SteppedIndex,
  type VectorIndex,
  type VectorSearch,
  vectorsName,
} from './contract.ts'
import { CELL_LIMITS, type CellLimits } from './vectors/cells.ts'
import { checkQuery } from './vectors/check.ts'
import { Clustering } from './vectors/clustering.ts'
import { imageOf, readImage } from './vectors/image.ts'
import { VectorRows } from './vectors/rows.ts'
import { type Candidate, VectorScan } from './vectors/scan.ts'
import { Settlement, type VectorSource } from './vectors/settle.ts'

export interface VectorIndexOptions {
  readonly model: string
  /** Number of components of each vector, 1 to 16,384. */
  readonly dimensions: number
  /** Reads the exact vectors of chunks for the last step of a search; usually `chunks => store.vectorsOnly(model, chunks)`. */
  readonly source: VectorSource
  /** Numbers of rows from which large partitions are divided into cells. Values other than the defaults are for tests. */
  readonly cells?: CellLimits | undefined
}

export interface KernelVectorIndex extends VectorIndex {
  /**
   * Computes the Hamming distances between the query's sign code and those of all rows in the scope, and nothing else. Used in benchmarks,
   * as the least time that any search could take.
   */
  sweepDistances(vector: Float32Array, scope: SearchScope): void
}

const MAX_DIMENSIONS = 16_384
/** Number of changed entries whose vectors are updated between two possible pauses, which takes some milliseconds. */
const CHANGED_AT_ONCE = 200
/** Number of best rows whose exact cosines an approximate search computes; chosen so that they practically always contain the first ten. */
const SETTLED = 16

export function openVectorIndex(options: VectorIndexOptions): KernelVectorIndex {
  const { dimensions } = options
  if (!(Number.isInteger(dimensions) && dimensions >= 1 && dimensions <= MAX_DIMENSIONS)) {
    throw invalidArgument('dimensions', dimensions, `a whole number from 1 to ${MAX_DIMENSIONS}`)
  }
  return new FlatVectorIndex(options)
}

/** The quantised vectors (rows) of the index at one time, and the objects that search and change them. */
interface State {
  readonly rows: VectorRows
  readonly clustering: Clustering
  readonly scan: VectorScan
  readonly settlement: Settlement
}

class FlatVectorIndex extends SteppedIndex implements KernelVectorIndex {
  readonly name: string
  readonly model: string
  readonly dimensions: number
  readonly #options: VectorIndexOptions
  readonly #limits: CellLimits
  #state: State
  #position = 0

  constructor(options: VectorIndexOptions) {
    super()
    this.#options = options
    this.name = vectorsName(options.model)
    this.model = options.model
    this.dimensions = options.dimensions
    this.#limits = options.cells ?? CELL_LIMITS
    this.#state = this.#stateOf(this.#noRows())
  }

  get position(): number {
    return this.#position
  }

  get byteLength(): number {
    const { rows, settlement } = this.#state
    return rows.byteLength + settlement.byteLength
  }

  search(request: VectorSearch): readonly Hit[] {
    checkQuery(request, this.dimensions)
    const { vector, approximate, least } = request
    const found = approximate
      ? this.#settleFirst(request)
      : bestOfEntries(this.#state.settlement.settle(vector, this.#state.scan.candidates(request)))
    const best = [...found.values()].sort(bestFirst).slice(0, request.k)
    return least === undefined ? best : best.filter(({ score }) => score >= least)
  }

  score(
    vector: Float32Array,
    entries: readonly EntryKey[],
    scope: SearchScope,
    approximate: boolean = false,
  ): readonly Hit[] {
    checkQuery({ vector, k: 0 }, this.dimensions)
    const { rows, scan, settlement } = this.#state
    const partitions = new Set(scope.partitions)
    const visible = entries.filter(entry => {
      const row = rows.first(entry)
      return row >= 0 && partitions.has(rows.partition(row)) && (scope.allow?.has(entry) ?? true)
    })
    const candidates = scan.best(vector, visible)
    const hits = approximate ? candidates.map(hitOf) : settlement.settle(vector, candidates)
    // In the list of hits, those of one entry follow one another, so comparing each hit with the last one gives the best of each entry.
    const best: Hit[] = []
    for (const hit of hits) {
      const before = best.at(-1)
      if (before?.entry !== hit.entry) best.push(hit)
      else if (bestFirst(hit, before) < 0) best[best.length - 1] = hit
    }
    return best
  }

  scoreChunks(
    vector: Float32Array,
    entry: EntryKey,
    { partitions, allow }: SearchScope,
    approximate: boolean = false,
  ): readonly Hit[] {
    checkQuery({ vector, k: 0 }, this.dimensions)
    const { rows, scan, settlement } = this.#state
    const row = rows.first(entry)
    if (row < 0 || !partitions.includes(rows.partition(row)) || !(allow?.has(entry) ?? true)) return []
    const candidates = scan.all(vector, entry)
    const hits = approximate ? candidates.map(hitOf) : settlement.settle(vector, candidates)
    return hits.sort((a, b) => a.chunk - b.chunk)
  }

  count(scope: SearchScope): number {
    return this.#state.scan.count(scope)
  }

  has(entry: EntryKey, { partitions, allow }: SearchScope, chunk?: ChunkKey): boolean {
    const { rows } = this.#state
    let row = rows.first(entry)
    if (row < 0 || !partitions.includes(rows.partition(row)) || !(allow?.has(entry) ?? true)) return false
    while (chunk !== undefined && row >= 0 && rows.chunk(row) !== chunk) row = rows.next(row)
    return row >= 0
  }

  sweepDistances(vector: Float32Array, scope: SearchScope): void {
    this.#state.scan.sweepDistances(vector, scope)
  }

  *refreshInSteps(reader: StoreReader): Steps<number> {
    const before = this.#position
    const touched = new Set<PartitionId>()
    const news =
      before === 0 ? null : yield* readFeed(reader, before, ({ partition }) => touched.add(partition).size > 0)
    const isMuch = news === null || isMostOf(this.#state.rows.count, news.entries.size)
    if (isMuch || this.#isToBeDivided(reader, touched)) {
      yield* this.rebuildInSteps(reader)
      return Math.max(0, this.#position - before)
    }
    const { entries } = news
    const keys = [...entries]
    for (let at = 0; at < keys.length; at += CHANGED_AT_ONCE) {
      if (at > 0) yield
      this.#take(keys.slice(at, at + CHANGED_AT_ONCE), reader)
    }
    this.#position = news.position
    return news.changes
  }

  *rebuildInSteps(reader: StoreReader): Steps<void> {
    const position = reader.lastSeq()
    const rows = this.#noRows()
    // The rows of the new state are in a memory of their own, so searches of the present state can run during the pauses.
    const state = this.#stateOf(rows)
    for (const page of allVectors(reader, this.model)) {
      rows.add(page)
      yield
    }
    yield* state.clustering.arrange()
    this.#state = state
    this.#position = position
  }

  /** The serialised form of the index as views of its memory, which must be written before the index changes again. */
  serialise(): readonly Uint8Array[] {
    return imageOf(this.#state.rows, this.#limits)
  }

  *restoreInSteps(bytes: Uint8Array, position: number): Steps<void> {
    const rows = this.#noRows()
    yield* readImage(bytes, rows, this.#limits, position)
    this.#replace(rows, position)
  }

  /**
   * The best row (encoded chunk vector) of each entry for an approximate search: the first `SETTLED` rows get exact cosines, as many more
   * as `k` entries need get cosines from int8 components. Rows are taken by descending int8 cosine, because the set of candidates depends
   * on error bounds and so on hidden rows.
   */
  #settleFirst(request: VectorSearch): Map<EntryKey, Hit> {
    if (request.k === 0) return new Map()
    const k = Math.max(request.k, SETTLED)
    const { scan, settlement } = this.#state
    const sorted = scan.candidates({ ...request, k }).sort(bestFirst)
    const first = sorted.slice(0, SETTLED)
    const best = bestOfEntries(settlement.settle(request.vector, first))
    // If the exact vectors of an entry are no longer in the store, the entry is left out of the hits but still counts as one of the entries
    // wanted. So the result does not depend on when the entry was deleted.
    const settled = new Set(first.map(({ entry }) => entry))
    let entries = settled.size
    for (let at = SETTLED; at < sorted.length && entries < k; at++) {
      const row = sorted[at] as Candidate
      const before = best.get(row.entry)
      if (before === undefined && !settled.has(row.entry)) entries++
      if (before === undefined || bestFirst(row, before) < 0) best.set(row.entry, hitOf(row))
    }
    return best
  }

  #noRows(): VectorRows {
    return new VectorRows(this.model, this.dimensions)
  }

  #stateOf(rows: VectorRows): State {
    const clustering = new Clustering(rows, this.#limits)
    const scan = new VectorScan(rows, this.#limits)
    return { rows, clustering, scan, settlement: new Settlement(rows, this.#options.source) }
  }

  #replace(rows: VectorRows, position: number): void {
    this.#state = this.#stateOf(rows)
    this.#position = position
  }

  /**
   * Whether one of these partitions has become so large that it must be divided into cells for the first time. The index is then rebuilt,
   * because rows that are being searched cannot be divided with pauses in between.
   */
  #isToBeDivided(reader: StoreReader, touched: ReadonlySet<PartitionId>): boolean {
    const { rows } = this.#state
    const others = [...touched].filter(partition => (rows.block(partition)?.cells.length ?? 0) === 0)
    const isLarge = (partitions: readonly PartitionId[]) =>
      reader.countVectors(this.model, partitions) >= this.#limits.dividedFrom
    // The total over all partitions is counted first: if it is below the limit, the partitions need not be counted one by one.
    return isLarge(others) && others.some(partition => isLarge([partition]))
  }

  /**
   * Brings the rows of these entries up to date with the store, without a pause. If this fails halfway, the index is emptied so that it
   * will be rebuilt, because it would otherwise hold only half of a change.
   */
  #take(entries: readonly EntryKey[], reader: StoreReader): void {
    const { rows, clustering, settlement } = this.#state
    try {
      for (const entry of entries) {
        settlement.forget(entry)
        rows.removeEntry(entry)
      }
      rows.add(vectorsOf(entries, reader, this.model))
      atOnce(clustering.arrange())
    } catch (error) {
      this.#replace(this.#noRows(), 0)
      throw error
    }
  }
}

function hitOf({ entry, chunk, score }: Candidate): Hit {
  return { entry, chunk, score }
}

/** Number of vectors that are read from the store and added to the index at once, which takes some milliseconds. */
const PAGE = 128

/** Reads all vectors of a model from the store, in pages. */
function* allVectors(reader: StoreReader, model: string): Iterable<readonly ChunkVector[]> {
  let after = -1
  for (;;) {
    const page = reader.scanVectors(model, after, PAGE)
    const last = page.at(-1)
    if (last === undefined) return
    yield page
    // An incomplete page ends the reading. Otherwise vectors that are written during each pause could prolong it without end; they are
    // added later from the change feed.
    if (page.length < PAGE) return
    after = last.chunk
  }
}

/** Reads the vectors of all chunks of these entries from the store. */
function* vectorsOf(entries: Iterable<EntryKey>, reader: StoreReader, model: string): Iterable<ChunkVector> {
  let chunks: ChunkKey[] = []
  for (const entry of entries) {
    for (const chunk of reader.chunksOf(entry)) chunks.push(chunk.key)
    if (chunks.length < PAGE) continue
    yield* reader.vectors(model, chunks)
    chunks = []
  }
  yield* reader.vectors(model, chunks)
}
