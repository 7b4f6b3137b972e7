/** Reading the change feed from where an index stands. */
import type { Steps } from '../base/turns.ts'
import type { EntryKey } from '../model/entry.ts'
import { QuerentError } from '../model/errors.ts'
import type { PartitionId } from '../model/partition.ts'
import type { Change, StoreReader } from '../store/store.ts'

const PAGE = 1000

export interface FeedNews {
  /** Entries that changed, came or went: their state now is the one to take. */
  readonly entries: ReadonlySet<EntryKey>
  /** Number of changes read, and the position after them. */
  readonly changes: number
  readonly position: number
}

/**
 * What changed after `position`, of the changes that `concerns` (all, by default), a step for each page; undefined when the feed cannot
 * say (it was cut, or the store is an older one). Changes that are committed at a pause are among them, or are not.
 */
export function* readFeed(
  reader: StoreReader,
  position: number,
  concerns: (change: Change) => boolean = () => true,
): Steps<FeedNews | undefined> {
  if (position > reader.lastSeq() || reader.firstSeq() > position + 1) return undefined
  const entries = new Set<EntryKey>()
  let changes = 0
  let at = position
  for (;;) {
    const page = pageOf(reader, at)
    if (page === undefined) return undefined
    for (const change of page) {
      if (concerns(change)) entries.add(change.entry)
      at = change.seq
    }
    changes += page.length
    if (page.length < PAGE) return { entries, changes, position: at }
    yield
  }
}

/** Undefined where the feed is damaged: then it cannot say what changed. */
function pageOf(reader: StoreReader, after: number): readonly Change[] | undefined {
  try {
    return reader.changesSince(after, PAGE)
  } catch (error) {
    if (error instanceof QuerentError && error.code === 'store_corrupt') return undefined
    throw error
  }
}

/** As `readFeed`, with where each changed entry is now (its last change says so); new vectors move nothing. */
export function* readPlaces(
  reader: StoreReader,
  position: number,
): Steps<(FeedNews & { readonly partitionOf: ReadonlyMap<EntryKey, PartitionId> }) | undefined> {
  const partitionOf = new Map<EntryKey, PartitionId>()
  const news = yield* readFeed(reader, position, ({ kind, entry, partition }) => {
    if (kind !== 'vectors') partitionOf.set(entry, partition)
    return kind !== 'vectors'
  })
  return news && { ...news, partitionOf }
}

/** Fewer entries are always followed one by one. */
const FEW = 500

/** Whether so many changed entries are most of what an index holds: then reading everything is quicker. */
export function isMostOf(held: number, changed: number): boolean {
  return changed > FEW && changed * 2 > held
}
