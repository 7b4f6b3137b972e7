/** The newest part of the change feed in memory, read once for however many follow it from where each of them stands. */
import { lowerBound } from '../base/compare.ts'
import { changesOrNull, reachesBack } from '../store/feed.ts'
import type { Change, Store } from '../store/store.ts'

const PAGE = 1_000
/** A hundred bytes each. Who stands further back reads the feed itself. */
const MOST_KEPT = 10_000

export class RecentChanges {
  readonly #store: Store
  #version: number | null = null
  /** Everything after `#from`, ascending. */
  #kept: Change[] = []
  #from: number
  #to: number

  constructor(store: Store) {
    this.#store = store
    this.#to = store.lastSeq()
    this.#from = this.#to
  }

  /** Where the feed ends now. */
  position(): number {
    this.#follow()
    return this.#to
  }

  /** What was committed after a position of this store; null: the feed cannot say any more. */
  since(position: number): readonly Change[] | null {
    this.#follow()
    if (position === this.#to) return []
    if (position < this.#from) return this.#read(position)
    if (position > this.#to) return null
    const kept = this.#kept
    return kept.slice(lowerBound(kept.length, at => (kept[at] as Change).seq <= position))
  }

  #follow(): void {
    const version = this.#store.version()
    if (version === this.#version) return
    this.#version = version
    const news = this.#read(this.#to)
    if (news === null) {
      this.#kept = []
      this.#to = this.#store.lastSeq()
      this.#from = this.#to
      return
    }
    for (const change of news) this.#kept.push(change)
    this.#to = news.at(-1)?.seq ?? this.#to
    if (this.#kept.length <= MOST_KEPT) return
    const dropped = this.#kept.splice(0, this.#kept.length - MOST_KEPT / 2)
    this.#from = dropped.at(-1)?.seq ?? this.#from
  }

  #read(position: number): Change[] | null {
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
