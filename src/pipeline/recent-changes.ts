/**
 * Changes committed after a position of the store's change feed. The newest ones are kept in memory, so that they are read once for all
 * subscriptions, whatever their positions are.
 */
import { lowerBound } from '../base/compare.ts'
import type { EntryKey } from '../model/entry.ts'
import type { PartitionId } from '../model/partition.ts'
import { changesOrNull, reachesBack } from '../store/feed.ts'
import type { Change, Store, StoreReader } from '../store/store.ts'

const PAGE = 1_000

/** Default of `maxKept`: about a megabyte. */
const MAX_KEPT = 10_000

export class RecentChanges {
  readonly #store: Store
  readonly #maxKept: number
  #version: number | null = null
  #position = 0
  /** All changes after the position `#keptFrom`, ascending. New ones are added when they are first needed. */
  #kept: Change[] = []
  #keptFrom = 0
  /** Changes after each requested position, until the store changes: most subscriptions are at the same position. */
  readonly #since = new Map<number, readonly Change[] | null>()

  /**
   * `maxKept`: number of changes before the newest for which a position is served from memory. For an older position they are read from
   * the store each time.
   */
  constructor(store: Store, maxKept: number = MAX_KEPT) {
    this.#store = store
    this.#maxKept = maxKept
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
   * Changes committed after a position of the change feed, ascending; null: not all of them are known, because the feed was pruned. Changes
   * that only add vectors to an entry are left out where the entry itself was put after the position.
   */
  since(position: number): readonly Change[] | null {
    const end = this.position()
    if (position === end) return []
    if (position > end) return null
    let changes = this.#since.get(position)
    if (changes === undefined) {
      const all = this.#store.read(reader => this.#after(position, end, reader))
      changes = all && withoutVectorsOfPut(all)
      this.#since.set(position, changes)
    }
    return changes
  }

  #after(position: number, end: number, reader: StoreReader): readonly Change[] | null {
    const isKept = this.#kept.length > 0 && position >= this.#keptFrom
    if (!isKept || end - position > this.#maxKept) {
      const read = changesAfter(position, reader)
      if (!isKept && read !== null && read.length <= this.#maxKept) [this.#kept, this.#keptFrom] = [read, position]
      return read
    }
    const last = (this.#kept.at(-1) as Change).seq
    // The last change is newer than the feed where it was read within a write that was rolled back. Where many changes came since, such as by
    // an import, those before the position are not needed.
    const isFar = last > end || end - last > this.#maxKept
    const later = isFar ? null : last === end ? [] : changesAfter(last, reader)
    if (later === null) {
      this.#kept = []
      return this.#after(position, end, reader)
    }
    this.#kept.push(...later)
    this.#forgetOld()
    return this.#kept.slice(lowerBound(this.#kept.length, place => (this.#kept[place] as Change).seq <= position))
  }

  /** Shortens the list to `#maxKept` changes when it has twice as many. */
  #forgetOld(): void {
    const over = this.#kept.length - this.#maxKept
    if (over < this.#maxKept) return
    this.#keptFrom = (this.#kept[over - 1] as Change).seq
    this.#kept = this.#kept.slice(over)
  }
}

/** All changes after a position; null: the feed no longer contains all of them, or is damaged. */
function changesAfter(position: number, reader: StoreReader): Change[] | null {
  if (!reachesBack(reader, position)) return null
  const changes: Change[] = []
  for (let end = position; ; ) {
    const page = changesOrNull(reader, end, PAGE)
    if (page === null) return null
    for (const change of page) changes.push(change)
    if (page.length < PAGE) return changes
    end = (page.at(-1) as Change).seq
  }
}

function withoutVectorsOfPut(changes: readonly Change[]): readonly Change[] {
  /** Partitions of the entries that were added or changed by `put`, by entry key. */
  const put = new Map<EntryKey, PartitionId>()
  return changes.filter(({ kind, entry, partition }) => {
    if (kind === 'put') put.set(entry, partition)
    return kind !== 'vectors' || put.get(entry) !== partition
  })
}
