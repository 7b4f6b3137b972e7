/** Settles an answer: what int8 left open, f32 vectors decide. They are read from the store and kept in memory for a while. */
import { cosine } from '../../math/vector.ts'
import type { ChunkKey, EntryKey } from '../../model/entry.ts'
import type { ChunkVector } from '../../store/store.ts'
import type { Hit } from '../contract.ts'
import type { VectorRows } from './rows.ts'
import type { Candidate } from './scan.ts'

/** The f32 vectors of these chunks that the store has, in the order asked for. */
export type VectorSource = (chunks: readonly ChunkKey[]) => readonly Pick<ChunkVector, 'chunk' | 'vector'>[]

/**
 * Bytes of vectors kept of those read last, 32,768 at 384 dimensions: near questions, and those of one viewer, end with the same rows,
 * and one that is kept costs a tenth of one that is read.
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

  /** Hits with exact cosines. Chunks that the store no longer has are left out: the index is behind it until the next refresh. */
  settle(vector: Float32Array, candidates: readonly Candidate[]): Hit[] {
    const cosines = this.#cosinesOf(vector, candidates)
    return candidates.flatMap(({ entry, chunk }, at) => {
      const score = cosines[at] ?? null
      return score === null ? [] : { entry, chunk, score }
    })
  }

  /** Lets go of the vectors of an entry, which has its rows still. */
  forget(entry: EntryKey): void {
    const rows = this.#rows
    for (let row = rows.first(entry); row >= 0; row = rows.next(row)) this.#kept.delete(rows.chunk(row))
  }

  /** By place; null: the store has it no longer. */
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

// f32 vectors of chunks that were read last, in blocks of memory: one array for each vector would cost the garbage collector more than
// they save. What was not used again since the hand last passed it gives way ("second chance").

/** Vectors of a block: 384 KB at 384 dimensions. Blocks are made as they are needed. */
const BLOCK = 256

export class KeptVectors {
  readonly #dimensions: number
  /** Vectors; a whole number of blocks. */
  readonly #capacity: number
  readonly #blocks: Float32Array[] = []
  readonly #places = new Map<ChunkKey, number>()
  /** By place; null: free. */
  readonly #chunks: (ChunkKey | null)[] = []
  /** By place: whether it was used again since the hand passed it. */
  readonly #used: boolean[] = []
  #hand = 0

  /** Keeps at most so many bytes of vectors, and one block in any case. */
  constructor(dimensions: number, bytes: number) {
    this.#dimensions = dimensions
    this.#capacity = BLOCK * Math.max(1, Math.floor(bytes / (BLOCK * dimensions * Float32Array.BYTES_PER_ELEMENT)))
  }

  get byteLength(): number {
    return this.#blocks.length * BLOCK * this.#dimensions * Float32Array.BYTES_PER_ELEMENT
  }

  /** With the vector of this chunk, as `cosine` has it; null: it is not kept. */
  cosine(vector: Float32Array, chunk: ChunkKey): number | null {
    const place = this.#places.get(chunk)
    if (place === undefined) return null
    this.#used[place] = true
    return cosine(vector, this.#blockOf(place), (place % BLOCK) * this.#dimensions)
  }

  /** Keeps a copy. */
  set(chunk: ChunkKey, vector: Float32Array): void {
    const place = this.#places.get(chunk) ?? this.#free()
    this.#places.set(chunk, place)
    this.#chunks[place] = chunk
    // What is not used again gives way in the next round.
    this.#used[place] = false
    this.#blockOf(place).set(vector, (place % BLOCK) * this.#dimensions)
  }

  /** Nothing of it stays in memory. */
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
