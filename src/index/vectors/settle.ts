/**
 * Computes exact cosines from the original f32 vectors for candidates that the search by compressed int8 vectors could not order with
 * certainty. The f32 vectors are read from the store and cached in memory.
 */
import { cosine } from '../../math/vector.ts'
import type { ChunkKey, EntryKey } from '../../model/entry.ts'
import type { ChunkVector } from '../../store/store.ts'
import type { Hit } from '../contract.ts'
import type { VectorRows } from './rows.ts'
import type { Candidate } from './scan.ts'

/** Function that reads the f32 vectors of the given chunks from the store, in the given order; chunks without a vector are left out. */
export type VectorSource = (chunks: readonly ChunkKey[]) => readonly Pick<ChunkVector, 'chunk' | 'vector'>[]

/**
 * Maximum number of bytes of cached vectors: 32,768 vectors at 384 dimensions. Caching pays because similar queries, and successive queries
 * of one viewer, end with candidates from the same rows, and using a cached vector costs a tenth of reading one from the store.
 */
const KEPT_BYTES = 48 * 2 ** 20

export class Settlement {
  readonly #rows: VectorRows
  readonly #source: VectorSource
  readonly #kept: KeptVectors

  constructor(rows: VectorRows, source: VectorSource) {
    this.#rows = rows
    this.#source = source
    this.#kept = new KeptVectors(rows.dimensions, KEPT_BYTES)
  }

  get byteLength(): number {
    return this.#kept.byteLength
  }

  /**
   * Computes the exact cosine of each candidate with the query vector. Candidates whose chunk the store no longer has are left out: the
   * index learns of deleted chunks only at its next refresh.
   */
  settle(vector: Float32Array, candidates: readonly Candidate[]): Hit[] {
    const cosines = this.#cosinesOf(vector, candidates)
    return candidates.flatMap(({ entry, chunk }, at) => {
      const score = cosines[at] ?? null
      return score === null ? [] : { entry, chunk, score }
    })
  }

  /**
   * Removes the vectors of an entry's chunks from the cache. Must be called while the entry's rows are still in the index, because the rows
   * name the chunks to remove.
   */
  forget(entry: EntryKey): void {
    const rows = this.#rows
    for (let row = rows.first(entry); row >= 0; row = rows.next(row)) this.#kept.delete(rows.chunk(row))
  }

  /**
   * Exact cosine of each candidate with the query vector, in the order of the candidates; null if the store no longer has the candidate's
   * vector.
   */
  #cosinesOf(vector: Float32Array, candidates: readonly Candidate[]): readonly (number | null)[] {
    const cosines = candidates.map(({ chunk }) => this.#kept.cosine(vector, chunk))
    const unknown = candidates.flatMap(({ chunk }, at) => (cosines[at] === null ? chunk : []))
    if (unknown.length === 0) return cosines
    const read = this.#source(unknown)
    let next = 0
    for (let at = 0; at < candidates.length && next < read.length; at++) {
      const { chunk, vector: found } = read[next] as (typeof read)[number]
      if (cosines[at] !== null || candidates[at]?.chunk !== chunk) continue
      cosines[at] = cosine(vector, found)
      this.#kept.set(chunk, found)
      next++
    }
    return cosines
  }
}

// Cache of recently read f32 vectors, in blocks of memory: a separate array per vector would cost the garbage collector more than caching
// saves. Vectors are replaced by the "second chance" algorithm: a hand moves round the cache and replaces the first vector that was not
// used since the hand last passed it.

/** Number of vectors in one block of the vector cache; a block takes 384 KiB at 384 dimensions. Blocks are allocated as needed. */
const BLOCK = 256

export class KeptVectors {
  readonly #dimensions: number
  /** Maximum number of vectors in the cache, a multiple of the number of vectors in a block. */
  readonly #capacity: number
  readonly #blocks: Float32Array[] = []
  readonly #places = new Map<ChunkKey, number>()
  /** For each place in the vector cache, the chunk whose vector it holds; null if the place is free. */
  readonly #chunks: (ChunkKey | null)[] = []
  /** For each place in the vector cache, whether its vector was used since the hand of the "second chance" replacement last passed it. */
  readonly #used: boolean[] = []
  #hand = 0

  /** Creates a cache of at most `bytes` bytes of vectors, but of at least one block. */
  constructor(dimensions: number, bytes: number) {
    this.#dimensions = dimensions
    this.#capacity = BLOCK * Math.max(1, Math.floor(bytes / (BLOCK * dimensions * Float32Array.BYTES_PER_ELEMENT)))
  }

  get byteLength(): number {
    return this.#blocks.length * BLOCK * this.#dimensions * Float32Array.BYTES_PER_ELEMENT
  }

  /** Cosine of `vector` with the cached vector of this chunk; null if the chunk's vector is not cached. */
  cosine(vector: Float32Array, chunk: ChunkKey): number | null {
    const place = this.#places.get(chunk)
    if (place === undefined) return null
    this.#used[place] = true
    return cosine(vector, this.#blockOf(place), (place % BLOCK) * this.#dimensions)
  }

  /** Stores a copy of the chunk's vector in the cache. */
  set(chunk: ChunkKey, vector: Float32Array): void {
    const place = this.#places.get(chunk) ?? this.#free()
    this.#places.set(chunk, place)
    this.#chunks[place] = chunk
    // A new vector does not count as used: without a further use it is replaced when the hand of the "second chance" replacement next
    // reaches it.
    this.#used[place] = false
    this.#blockOf(place).set(vector, (place % BLOCK) * this.#dimensions)
  }

  /** Removes the chunk's vector from the cache and overwrites its numbers with 0, so that deleted data does not stay in memory. */
  delete(chunk: ChunkKey): void {
    const place = this.#places.get(chunk)
    if (place === undefined) return
    const from = (place % BLOCK) * this.#dimensions
    this.#blockOf(place).fill(0, from, from + this.#dimensions)
    this.#places.delete(chunk)
    this.#chunks[place] = null
    this.#used[place] = false
  }

  #free(): number {
    if (this.#chunks.length < this.#capacity) return this.#chunks.length
    while (this.#used[this.#hand]) {
      this.#used[this.#hand] = false
      this.#step()
    }
    const place = this.#hand
    this.#step()
    const before = this.#chunks[place] ?? null
    if (before !== null) this.#places.delete(before)
    return place
  }

  #step(): void {
    this.#hand = (this.#hand + 1) % this.#capacity
  }

  #blockOf(place: number): Float32Array {
    const number = Math.floor(place / BLOCK)
    this.#blocks[number] ??= new Float32Array(BLOCK * this.#dimensions)
    return this.#blocks[number]
  }
}
