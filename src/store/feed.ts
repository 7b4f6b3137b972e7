/** Reading the change feed from where a follower of it is, and where all entries are. */
import { grown } from '../base/columns.ts'
import { StepPace, type Steps } from '../base/turns.ts'
import type { EntryKey } from '../model/entry.ts'
import { QuerentError } from '../model/errors.ts'
import type { PartitionId } from '../model/partition.ts'
import { LOCAL_OWNER } from '../model/viewer.ts'
import type { Change, StoreReader } from './store.ts'

const PAGE = 1000

/** Whether the feed still has everything after this position, and no more than `most` changes. */
export function reachesBack(reader: StoreReader, position: number, most: number = Number.POSITIVE_INFINITY): boolean {
  const last = reader.lastSeq()
  return position <= last && last - position <= most && reader.firstSeq() <= position + 1
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

export interface FeedNews {
  /** Entries that changed, came or went: their state now is the one to take. */
  readonly entries: ReadonlySet<EntryKey>
  /** Number of changes read, and the position after them. */
  readonly changes: number
  readonly position: number
}

/**
 * What changed after `position`, of the changes that `concerns` (all, by default), a step for each page; null when the feed cannot
 * say (it was cut, or the store is an older one). Changes that are committed at a pause are among them, or are not.
 */
export function* readFeed(
  reader: StoreReader,
  position: number,
  concerns: (change: Change) => boolean = () => true,
): Steps<FeedNews | null> {
  const entries = new Set<EntryKey>()
  // Most often nothing changed: one statement finds that out.
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

/** As `readFeed`, with where each changed entry is now (its last change says so); new vectors move nothing. */
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

/** Fewer entries are always followed one by one. */
const FEW = 500

/** Whether so many changed entries are most of what an index holds: then reading everything is quicker. */
export function isMostOf(held: number, changed: number): boolean {
  return changed > FEW && changed * 2 > held
}

/** Entries noted in one step. */
const ENTRIES_AT_ONCE = 1 << 16
/** What a partition costs beside its entries, in those. */
const ENTRIES_OF_PARTITION = 1024

/**
 * Where every entry is, by way of sets of keys, as reading the entries themselves would read all their texts. 4 bytes an entry. In
 * steps: entries that come at a pause may be unknown, and those that move be where they were.
 */
export function* partitionOfAll(reader: StoreReader): Steps<(entry: EntryKey) => PartitionId | undefined> {
  // Plus 1; 0: no such entry.
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
