/** Vectors for what was just written: waited for where the writer wants that, and what is to be said of those that are missing. */
import { modelKey } from '../embed/embedder.ts'
import { QuerentError } from '../model/errors.ts'
import type { CallContext } from '../model/operation.ts'
import type { PartitionId } from '../model/partition.ts'
import { isOwner, type Sight } from '../model/viewer.ts'
import { turnsUntil } from '../pipeline/time-limit.ts'
import type { Parts } from './parts.ts'

export class NewVectors {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Chunks in these partitions that have no vector yet; 0 where there is no embedder. */
  pending(partitions: readonly PartitionId[]): number {
    const { store, embedder } = this.#parts
    if (embedder === null) return 0
    return store.countChunks(partitions) - store.countVectors(modelKey(embedder.model), partitions)
  }

  /** Begins to make them, or waits until they are made. Why they could not be, or null. Rejects with `cancelled`. */
  async make(wait: boolean, { report, signal }: Pick<CallContext, 'report' | 'signal'>): Promise<string | null> {
    const { embedding, indexes } = this.#parts
    if (!wait) {
      embedding?.start()
      return null
    }
    try {
      await embedding?.settled(signal, report)
      await turnsUntil(signal).run(indexes.getInSteps())
      return null
    } catch (error) {
      if (error instanceof QuerentError && error.code !== 'cancelled') return error.message
      throw error
    }
  }

  /** Why some in this sight are missing, in words for its viewer; null where none is, or they only take a while. */
  missing({ viewer, partitions }: Sight, failure: string | null): string | null {
    if (this.pending(partitions) === 0) return null
    const { count, message } = this.#parts.embedding?.refused(partitions) ?? { count: 0, message: null }
    const refused = message === null ? null : `the embedder refuses ${count === 1 ? 'one text' : `${count} texts`}`
    // What an embedder said may quote a text, and not one that this viewer may see.
    if (!isOwner(viewer)) return failure === null ? refused : 'the embedder failed'
    return failure ?? (refused === null ? null : `${refused}: ${message}`)
  }
}
