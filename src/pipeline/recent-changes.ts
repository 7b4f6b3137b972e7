/** Changes committed since a position of the change feed, read once for all who ask from the same position. */
import type { EntryKey } from '../model/entry.ts'
import type { PartitionId } from '../model/partition.ts'
import { changesOrNull, reachesBack } from '../store/feed.ts'
import type { Change, Store } from '../store/store.ts'

const PAGE = 1_000

export class RecentChanges {
  readonly #store: Store
  #version: number | null = null
  #position = 0
  /** Changes by position, for one version of the store: most subscriptions ask from the same position. */
  readonly #since = new Map<number, readonly Change[] | null>()

  constructor(store: Store) {
    this.#store = store
  }

  /** Current end of the feed. */
  position(): number {
    const version = this.#store.version()
    if (version === this.#version) return this.#position
    this.#version = version
    this.#position = this.#store.lastSeq()
    this.#since.clear()
    return this.#position
  }

  /**
   * Changes committed after a position of this store, ascending; null: the feed no longer reaches back. Without the vectors of entries that
   * were put before them.
   */
  since(position: number): readonly Change[] | null {
    const end = this.position()
    if (position === end) return []
    if (position > end) return null
    let changes = this.#since.get(position)
    if (changes === undefined) {
      changes = this.#read(position)
      this.#since.set(position, changes)
    }
    return changes
  }

  #read(position: number): readonly Change[] | null {
    return this.#store.read(reader => {
      if (!reachesBack(reader, position)) return null
      const changes: Change[] = []
      /** Partitions of the entries that were put. */
      const put = new Map<EntryKey, PartitionId>()
      for (let end = position; ; ) {
        const page = changesOrNull(reader, end, PAGE)
        if (page === null) return null
        for (const change of page) {
          end = change.seq
          const { kind, entry, partition } = change
          if (kind === 'vectors' && put.get(entry) === partition) continue
          if (kind === 'put') put.set(entry, partition)
          changes.push(change)
        }
        if (page.length < PAGE) return changes
      }
    })
  }
}
