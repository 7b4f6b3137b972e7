/**
 * What was committed of entries, read once for all subscriptions of an engine. Each keeps its own position and decides which of
 * it exists for its requester.
 */
import { Recent } from '../../../base/recent.ts'
import type { EntryKey } from '../../../model/entry.ts'
import { RecentChanges } from '../../../pipeline/recent-changes.ts'
import type { Change, Store } from '../../../store/store.ts'

/** Of more it is cheaper to ask again than to look at each. */
const MOST_CHANGES = 4096
const VECTORS_KEPT = 256

export class BeliefNews {
  readonly #store: Store
  readonly #changes: RecentChanges
  #position: number
  readonly #vectors = new Recent<EntryKey, { readonly vector: Float32Array | null }>(VECTORS_KEPT)

  constructor(store: Store) {
    this.#store = store
    this.#changes = new RecentChanges(store)
    this.#position = this.#changes.position()
  }

  /** Position in the feed; call `refresh` before. */
  get position(): number {
    return this.#position
  }

  refresh(): void {
    const before = this.#position
    this.#position = this.#changes.position()
    if (this.#position === before) return
    const changed = this.#changes.since(before)
    if (changed === null) this.#vectors.clear()
    else for (const { entry } of changed) this.#vectors.delete(entry)
  }

  /** After this position, ascending; null: it is no longer known, or too many. */
  since(position: number): readonly Change[] | null {
    const changes = this.#changes.since(position)
    if (changes === null || changes.length > MOST_CHANGES) return null
    return changes.filter(({ seq }) => seq <= this.#position)
  }

  /** By this model; null: it has none yet. As of the last `refresh`, or later. */
  vectorOf(entry: EntryKey, model: string): Float32Array | null {
    return this.#vectors.get(entry, () => {
      const chunk = this.#store.firstChunks([entry]).get(entry)
      const found = chunk === undefined ? [] : this.#store.vectorsOnly(model, [chunk])
      return { vector: found[0]?.vector ?? null }
    }).vector
  }
}
