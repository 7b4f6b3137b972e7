/** Reads the change feed from a follower's position, and where all entries are. */
import { grown } from '../base/columns.ts'
import { StepPace, type Steps } from '../base/turns.ts'
import type { EntryKey } from '../model/entry.ts'
import { QuerentError } from '../model/errors.ts'
import type { PartitionId } from '../model/partition.ts'
import { LOCAL_OWNER } from '../model/viewer.ts'
import type { Change, StoreReader } from './store.ts'

const PAGE = 1000

/** Whether the feed still contains every change after this position, and no more than `most` changes. */
export function reachesBack(reader: StoreReader, position: number, most: number = Number.POSITIVE_INFINITY): boolean {
  const last = reader.lastSeq()
  return position <= last && last - position <= most && reader.firstSeq() <= position + 1
}

/** Changes after a position; null where the feed is damaged there, and so cannot tell what changed. */
export function changesOrNull(reader: StoreReader, position: number, limit: number): readonly Change[] | null {
  try {
    return reader.changesSince(position, limit)
  } catch (error) {
    if (error instanceof QuerentError && error.code === 'store_corrupt') return null
    throw error
  }
}

export interface FeedNews {
  /** Entries that were added, changed or deleted; their current state is to be read. */
  readonly entries: ReadonlySet<EntryKey>
  /** Number of changes read; `position` is the position after them. */
  readonly changes: number
  readonly position: number
}

/**
 * Changes after `position`, those that `concerns` accepts (all by default), one step per page; null when the feed does not reach back (it
 * was cut, or the store is older). Changes committed during a pause may or may not be included.
 */
export function* readFeed(
  reader: StoreReader,
  position: number,
  concerns: (change: Change) => boolean = () => true,
): Steps<FeedNews | null> {
  const entries = new Set<EntryKey>()
  // Usually nothing has changed, which one statement finds out.
  if (reader.lastSeq() === position) return { entries, changes: 0, position }
  if (!reachesBack(reader, position)) return null
  let changes = 0
  let at = position
  for (;;) {
    const page = changesOrNull(reader, at, PAGE)
    if (page === null) return null
    for (const change of page) {
      if (concerns(change)) entries.add(change.entry)
      at = change.seq
    }
    changes += page.length
    if (page.length < PAGE) return { entries, changes, position: at }
    yield
  }
}

/** As `readFeed`, with the current partition of each changed entry, taken from its last change; new vectors move no entry. */
export function* readPlaces(
  reader: StoreReader,
  position: number,
): Steps<(FeedNews & { readonly partitionOf: ReadonlyMap<EntryKey, PartitionId> }) | null> {
  const partitionOf = new Map<EntryKey, PartitionId>()
  const news = yield* readFeed(reader, position, ({ kind, entry, partition }) => {
    if (kind !== 'vectors') partitionOf.set(entry, partition)
    return kind !== 'vectors'
  })
  return news && { ...news, partitionOf }
}

/** Number of changed entries up to which they are always followed one by one. */
const FEW = 500

/** Whether so many changed entries are most of what an index contains, so that reading everything is quicker. */
export function isMostOf(held: number, changed: number): boolean {
  return changed > FEW && changed * 2 > held
}

/** Entries recorded in one step. */
const ENTRIES_AT_ONCE = 1 << 16
/** Cost of a partition, expressed as a number of entries. */
const ENTRIES_OF_PARTITION = 1024

/**
 * The partition of every entry, read as sets of keys, since reading the entries would read all their texts. 4 bytes per entry. In steps:
 * entries added during a pause may be missing, and moved ones may have their old partition.
 */
export function* partitionOfAll(reader: StoreReader): Steps<(entry: EntryKey) => PartitionId | undefined> {
  // Partition of each entry plus 1; 0: no such entry.
  let partitionOf = new Int32Array(1024)
  const pace = new StepPace(ENTRIES_AT_ONCE)
  for (const { id } of reader.partitions()) {
    const entries = reader.matching({ viewer: LOCAL_OWNER, partitions: [id] }, { op: 'and', of: [] })
    for (const entry of entries) {
      if (entry >= partitionOf.length) partitionOf = grown(partitionOf, entry + 1)
      partitionOf[entry] = id + 1
    }
    if (pace.isOver(entries.size + ENTRIES_OF_PARTITION)) yield
  }
  return entry => {
    const found = partitionOf[entry] ?? 0
    return found === 0 ? undefined : found - 1
  }
}
