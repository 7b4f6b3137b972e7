/** Following the change feed: what was written after the place where a reader of it stands. */
import type { EntryKey } from '../model/entry.ts'
import { QuerentError } from '../model/errors.ts'
import type { Change, StoreReader } from '../store/store.ts'

const PAGE = 1_000

/** Whether the feed still tells of everything behind this place, and of no more than `most` changes. */
export function reachesBack(reader: StoreReader, position: number, most: number = Number.POSITIVE_INFINITY): boolean {
  const last = reader.lastSeq()
  return position <= last && last - position <= most && reader.firstSeq() <= position + 1
}

export interface News {
  readonly entries: ReadonlySet<EntryKey>
  /** The place behind them. */
  readonly position: number
}

/** Null where the feed is damaged there: then it cannot say what changed. */
export function changesOrNull(reader: StoreReader, position: number, limit: number): readonly Change[] | null {
  try {
    return reader.changesSince(position, limit)
  } catch (error) {
    if (error instanceof QuerentError && error.code === 'store_corrupt') return null
    throw error
  }
}

/**
 * Entries that came, changed or went behind this place; vectors that came are no change of their entry. Null: the feed
 * cannot say any more, or it would be more than `most` changes.
 */
export function entriesChangedAfter(reader: StoreReader, position: number, most?: number): News | null {
  if (!reachesBack(reader, position, most)) return null
  const last = reader.lastSeq()
  const entries = new Set<EntryKey>()
  for (let at = position; at < last; ) {
    const page = changesOrNull(reader, at, PAGE)
    if (page === null) return null
    for (const { seq, entry, kind } of page) {
      if (kind !== 'vectors') entries.add(entry)
      at = seq
    }
  }
  return { entries, position: last }
}
