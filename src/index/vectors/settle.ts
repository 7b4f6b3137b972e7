/** Settles an answer: what int8 left open, f32 vectors decide. They are read from the store and kept in memory for a while. */
import { cosine } from '../../math/vector.ts'
import type { ChunkKey, EntryKey } from '../../model/entry.ts'
import type { ChunkVector } from '../../store/store.ts'
import type { Hit } from '../contract.ts'
import { KeptVectors } from './kept-vectors.ts'
import type { VectorRows } from './rows.ts'
import type { Candidate } from './scan.ts'

/** The f32 vectors of these chunks that the store has, in the order asked for. */
export type VectorSource = (chunks: readonly ChunkKey[]) => readonly Pick<ChunkVector, 'chunk' | 'vector'>[]

/** What a row scores by its exact cosine and what its entry has before the question. */
export type Rate = (similarity: number, prior: number) => Pick<Hit, 'score' | 'similarity'>

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

  /** What the store no longer has is left out: the index is behind it until the next refresh. */
  settle(vector: Float32Array, candidates: readonly Candidate[], rate: Rate): Hit[] {
    const cosines = this.#cosinesOf(vector, candidates)
    return candidates.flatMap(({ entry, chunk, prior }, at) => {
      const similarity = cosines[at] ?? null
      return similarity === null ? [] : { entry, chunk, ...rate(similarity, prior) }
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
