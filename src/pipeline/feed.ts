/** What a reader of the store hears of: what was written after the place where it stands in the change feed, and what is about to be done. */
import type { EntryKey } from '../model/entry.ts'
import { QuerentError } from '../model/errors.ts'
import { isOwner, type Viewer } from '../model/viewer.ts'
import type { Change, StoreReader, StoreWriter } from '../store/store.ts'

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

/**
 * What background work is about to do and people should know of first: `status` and the doctor show it until it is done or no longer due.
 * Kept in the store, so that every process on it shows the same.
 */
export interface Notice {
  /** Whom it is about; the owner sees all. */
  readonly viewer: string
  /** In a sentence. */
  readonly message: string
}

/** Named text of the store: the notices by id, as JSON. */
const NAME = 'notices'

/** Null: it is taken back. */
export function setNotice(writer: StoreWriter, id: string, notice: Notice | null): void {
  const { [id]: _, ...others } = allIn(writer)
  writer.setMeta(NAME, JSON.stringify(notice === null ? others : { ...others, [id]: notice }))
}

/** In the order of their ids. */
export function noticesFor(reader: StoreReader, viewer: Viewer): readonly string[] {
  const all = Object.entries(allIn(reader)).sort(([a], [b]) => (a < b ? -1 : 1))
  return all.flatMap(([, notice]) => (isOwner(viewer) || notice.viewer === viewer.id ? [notice.message] : []))
}

function allIn(reader: StoreReader): Readonly<Record<string, Notice>> {
  return JSON.parse(reader.meta(NAME) ?? '{}') as Record<string, Notice>
}
