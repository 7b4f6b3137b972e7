/** Changes committed after a position of the store's change feed, read once for all subscriptions that are at the same position. */
import type { EntryKey } from '../model/entry.ts'
import type { PartitionId } from '../model/partition.ts'
import { changesOrNull, reachesBack } from '../store/feed.ts'
import type { Change, Store } from '../store/store.ts'

const PAGE = 1_000

export class RecentChanges {
  readonly #store: Store
  #version: number | null = null
  #position = 0
  /** Changes after each requested position, kept until the store changes: most subscriptions are at the same position. */
  readonly #since = new Map<number, readonly Change[] | null>()

  constructor(store: Store) {
    this.#store = store
  }

  /** Number of the newest change in the store's change feed. */
  position(): number {
    const version = this.#store.version()
    if (version === this.#version) return this.#position
    this.#version = version
    this.#position = this.#store.lastSeq()
    this.#since.clear()
    return this.#position
  }

  /**
   * Changes committed after a position of the change feed, ascending; null: the feed no longer contains all of them. Changes that only add
   * vectors to an entry are left out where the entry itself was put after the position.
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
      /** Partitions of the entries that were added or changed by `put`, by entry key. */
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
