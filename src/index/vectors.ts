/**
 * The vector index: quantised rows in one WebAssembly memory, scanned flat, partition by partition; the f32 vectors of
 * the few rows that matter are read from the store to settle the answer. No graph and no training, so a filter makes
 * it quicker, an edit costs microseconds, and the default answer is exact. 448 bytes a row at 384 dimensions.
 */
import { cosine } from '../math/vector.ts'
import type { ChunkKey, EntryKey } from '../model/entry.ts'
import { invalidArgument } from '../model/errors.ts'
import type { ChunkVector, StoreReader } from '../store/store.ts'
import type { Hit, SearchScope, VectorIndex, VectorSearch } from './contract.ts'
import { readFeed } from './follow.ts'
import { checkQuery } from './vectors-check.ts'
import { imageOf, readImage } from './vectors-image.ts'
import { type Slot, VectorRows } from './vectors-rows.ts'
import { VectorScan } from './vectors-scan.ts'

/** The f32 vectors of these chunks that the store has, in the order asked for. */
export type VectorSource = (chunks: readonly ChunkKey[]) => readonly Pick<ChunkVector, 'chunk' | 'vector'>[]

export interface VectorIndexOptions {
  readonly model: string
  /** 1 to 16,384. */
  readonly dimensions: number
  /** Where the last step of a search reads vectors; usually `chunks => store.vectors(model, chunks)`. */
  readonly source: VectorSource
  /** The model's mean vector (never that of the rows held): approximate search is better with it. Default: zero. */
  readonly mean?: Float32Array | undefined
  /** Holds f32 vectors in memory too (1,536 bytes a row more at 384 dimensions): `source` is then not asked. */
  readonly keepVectors?: boolean | undefined
}

export interface KernelVectorIndex extends VectorIndex {
  /** Computes the sign-code distances of all rows in scope and nothing else: the floor that searches are measured by. */
  sweepDistances(vector: Float32Array, scope: SearchScope): void
}

const MAX_DIMENSIONS = 16_384
/** Vectors read from the store at once. */
const PAGE = 2048
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
  #rows: VectorRows
  #scan: VectorScan
  #position = 0

  constructor(options: VectorIndexOptions) {
    this.#options = options
    this.name = `vectors-${options.model}`
    this.model = options.model
    this.dimensions = options.dimensions
    this.#rows = this.#noRows()
    this.#scan = new VectorScan(this.#rows)
  }

  get position(): number {
    return this.#position
  }

  get byteLength(): number {
    return this.#rows.byteLength
  }

  search(request: VectorSearch): readonly Hit[] {
    checkQuery(request, this.dimensions)
    const { vector, prior } = request
    const hits = this.#settle(vector, this.#scan.candidates(request), (similarity, entry) =>
      prior ? prior.weight * similarity + (prior.values[entry] ?? 0) : similarity,
    )
    return [...hits.values()].sort(byScore).slice(0, request.k)
  }

  score(vector: Float32Array, entries: readonly EntryKey[], scope: SearchScope): readonly Hit[] {
    checkQuery({ vector, k: 0 }, this.dimensions)
    const partitions = new Set(scope.partitions)
    const visible = entries.filter(entry => {
      const row = this.#rows.first(entry)
      return row >= 0 && partitions.has(this.#rows.partition(row)) && (scope.allow?.has(entry) ?? true)
    })
    const hits = this.#settle(vector, this.#scan.best(vector, visible), similarity => similarity)
    return visible.map(entry => hits.get(entry)).filter(hit => hit !== undefined)
  }

  count(scope: SearchScope): number {
    return this.#scan.count(scope)
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
      for (const entry of news.entries) this.#rows.removeEntry(entry)
      this.#rows.add(this.#vectorsOf(news.entries, reader))
    })
    this.#position = news.position
    return news.changes
  }

  rebuild(reader: StoreReader): void {
    this.#replace(this.#noRows(), reader.lastSeq())
    this.#orForget(() => this.#rows.add(allVectors(reader, this.model)))
  }

  /** Views of the rows: to be written before the index changes again. */
  serialise(): readonly Uint8Array[] {
    return imageOf(this.#rows)
  }

  restore(bytes: Uint8Array, position: number): void {
    const rows = this.#noRows()
    readImage(bytes, rows)
    this.#replace(rows, position)
  }

  /** Each entry's best chunk among the rows, by exact cosines. */
  #settle(
    vector: Float32Array,
    slots: readonly Slot[],
    score: (similarity: number, entry: EntryKey) => number,
  ): Map<EntryKey, Hit> {
    const best = new Map<EntryKey, Hit>()
    for (const { slot, similarity } of this.#similarities(vector, slots)) {
      const entry = this.#rows.entry(slot)
      const hit = { entry, chunk: this.#rows.chunk(slot), score: score(similarity, entry) }
      const before = best.get(entry)
      if (before === undefined || byScore(hit, before) < 0) best.set(entry, hit)
    }
    return best
  }

  #similarities(vector: Float32Array, slots: readonly Slot[]): { slot: Slot; similarity: number }[] {
    const rows = this.#rows
    if (this.#options.keepVectors) {
      return slots.map(slot => ({ slot, similarity: cosine(vector, rows.memory.floats, rows.vectorAt(slot)) }))
    }
    if (slots.length === 0) return []
    const slotOf = new Map(slots.map(slot => [rows.chunk(slot), slot]))
    const found = this.#options.source([...slotOf.keys()])
    return found.flatMap(row => {
      // What the store no longer has is skipped: the index is behind it until the next refresh.
      const slot = slotOf.get(row.chunk)
      return slot === undefined ? [] : [{ slot, similarity: cosine(vector, row.vector) }]
    })
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
    this.#rows = rows
    this.#scan = new VectorScan(rows)
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

function byScore(a: Hit, b: Hit): number {
  return b.score - a.score || a.chunk - b.chunk
}
