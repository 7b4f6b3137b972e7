/**
 * The vector index: quantised rows in one WebAssembly memory, scanned flat, partition by partition, or near cells first
 * where there are very many; the f32 vectors of the few rows that matter are read from the store to settle the answer. No
 * graph and no training, so a filter makes it quicker, an edit costs microseconds, and the default answer is exact. 448
 * bytes a row at 384 dimensions.
 */
import { Recent } from '../base/recent.ts'
import { cosine } from '../math/vector.ts'
import type { ChunkKey, EntryKey } from '../model/entry.ts'
import { invalidArgument } from '../model/errors.ts'
import type { ChunkVector, StoreReader } from '../store/store.ts'
import type { Hit, SearchScope, VectorIndex, VectorSearch } from './contract.ts'
import { readFeed } from './follow.ts'
import { CELL_LIMITS, type CellLimits } from './vectors-cells.ts'
import { checkQuery } from './vectors-check.ts'
import { Division } from './vectors-division.ts'
import { imageOf, readImage } from './vectors-image.ts'
import { VectorRows } from './vectors-rows.ts'
import { type Candidate, VectorScan } from './vectors-scan.ts'

/** The f32 vectors of these chunks that the store has, in the order asked for. */
export type VectorSource = (chunks: readonly ChunkKey[]) => readonly Pick<ChunkVector, 'chunk' | 'vector'>[]

export interface VectorIndexOptions {
  readonly model: string
  /** 1 to 16,384. */
  readonly dimensions: number
  /** Where the last step of a search reads vectors; usually `chunks => store.vectorsOnly(model, chunks)`. */
  readonly source: VectorSource
  /** The model's mean vector (never that of the rows held): approximate search is better with it. Default: zero. */
  readonly mean?: Float32Array | undefined
  /** Holds f32 vectors in memory too (1,536 bytes a row more at 384 dimensions): `source` is then not asked. */
  readonly keepVectors?: boolean | undefined
  /** When large partitions are divided into cells (`vectors-cells.ts`). Others than the defaults are for tests. */
  readonly cells?: CellLimits | undefined
}

export interface KernelVectorIndex extends VectorIndex {
  /** Computes the sign-code distances of all rows in scope and nothing else: the floor that searches are measured by. */
  sweepDistances(vector: Float32Array, scope: SearchScope): void
}

const MAX_DIMENSIONS = 16_384
/** Vectors read from the store at once. */
const PAGE = 2048
/** Rows whose exact cosines an approximate search computes: enough for the first ten to be among them. */
const SETTLED = 16
/** Vectors kept of those read last to settle an answer: near questions, and those of one viewer, end with the same rows. */
const KEPT = 4096
/** When more entries than this changed, and they are more than half of the rows, reading everything is quicker. */
const FEW = 500

export function openVectorIndex(options: VectorIndexOptions): KernelVectorIndex {
  const { dimensions, mean } = options
  if (!(Number.isInteger(dimensions) && dimensions >= 1 && dimensions <= MAX_DIMENSIONS)) {
    throw invalidArgument('dimensions', dimensions, `a whole number from 1 to ${MAX_DIMENSIONS}`)
  }
  if (mean && mean.length !== dimensions) throw invalidArgument('mean', mean.length, `${dimensions} components`)
  return new FlatVectorIndex(options)
}

class FlatVectorIndex implements KernelVectorIndex {
  readonly name: string
  readonly model: string
  readonly dimensions: number
  readonly #options: VectorIndexOptions
  readonly #kept = new Recent<ChunkKey, Float32Array>(KEPT)
  readonly #limits: CellLimits
  #rows: VectorRows
  #division: Division
  #scan: VectorScan
  #position = 0

  constructor(options: VectorIndexOptions) {
    this.#options = options
    this.name = `vectors-${options.model}`
    this.model = options.model
    this.dimensions = options.dimensions
    this.#limits = options.cells ?? CELL_LIMITS
    this.#rows = this.#noRows()
    this.#division = new Division(this.#rows, this.#limits)
    this.#scan = new VectorScan(this.#rows, this.#limits)
  }

  get position(): number {
    return this.#position
  }

  get byteLength(): number {
    return this.#rows.byteLength + this.#kept.size * this.dimensions * 4
  }

  search(request: VectorSearch): readonly Hit[] {
    checkQuery(request, this.dimensions)
    const { vector, approximate, least } = request
    const ranked = request.among ?? request.prior
    const rate = (similarity: number, prior: number) =>
      ranked ? { score: ranked.weight * similarity + prior, similarity } : { score: similarity }
    const hits = approximate
      ? this.#settleFirst(request, rate)
      : this.#settle(vector, this.#scan.candidates(request), rate)
    const best = bestOfEntries(hits).sort(byScore).slice(0, request.k)
    return least === undefined ? best : best.filter(({ score }) => score >= least)
  }

  score(
    vector: Float32Array,
    entries: readonly EntryKey[],
    scope: SearchScope,
    approximate: boolean = false,
  ): readonly Hit[] {
    checkQuery({ vector, k: 0 }, this.dimensions)
    const partitions = new Set(scope.partitions)
    const visible = entries.filter(entry => {
      const row = this.#rows.first(entry)
      return row >= 0 && partitions.has(this.#rows.partition(row)) && (scope.allow?.has(entry) ?? true)
    })
    const candidates = this.#scan.best(vector, visible)
    const hits = approximate ? candidates.map(hitOf) : this.#settle(vector, candidates, score => ({ score }))
    const best = new Map(bestOfEntries(hits).map(hit => [hit.entry, hit]))
    return visible.map(entry => best.get(entry)).filter(hit => hit !== undefined)
  }

  count(scope: SearchScope): number {
    return this.#scan.count(scope)
  }

  has(entry: EntryKey, { partitions, allow }: SearchScope): boolean {
    const row = this.#rows.first(entry)
    return row >= 0 && partitions.includes(this.#rows.partition(row)) && (allow?.has(entry) ?? true)
  }

  sweepDistances(vector: Float32Array, scope: SearchScope): void {
    this.#scan.sweepDistances(vector, scope)
  }

  refresh(reader: StoreReader): number {
    const before = this.#position
    const news = before === 0 ? undefined : readFeed(reader, before)
    if (news === undefined || (news.entries.size > FEW && news.entries.size * 2 > this.#rowCount())) {
      this.rebuild(reader)
      return Math.max(0, this.#position - before)
    }
    this.#orForget(() => {
      for (const entry of news.entries) {
        this.#forget(entry)
        this.#rows.removeEntry(entry)
      }
      this.#rows.add(this.#vectorsOf(news.entries, reader))
      this.#division.arrange()
    })
    this.#position = news.position
    return news.changes
  }

  rebuild(reader: StoreReader): void {
    this.#replace(this.#noRows(), reader.lastSeq())
    this.#orForget(() => {
      this.#rows.add(allVectors(reader, this.model))
      this.#division.arrange()
    })
  }

  /** Views of the rows: to be written before the index changes again. */
  serialise(): readonly Uint8Array[] {
    return imageOf(this.#rows, this.#limits)
  }

  restore(bytes: Uint8Array, position: number): void {
    const rows = this.#noRows()
    readImage(bytes, rows, this.#limits)
    this.#replace(rows, position)
  }

  /**
   * Exact cosines for the first rows by int8, and int8 values for as many more as k entries need. Which rows these are
   * must not depend on the bounds that brought them here, for bounds know of hidden rows: so they are a prefix of all
   * rows in their order by int8.
   */
  #settleFirst(request: VectorSearch, rate: Rate): Hit[] {
    if (request.k === 0) return []
    const k = Math.max(request.k, SETTLED)
    const sorted = this.#scan.candidates({ ...request, k }).sort(byScore)
    const entries = new Set<EntryKey>()
    const last = sorted.findIndex(row => entries.add(row.entry).size === k)
    const prefix = last < 0 ? sorted : sorted.slice(0, last + 1)
    return [...this.#settle(request.vector, prefix.slice(0, SETTLED), rate), ...prefix.slice(SETTLED).map(hitOf)]
  }

  /** By exact cosines. What the store no longer has is left out: the index is behind it until the next refresh. */
  #settle(vector: Float32Array, candidates: readonly Candidate[], rate: Rate): Hit[] {
    const settled = ({ entry, chunk, prior }: Candidate, similarity: number) => ({
      entry,
      chunk,
      ...rate(similarity, prior),
    })
    if (this.#options.keepVectors) {
      const { floats } = this.#rows.memory
      return candidates.map(row => settled(row, cosine(vector, floats, this.#rows.vectorAt(row.slot))))
    }
    const vectors = this.#exactVectors(candidates.map(({ chunk }) => chunk))
    return candidates.flatMap(row => {
      const found = vectors.get(row.chunk)
      return found === undefined ? [] : settled(row, cosine(vector, found))
    })
  }

  /** As far as the store has them. */
  #exactVectors(chunks: readonly ChunkKey[]): ReadonlyMap<ChunkKey, Float32Array> {
    const vectors = new Map<ChunkKey, Float32Array>()
    const unknown: ChunkKey[] = []
    for (const chunk of chunks) {
      const kept = this.#kept.find(chunk)
      if (kept === undefined) unknown.push(chunk)
      else vectors.set(chunk, kept)
    }
    if (unknown.length === 0) return vectors
    for (const { chunk, vector } of this.#options.source(unknown))
      vectors.set(
        chunk,
        this.#kept.get(chunk, () => vector),
      )
    return vectors
  }

  *#vectorsOf(entries: Iterable<EntryKey>, reader: StoreReader): Iterable<ChunkVector> {
    let chunks: ChunkKey[] = []
    for (const entry of entries) {
      for (const chunk of reader.chunksOf(entry)) chunks.push(chunk.key)
      if (chunks.length < PAGE) continue
      yield* reader.vectors(this.model, chunks)
      chunks = []
    }
    yield* reader.vectors(this.model, chunks)
  }

  /** The vectors that were kept of it. */
  #forget(entry: EntryKey): void {
    for (let row = this.#rows.first(entry); row >= 0; row = this.#rows.next(row))
      this.#kept.delete(this.#rows.chunk(row))
  }

  #rowCount(): number {
    let count = 0
    for (const block of this.#rows.blocks) count += block.rows
    return count
  }

  #noRows(): VectorRows {
    const { model, dimensions, mean, keepVectors = false } = this.#options
    return new VectorRows(model, dimensions, mean, keepVectors)
  }

  #replace(rows: VectorRows, position: number): void {
    this.#kept.clear()
    this.#rows = rows
    this.#division = new Division(rows, this.#limits)
    this.#scan = new VectorScan(rows, this.#limits)
    this.#position = position
  }

  /** Half of a change is worse than nothing: after a failure the index is empty and will be rebuilt. */
  #orForget(change: () => void): void {
    try {
      change()
    } catch (error) {
      this.#replace(this.#noRows(), 0)
      throw error
    }
  }
}

type Rate = (similarity: number, prior: number) => Pick<Hit, 'score' | 'similarity'>

function* allVectors(reader: StoreReader, model: string): Iterable<ChunkVector> {
  let after = -1
  for (;;) {
    const page = reader.scanVectors(model, after, PAGE)
    yield* page
    const last = page.at(-1)
    if (last === undefined) return
    after = last.chunk
  }
}

function hitOf({ entry, chunk, score }: Candidate): Hit {
  return { entry, chunk, score }
}

function bestOfEntries(hits: Iterable<Hit>): Hit[] {
  const best = new Map<EntryKey, Hit>()
  for (const hit of hits) {
    const before = best.get(hit.entry)
    if (before === undefined || byScore(hit, before) < 0) best.set(hit.entry, hit)
  }
  return [...best.values()]
}

function byScore(a: Hit, b: Hit): number {
  return b.score - a.score || a.chunk - b.chunk
}
