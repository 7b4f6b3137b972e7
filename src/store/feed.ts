/** Reads the store's change feed from the position of a follower (such as an index), and reads which partition each entry is in. */
import { grown } from '../base/columns.ts'
import { StepPace, type Steps } from '../base/turns.ts'
import type { EntryKey } from '../model/entry.ts'
import { QuerentError } from '../model/errors.ts'
import type { PartitionId } from '../model/partition.ts'
import { LOCAL_OWNER } from '../model/viewer.ts'
import type { Change, StoreReader } from './store.ts'

const PAGE = 1000

/** Whether the change feed still contains every change after a position, and no more than `most` changes follow it. */
export function reachesBack(reader: StoreReader, position: number, most: number = Number.POSITIVE_INFINITY): boolean {
  const last = reader.lastSeq()
  return position <= last && last - position <= most && reader.firstSeq() <= position + 1
}

/** Changes of the feed after a position; null where the feed is damaged at that point, so that it is unknown what changed. */
export function changesOrNull(reader: StoreReader, position: number, limit: number): readonly Change[] | null {
  try {
    return reader.changesSince(position, limit)
  } catch (error) {
    if (error instanceof QuerentError && error.code === 'store_corrupt') return null
    throw error
  }
}

export interface FeedNews {
  /** Keys of entries that were added, changed or deleted; their current state must be read from the store. */
  readonly entries: ReadonlySet<EntryKey>
  /** Number of changes read. `position`: number of the last change up to which the feed was read. */
  readonly changes: number
  readonly position: number
}

/**
 * Reads the changes of the feed after `position`, pausing after each page of changes. `concerns`: accepts those that matter (default: all).
 * Returns null when the feed no longer contains all of them, or when the store is older than the position. Changes committed during a pause
 * may or may not be included.
 */
export function* readFeed(
  reader: StoreReader,
  position: number,
  concerns: (change: Change) => boolean = () => true,
): Steps<FeedNews | null> {
  const entries = new Set<EntryKey>()
  // Usually nothing has changed, which this single statement finds out.
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

/**
 * Reads the changes of the feed after `position`, with the current partition of each changed entry, which its last change gives. Changes
 * that only add vectors are left out, since they move no entry.
 */
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

/** Number of changed entries up to which they are always read one by one. With more of them, reading all entries again may be faster. */
const FEW = 500

/** Whether the changed entries are more than half of those in an index, so that reading all entries again is faster. */
export function isMostOf(held: number, changed: number): boolean {
  return changed > FEW && changed * 2 > held
}

/** Number of entries recorded before the work pauses so that other requests can run. */
const ENTRIES_AT_ONCE = 1 << 16
/** Cost of reading a partition, expressed as a number of entries, by which pauses are scheduled. */
const ENTRIES_OF_PARTITION = 1024

/**
 * Reads the partition of every entry, at 4 bytes of memory per entry. For each partition it reads the keys of its entries, which is faster
 * than reading entries with their texts. It pauses for other work: entries added in a pause may be missing, and moved ones may have their
 * old partition.
 */
export function* partitionOfAll(reader: StoreReader): Steps<(entry: EntryKey) => PartitionId | undefined> {
  // For each entry key, the number of its partition plus 1; 0: there is no entry with this key.
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
