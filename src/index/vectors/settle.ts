/**
 * Settles an answer: what int8 left open, f32 vectors decide. They are in memory, where the index keeps them, or are read
 * from the store and kept for a while.
 */
import { Recent } from '../../base/recent.ts'
import { cosine } from '../../math/vector.ts'
import type { ChunkKey, EntryKey } from '../../model/entry.ts'
import type { ChunkVector } from '../../store/store.ts'
import type { Hit } from '../contract.ts'
import type { VectorRows } from './rows.ts'
import type { Candidate } from './scan.ts'

/** The f32 vectors of these chunks that the store has, in the order asked for. */
export type VectorSource = (chunks: readonly ChunkKey[]) => readonly Pick<ChunkVector, 'chunk' | 'vector'>[]

/** What a row scores by its exact cosine and what its entry has before the question. */
export type Rate = (similarity: number, prior: number) => Pick<Hit, 'score' | 'similarity'>

/** Vectors kept of those read last: near questions, and those of one viewer, end with the same rows. */
const KEPT = 4096

export class Settlement {
  readonly #rows: VectorRows
  readonly #source: VectorSource
  readonly #kept = new Recent<ChunkKey, Float32Array>(KEPT)

  /** `source` is asked where the rows keep no vectors. */
  constructor(rows: VectorRows, source: VectorSource) {
    this.#rows = rows
    this.#source = source
  }

  get byteLength(): number {
    return this.#kept.size * this.#rows.dimensions * 4
  }

  /** What the store no longer has is left out: the index is behind it until the next refresh. */
  settle(vector: Float32Array, candidates: readonly Candidate[], rate: Rate): Hit[] {
    const settled = ({ entry, chunk, prior }: Candidate, similarity: number) => ({
      entry,
      chunk,
      ...rate(similarity, prior),
    })
    if (this.#rows.keepsVectors) {
      const { floats } = this.#rows.memory
      return candidates.map(row => settled(row, cosine(vector, floats, this.#rows.vectorAt(row.slot))))
    }
    const vectors = this.#vectorsOf(candidates)
    return candidates.flatMap(row => {
      const found = vectors.get(row.chunk)
      return found === undefined ? [] : settled(row, cosine(vector, found))
    })
  }

  /** Lets go of the vectors of an entry, which has its rows still. */
  forget(entry: EntryKey): void {
    const rows = this.#rows
    for (let row = rows.first(entry); row >= 0; row = rows.next(row)) this.#kept.delete(rows.chunk(row))
  }

  #vectorsOf(candidates: readonly Candidate[]): ReadonlyMap<ChunkKey, Float32Array> {
    const vectors = new Map<ChunkKey, Float32Array>()
    const unknown: ChunkKey[] = []
    for (const { chunk } of candidates) {
      const kept = this.#kept.find(chunk)
      if (kept === undefined) unknown.push(chunk)
      else vectors.set(chunk, kept)
    }
    if (unknown.length === 0) return vectors
    for (const { chunk, vector } of this.#source(unknown)) {
      this.#kept.set(chunk, vector)
      vectors.set(chunk, vector)
    }
    return vectors
  }
}
