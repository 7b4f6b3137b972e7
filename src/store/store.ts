/**
 * The contract of a store of entries, which is the only source of truth: everything else (indexes, caches, answers) is derived from it and
 * can be discarded. Its calls are synchronous and transactional, and several processes may have one store open at the same time.
 *
 * The store in a file and the one in memory both pass `test/suites/store-suite.ts`.
 */

import type { Bitset } from '../base/bitset.ts'
import type { Instant } from '../base/clock.ts'
import type { Steps, Turns } from '../base/turns.ts'
import type {
  AccessState,
  Chunk,
  ChunkDraft,
  ChunkKey,
  Entry,
  EntryDraft,
  EntryIdentity,
  EntryKey,
  EntryValidity,
} from '../model/entry.ts'
import type { QuerentError } from '../model/errors.ts'
import type { Filter } from '../model/filter.ts'
import type { Audience, PartitionId } from '../model/partition.ts'
import type { Row, TableDeclaration } from '../model/table.ts'
import type { AccessScope, Viewer } from '../model/viewer.ts'
import type { StoreFinding } from './care/problem.ts'

/** One committed change of an entry, as the store's change feed contains it. */
export interface Change {
  /** Number of the change in the feed: ascending, never reused. It must not be shown to users, since it reveals how much others write. */
  readonly seq: number
  readonly entry: EntryKey
  /** Kind of change. `put`: new or changed; `delete`: deleted; `vectors`: some of its chunks got vectors. */
  readonly kind: 'put' | 'delete' | 'vectors'
  /** Partition that the entry is in after the change, or was in before its deletion. */
  readonly partition: PartitionId
  /** Partition that the entry was in before, if this `put` moved it; otherwise null. */
  readonly from: PartitionId | null
  readonly at: Instant
}

export interface ChunkVector {
  readonly chunk: ChunkKey
  readonly entry: EntryKey
  readonly partition: PartitionId
  /** The vector, of length 1; the caller may keep and change the array. */
  readonly vector: Float32Array
}

/**
 * A request for a page of a list: entries ordered by `created`, `updated`, `accessed` (newest first, never accessed last) or `id`
 * (ascending); ties by id, then holder. Here as everywhere in the store, texts are ordered by `compareText`.
 */
export interface ListRequest {
  readonly accessScope: AccessScope
  readonly filter: Filter | null
  readonly order: 'created' | 'updated' | 'accessed' | 'id'
  readonly limit: number
  /**
   * Position after which the page begins (excluded); null: from the start. Since a page begins at a position, pages neither skip nor repeat
   * entries while others are added and deleted.
   */
  readonly after: ListPosition | null
}

/** A position in a list, whether or not an entry is at the position now. */
export interface ListPosition {
  /**
   * The time by which the list is ordered (created, updated or last accessed); null if the entry was never accessed, or the list is ordered
   * by `id`.
   */
  readonly at: Instant | null
  readonly id: string
  readonly holder: string
}

export interface PutResult {
  readonly key: EntryKey
  /**
   * Whether storing the entry changed anything. False when the entry, chunks included, was already as given: then nothing is written, and
   * the feed gets no change.
   */
  readonly changed: boolean
  readonly created: boolean
}

export interface StoreReader {
  /**
   * Identity of the store: random, made when the store is created. By it, data derived from one store is distinguished from that of
   * another.
   */
  readonly storeId: string

  /** Number of the newest change in the feed; 0 when there is none. `firstSeq`: number of the oldest change that was not pruned. */
  lastSeq(): number
  firstSeq(): number
  /** Changes of the feed with numbers above `seq`, ascending, at most `limit`. */
  changesSince(seq: number, limit: number): readonly Change[]

  /**
   * All partitions (sets of entries with the same audience) that were ever made, by ascending number. The public partition is shared by all
   * holders; its audience names the owner as holder.
   */
  partitions(): readonly { readonly id: PartitionId; readonly audience: Audience }[]

  entry(key: EntryKey): Entry | undefined
  /** Entries with these keys, as far as they exist, in the order requested. */
  entries(keys: readonly EntryKey[]): readonly Entry[]
  /** The fields that identify and group entries, without their contents; of those entries that exist, in the order requested. */
  identities(keys: readonly EntryKey[]): readonly EntryIdentity[]
  /** The metadata of those entries that exist, in the order requested, without their contents: for reading many entries. */
  metadata(keys: readonly EntryKey[]): readonly Pick<Entry, 'key' | 'metadata'>[]
  /** Validity periods of those of the given entries that are not valid forever (that have a start or an end), in the order requested. */
  validities(keys: readonly EntryKey[]): readonly EntryValidity[]
  /** Keys of entries whose validity period has a start or an end, in all partitions: those above `after`, ascending, at most `limit`. */
  scanBounded(after: EntryKey, limit: number): readonly EntryKey[]
  /** Keys of all entries above `after`, ascending, at most `limit`; for rebuilding indexes. */
  scanEntries(after: EntryKey, limit: number): readonly EntryKey[]
  /**
   * Key of the newest entry, 0 when there is none; entries added later have higher keys. It must not be shown to users, since it reveals
   * how much others write.
   */
  newestEntry(): EntryKey
  /** Keys of entries with this id in the given partitions, ordered by holder. */
  find(id: string, partitions: readonly PartitionId[]): readonly EntryKey[]
  /** Keys of visible entries that meet the filter. The cost grows with the number of matches, or of entries that must be examined. */
  matching(accessScope: AccessScope, filter: Filter): Bitset
  list(request: ListRequest): readonly Entry[]
  count(accessScope: AccessScope, filter: Filter | null): number
  /** Values of a field among visible entries, with the number of entries that have each: most frequent first, then by value. */
  facet(
    accessScope: AccessScope,
    field: 'collection' | 'kind' | 'tag',
    limit: number,
  ): readonly { value: string; count: number }[]
  /** Ids of visible entries, from the id `from` on, ascending, each once; at most `limit`. */
  ids(accessScope: AccessScope, from: string, limit: number): readonly string[]
  /** Names of collections with visible entries, sorted; cheap however many entries there are. */
  collections(accessScope: AccessScope, limit: number): readonly string[]

  /** Chunks of an entry, in the order of their ordinals. */
  chunksOf(entry: EntryKey): readonly Chunk[]
  /** Chunks of each entry, in the order of their ordinals; entries without chunks are absent. */
  chunksOfEach(entries: readonly EntryKey[]): ReadonlyMap<EntryKey, readonly Chunk[]>
  /** Key of the first chunk of each entry; entries without chunks are absent. */
  firstChunks(entries: readonly EntryKey[]): ReadonlyMap<EntryKey, ChunkKey>
  /** Chunks with these keys, as far as they exist, in the order requested. */
  chunks(keys: readonly ChunkKey[]): readonly Chunk[]
  countChunks(partitions: readonly PartitionId[]): number

  /** Vectors of these chunks by a model, as far as they exist, in the order requested. */
  vectors(model: string, chunks: readonly ChunkKey[]): readonly ChunkVector[]
  /**
   * Vectors of these chunks by a model, without the chunks' entries and partitions, which makes reading a third faster; for callers who
   * know these already.
   */
  vectorsOnly(model: string, chunks: readonly ChunkKey[]): readonly Pick<ChunkVector, 'chunk' | 'vector'>[]
  /** All vectors of a model with chunk keys above `after`, ascending, at most `limit`; for rebuilding a vector index. */
  scanVectors(model: string, after: ChunkKey, limit: number): readonly ChunkVector[]
  countVectors(model: string, partitions: readonly PartitionId[]): number
  /** Chunks that have no vector of this model, with keys above `after` (default 0: all), oldest first, at most `limit`. */
  chunksWithoutVector(model: string, limit: number, after?: ChunkKey): readonly Chunk[]

  /** Access state (last access, count, strength) of these entries for this viewer; entries that the viewer never accessed are absent. */
  access(viewer: Viewer, entries: readonly EntryKey[]): ReadonlyMap<EntryKey, AccessState>

  /** Ids of viewers who ever accessed an entry, ascending; for exports. */
  accessViewers(): readonly string[]

  table(declaration: TableDeclaration): TableReader
  /** A named text of the store itself (such as a secret or a setting), or undefined. */
  meta(name: string): string | undefined
  /**
   * Handles damage within `body`, which is synchronous: a damaged row that it reads is left out and given to `report`, instead of making
   * the read throw `store_corrupt`. For values derived from all rows, and for finding the damaged ones.
   */
  around<T>(report: (damage: QuerentError) => void, body: () => T): T
}

export interface StoreWriter extends StoreReader {
  /**
   * Inserts an entry, or replaces the one with the same holder and id, which keeps its key. A chunk whose embedded text (chunk title and
   * text) is unchanged keeps its key, and so its vectors.
   */
  put(draft: EntryDraft, chunks: readonly ChunkDraft[]): PutResult
  /** Stores an entry like `put`, as a generator that pauses during a long entry; for use within `writeInSteps`. */
  putInSteps(draft: EntryDraft, chunks: readonly ChunkDraft[]): Steps<PutResult>
  /**
   * Runs a part of the transaction: when it throws, its own writes are undone, while earlier writes of the transaction remain. May be
   * nested.
   */
  savepoint<T>(body: () => Steps<T>): Steps<T>
  /** Deletes an entry with its chunks, vectors, access state and rows in lens tables. Returns false when there was none. */
  delete(key: EntryKey): boolean
  /** Stores vectors of a model. Chunks that no longer exist are skipped: their entry changed while they were being embedded. */
  putVectors(model: string, vectors: readonly { readonly chunk: ChunkKey; readonly vector: Float32Array }[]): void
  /**
   * Removes at most `limit` vectors of a model, and returns how many. The feed gets no change, since this is only called for models that
   * are no longer used.
   */
  removeVectors(model: string, limit: number): number
  /**
   * Adds a change of kind `put` to the feed without changing the entry, because something derived from it changed, such as a row of a lens
   * table.
   */
  announce(entry: EntryKey): void
  /**
   * Counts one access of each entry by the viewer: the time of the last access becomes `now` if that is later, the count grows by 1, the
   * strength by `gain`. Deleted entries are skipped. The feed gets no change.
   */
  touch(viewer: Viewer, entries: readonly EntryKey[], now: Instant, gain: number): void
  /** Sets an entry's access state for a viewer to given values, for import; does nothing when the entry does not exist. */
  setAccess(viewer: Viewer, entry: EntryKey, state: AccessState): void
  /**
   * Number of the partition (the set of all entries with the same audience) for this audience; a new partition is made where there is none.
   */
  intern(audience: Audience): PartitionId
  table(declaration: TableDeclaration): TableWriter
  setMeta(name: string, value: string): void
  /**
   * Deletes changes from the feed up to and including number `seq`, but never the newest change, so that `firstSeq` still shows a reader
   * what it missed.
   */
  pruneChanges(seq: number): void
}

export interface TablePage {
  /** Keys of the entries whose rows are read; only for tables with a column `entry`. Absent: the rows of all entries. */
  readonly entries?: readonly EntryKey[] | undefined
  /** Primary key of the last row before the page (all key columns): the page begins with the row after it. */
  readonly after?: Row | undefined
  readonly limit?: number | undefined
  /** Only these columns are read, and rows lack the others; for reading many rows of a wide table. */
  readonly columns?: readonly string[] | undefined
}

export interface TableReader {
  get(key: Row): Row | undefined
  /** Rows whose columns equal `where`, in the order of the primary key; `after`: begin after this key. */
  scan(where?: Row, page?: TablePage): readonly Row[]
  count(where?: Row): number
}

export interface TableWriter extends TableReader {
  /** Inserts a row, or replaces the one with an equal primary key. */
  put(row: Row): void
  /** Deletes rows whose columns equal `where` (which must not be empty); returns how many it deleted. */
  delete(where: Row): number
}

/**
 * A view of the state that was committed when the snapshot was made, whatever is written later; writers do not wait for it. While it is
 * open, the write-ahead log grows and deleted data stays in the file, so it should be closed soon. Closing the store closes it too;
 * afterwards its reads throw.
 */
export interface Snapshot {
  readonly reader: StoreReader
  /** Closes the snapshot; may be called several times. */
  close(): void
}

export interface Store extends StoreReader {
  /** Upkeep of a writable store on disk; absent for stores in memory and stores that are only read. */
  readonly upkeep?: Upkeep | undefined
  /**
   * Runs one write transaction: everything or nothing, one after another with all other writers of this store in any process. Nested calls
   * become savepoints. The body must be synchronous. `now`: time of the changes in the feed. `waitMs` (default 20): how long to wait for
   * writers of other processes before `store_locked` is thrown; the wait blocks the thread, so it is short.
   */
  write<T>(now: Instant, body: (writer: StoreWriter) => T, waitMs?: number): T
  /**
   * Runs a write transaction like `write`, but waits with timers for other writers, so that the thread continues to serve reads. Where no
   * other process writes, the body has run when the call returns; waiting calls run in order. The body runs once. Rejects with
   * `store_locked` after `waitMs` (default: the store's `timeoutMs`). Must not be called inside `write` or `read`.
   *
   * @example
   * await store.writeWhenFree(clock.now(), writer => writer.delete(key))
   */
  writeWhenFree<T>(now: Instant, body: (writer: StoreWriter) => T, waitMs?: number): Promise<T>
  /**
   * Runs a write transaction like `writeWhenFree`, with a long body, a generator that pauses (QE-019). Until it is committed, all reads of
   * this store see the state before it. Meanwhile, a `write` of this process that cannot wait 20 ms is refused (`store_locked`), and one
   * that can wait makes the body run to its end first. Rolled back where `turns`, which schedules the pauses, ends the work, or where the
   * store is closed. A store in memory, and a file without a write-ahead log, runs the body without a pause.
   */
  writeInSteps<T>(now: Instant, body: (writer: StoreWriter) => Steps<T>, turns: Turns, waitMs?: number): Promise<T>
  /**
   * Promise that settles when the paused and waiting writes of this process are finished; null: there are none. For callers who then call
   * `write`, which would make a paused write run to its end first.
   */
  whenFree(): Promise<void> | null
  /** Runs reads that all see one committed state. Nested calls join the outer one. */
  read<T>(body: (reader: StoreReader) => T): T
  /**
   * Runs reads like `read`, with a body that is a generator and pauses (QE-019): until it ends, all reads of this store see the state in
   * which it began. It does not block writes of other processes. Meanwhile, a `write` of this process that cannot wait 20 ms is refused
   * (`store_locked`), and one that can wait makes the body run to its end first. Begins after the waiting writes. Rejects with the errors
   * of the body or of `turns`, which schedules the pauses, and with `cancelled` where the store is closed. A file without a write-ahead log
   * runs the body without a pause. Must not be called inside `write` or `read`.
   */
  readInSteps<T>(body: () => Steps<T>, turns: Turns): Promise<T>
  /**
   * A view of the currently committed state, for reads that pause (see `Snapshot`). Null where there is no write-ahead log, since writers
   * would wait for it; there, reads must not pause. Must not be called inside `write` or `read`.
   */
  snapshot(): Snapshot | null
  /**
   * A number that grows whenever any process commits (by one for each commit of this store); equal values mean that nothing was committed
   * in between. It is cheap to poll (µs), and is only used within the engine. Changes of access state, or of tables declared `aside` (on
   * which no answer depends, such as leases), need not change it: otherwise every query that counts uses would invalidate all caches. `of`:
   * gives the version of a single declared table, which may grow more often than that table changes, and always does so for a table with
   * rows of entries.
   */
  version(of?: TableDeclaration): number
  /** Examines the store for damage, without pauses. Reads everything, which takes seconds for a large store. */
  check(): Promise<readonly StoreFinding[]>
  close(): void
}

// What a store on disk needs besides reading and writing: its write-ahead log is folded into the file without blocking anybody, and the
// bytes of deleted data are erased. A store in memory needs neither.

/**
 * Describes deleted or replaced data whose bytes may still exist: in the store's write-ahead log or pages, or in data derived from the
 * store.
 */
export interface Forgotten {
  /** A text that differs after every deletion and replacement; it tells up to which deletion bytes are to be erased. */
  readonly mark: string
  /**
   * Number of the newest change in the feed that deleted or replaced something: data derived from the feed up to an earlier change may
   * still contain what was deleted.
   */
  readonly seq: number
  /** Whether a process has confirmed that all bytes of deleted data are erased. */
  readonly isErased: boolean
}

/**
 * How far the write-ahead log is folded into the file. `some`: the part that no reader needs, without waiting for or blocking anybody.
 * `all`: far enough that the log can be started again. `empty`: completely, so that the log file is empty. `all` and `empty` block writers.
 */
export type Fold = 'some' | 'all' | 'empty'

export interface Upkeep {
  /** Size of the write-ahead log beside the file, and when it was last written; null: there is no log. */
  log(): LogState | null
  /**
   * Folds the write-ahead log into the file, in a separate thread; rejects when the thread ends early. Resolves with false where something
   * is left to fold, because of readers or another process that is folding. `waitMs`: how long to wait for these, in ms.
   */
  fold(how: Fold, waitMs: number): Promise<boolean>
  /** Ends the thread that folds the write-ahead log, if there is one. */
  endThread(): Promise<void>
  /** Sets the size of the write-ahead log, in bytes, from which a commit folds it into the file itself. */
  foldInCommits(from: number): void

  /** What is to be erased; null: nothing was ever deleted. It is recorded in the transaction that deletes, so that it survives a crash. */
  forgotten(): Forgotten | null
  /**
   * Erases the bytes of deleted data from the file, in a separate process that reads all of the file. `mark`: text that tells up to which
   * deletion data is erased. Resolves with false where other processes prevented it. Rejects with `io_failed` when the process fails, or
   * cannot be started.
   */
  erase(mark: string, waitMs: number): Promise<boolean>
}

export interface LogState {
  readonly bytes: number
  /** Time of the last write to the write-ahead log, in ms of machine time. */
  readonly writtenAt: number
}
