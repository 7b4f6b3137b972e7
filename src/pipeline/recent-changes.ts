/** What was committed since a position of the change feed, read once for however many ask from the same one. */
import { changesOrNull, reachesBack } from '../store/feed.ts'
import type { Change, Store } from '../store/store.ts'

const PAGE = 1_000

export class RecentChanges {
  readonly #store: Store
  #version: number | null = null
  #position = 0
  /** By position, as of the version: most subscriptions ask from the same one. */
  readonly #since = new Map<number, readonly Change[] | null>()

  constructor(store: Store) {
    this.#store = store
  }

  /** Where the feed ends now. */
  position(): number {
    const version = this.#store.version()
    if (version === this.#version) return this.#position
    this.#version = version
    this.#position = this.#store.lastSeq()
    this.#since.clear()
    return this.#position
  }

  /** What was committed after a position of this store, ascending; null: the feed cannot say any more. */
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
      for (;;) {
        const page = changesOrNull(reader, changes.at(-1)?.seq ?? position, PAGE)
        if (page === null) return null
        for (const change of page) changes.push(change)
        if (page.length < PAGE) return changes
      }
    })
  }
}
