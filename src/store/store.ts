/**
 * The store contract: the one source of truth. Everything else (indexes, caches, answers) is derived from it and can
 * be thrown away. Synchronous, transactional; several processes may hold one store open at the same time.
 *
 * In a file and in memory, it passes `test/suites/store-suite.ts`.
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

/** One committed change of an entry, as the feed tells it. */
export interface Change {
  /** Ascending, never reused. Internal: a counter of all writes must not leave the engine. */
  readonly seq: number
  readonly entry: EntryKey
  /** `put`: new or changed; `delete`: gone; `vectors`: some of its chunks got vectors. */
  readonly kind: 'put' | 'delete' | 'vectors'
  /** Where it is now (or was last). */
  readonly partition: PartitionId
  /** Where it was before a `put` that moved it, else null. */
  readonly from: PartitionId | null
  readonly at: Instant
}

export interface ChunkVector {
  readonly chunk: ChunkKey
  readonly entry: EntryKey
  readonly partition: PartitionId
  /** Unit length; the caller's to keep. */
  readonly vector: Float32Array
}

/**
 * Entries ordered by `created`, `updated`, `accessed` (newest first, never accessed last) or `id` (ascending); ties by
 * id, then holder. Here as everywhere in the store texts are in the order of `compareText`.
 */
export interface ListRequest {
  readonly accessScope: AccessScope
  readonly filter: Filter | null
  readonly order: 'created' | 'updated' | 'accessed' | 'id'
  readonly limit: number
  /** Strictly behind this place; null from the start. So pages neither skip nor repeat while entries come and go. */
  readonly after: ListPosition | null
}

/** A place in a list, whether or not an entry is there now. */
export interface ListPosition {
  /** What the list is ordered by: instant created, updated or last accessed; null if never accessed or by `id`. */
  readonly at: Instant | null
  readonly id: string
  readonly holder: string
}

export interface PutResult {
  readonly key: EntryKey
  /** False when everything, chunks included, was already as given: then nothing was written and the feed is silent. */
  readonly changed: boolean
  readonly created: boolean
}

export interface StoreReader {
  /** Random, made with the store: tells snapshots of one store from those of another. */
  readonly storeId: string

  /** Newest and oldest change in the feed; 0 when there is none. Older ones were pruned. */
  lastSeq(): number
  firstSeq(): number
  /** Changes after `seq`, ascending, at most `limit`. */
  changesSince(seq: number, limit: number): readonly Change[]

  /** All partitions ever interned, ascending. The public one, shared by all holders, is named as the owner's. */
  partitions(): readonly { readonly id: PartitionId; readonly audience: Audience }[]

  entry(key: EntryKey): Entry | undefined
  /** Those that exist, in the order asked for. */
  entries(keys: readonly EntryKey[]): readonly Entry[]
  /** What tells entries apart and groups them, without their contents; those that exist, in the order asked for. */
  identities(keys: readonly EntryKey[]): readonly EntryIdentity[]
  /** The metadata alone of those that exist, in the order asked for: for reading many without their contents. */
  metadata(keys: readonly EntryKey[]): readonly Pick<Entry, 'key' | 'metadata'>[]
  /** Of these keys the entries that do not hold for ever (some bound is set), in the order asked for. */
  validities(keys: readonly EntryKey[]): readonly EntryValidity[]
  /** Keys above `after` of entries that do not hold for ever, in every partition: ascending, at most `limit`. */
  scanBounded(after: EntryKey, limit: number): readonly EntryKey[]
  /** All keys above `after`, ascending, at most `limit`: for rebuilding indexes. */
  scanEntries(after: EntryKey, limit: number): readonly EntryKey[]
  /** Key of the newest entry, 0 when there is none: what comes later has a higher one. Internal, as `lastSeq`. */
  newestEntry(): EntryKey
  /** Entries of that id in these partitions, by holder ascending. */
  find(id: string, partitions: readonly PartitionId[]): readonly EntryKey[]
  /** Visible entries that fulfil the filter. Cost grows with what matches, or with what must be looked at. */
  matching(accessScope: AccessScope, filter: Filter): Bitset
  list(request: ListRequest): readonly Entry[]
  count(accessScope: AccessScope, filter: Filter | null): number
  /** Visible values of a field with their number of entries, by number descending, then value. */
  facet(
    accessScope: AccessScope,
    field: 'collection' | 'kind' | 'tag',
    limit: number,
  ): readonly { value: string; count: number }[]
  /** Visible ids from `from` on, ascending, each once; at most `limit`. */
  ids(accessScope: AccessScope, from: string, limit: number): readonly string[]
  /** Names of the visible collections, in their order; cheap however many entries there are. */
  collections(accessScope: AccessScope, limit: number): readonly string[]

  /** By ordinal. */
  chunksOf(entry: EntryKey): readonly Chunk[]
  /** By ordinal, of each; entries without one are absent. */
  chunksOfEach(entries: readonly EntryKey[]): ReadonlyMap<EntryKey, readonly Chunk[]>
  /** Key of the first chunk of each; entries without one are absent. */
  firstChunks(entries: readonly EntryKey[]): ReadonlyMap<EntryKey, ChunkKey>
  /** Those that exist, in the order asked for. */
  chunks(keys: readonly ChunkKey[]): readonly Chunk[]
  countChunks(partitions: readonly PartitionId[]): number

  /** Vectors of these chunks that are there, in the order asked for. */
  vectors(model: string, chunks: readonly ChunkKey[]): readonly ChunkVector[]
  /** As `vectors`, without where the chunks belong: a third quicker, for those who know it. */
  vectorsOnly(model: string, chunks: readonly ChunkKey[]): readonly Pick<ChunkVector, 'chunk' | 'vector'>[]
  /** All vectors of a model with chunk keys above `after`, ascending, at most `limit`: for rebuilding. */
  scanVectors(model: string, after: ChunkKey, limit: number): readonly ChunkVector[]
  countVectors(model: string, partitions: readonly PartitionId[]): number
  /** Chunks without a vector of this model with keys above `after` (default 0: all), oldest first, at most `limit`. */
  chunksWithoutVector(model: string, limit: number, after?: ChunkKey): readonly Chunk[]

  /** Access state of these entries for this viewer; entries never accessed are absent. */
  access(viewer: Viewer, entries: readonly EntryKey[]): ReadonlyMap<EntryKey, AccessState>

  /** Everybody who ever accessed anything, ascending: for export. */
  accessViewers(): readonly string[]

  table(declaration: TableDeclaration): TableReader
  /** A named text of the store itself (secrets, settings), or undefined. */
  meta(name: string): string | undefined
  /**
   * A row that is damaged makes the read that meets it throw `store_corrupt`. Inside `body`, which is synchronous, such
   * rows are left out and reported instead: for what is made of all rows, and for what has to say which are damaged.
   */
  around<T>(report: (damage: QuerentError) => void, body: () => T): T
}

export interface StoreWriter extends StoreReader {
  /**
   * Inserts the entry, or replaces the one that has this holder and id and keeps its key. A chunk whose embedded text
   * (chunk title and text) stays the same keeps its key and so its vectors.
   */
  put(draft: EntryDraft, chunks: readonly ChunkDraft[]): PutResult
  /** The same in steps, for a long one: see `Store.writeInSteps`. */
  putInSteps(draft: EntryDraft, chunks: readonly ChunkDraft[]): Steps<PutResult>
  /** A part of the transaction: what it throws for is undone, and what was written before it stays. Nested ones may be within. */
  savepoint<T>(body: () => Steps<T>): Steps<T>
  /** Removes the entry with its chunks, vectors, access state and aspect rows. False when there was none. */
  delete(key: EntryKey): boolean
  /** Chunks that are gone are passed over: they changed while they were being embedded. */
  putVectors(model: string, vectors: readonly { readonly chunk: ChunkKey; readonly vector: Float32Array }[]): void
  /** Removes vectors of a model, at most `limit`, and returns how many. Not in the feed: nobody reads a model's vectors any more. */
  removeVectors(model: string, limit: number): number
  /** Tells the feed that something derived from this entry changed (a row of its aspects): kind `put`. */
  announce(entry: EntryKey): void
  /**
   * Counts one access: last accessed never moves back, count + 1, strength + `gain`. Entries that are gone are passed
   * over. Not in the feed.
   */
  touch(viewer: Viewer, entries: readonly EntryKey[], now: Instant, gain: number): void
  /** Sets access state as it is, for import; nothing when the entry is gone. */
  setAccess(viewer: Viewer, entry: EntryKey, state: AccessState): void
  /** The number of an audience's partition, made when new. */
  intern(audience: Audience): PartitionId
  table(declaration: TableDeclaration): TableWriter
  setMeta(name: string, value: string): void
  /** Forgets changes up to and including `seq`, but never the newest: `firstSeq` must tell a reader what it missed. */
  pruneChanges(seq: number): void
}

export interface TablePage {
  /** Only rows of these entries; for tables with a column `entry`. */
  readonly entries?: readonly EntryKey[] | undefined
  /** A whole primary key. */
  readonly after?: Row | undefined
  readonly limit?: number | undefined
  /** Only these columns, in rows that lack the others: for reading much of a wide table. */
  readonly columns?: readonly string[] | undefined
}

export interface TableReader {
  get(key: Row): Row | undefined
  /** Rows whose columns equal `where`, ordered by the primary key, from just after the key `after`. */
  scan(where?: Row, page?: TablePage): readonly Row[]
  count(where?: Row): number
}

export interface TableWriter extends TableReader {
  /** Inserts or replaces by primary key. */
  put(row: Row): void
  /** Deletes rows whose columns equal `where` (which must not be empty); returns how many. */
  delete(where: Row): number
}

/**
 * The state that was committed when it was made, whatever is written later; writers do not wait for it. While it is open,
 * the log of a file grows and what is deleted stays in it, so close it soon. Closed with its store; then reads throw.
 */
export interface Snapshot {
  readonly reader: StoreReader
  /** May be called again. */
  close(): void
}

export interface Store extends StoreReader {
  /** Of a store on disk that may be written; absent where nothing is to be kept up. */
  readonly upkeep?: Upkeep | undefined
  /**
   * One write transaction: all or nothing, serialised with every other writer of this store in any process. Nested
   * calls join as savepoints. The body must be synchronous. `now` stamps the feed. `waitMs` (default 20) is how long to
   * wait for writers of other processes before `store_locked`; the wait blocks the thread, so it is short.
   */
  write<T>(now: Instant, body: (writer: StoreWriter) => T, waitMs?: number): T
  /**
   * As `write`, but waits on timers, so the thread goes on serving reads. Where no other process writes, the body has run
   * when the call returns; those that wait run in the order of their calls. The body runs once. Rejects with
   * `store_locked` after `waitMs` (default: the store's `timeoutMs`). Not inside `write` or `read`.
   *
   * @example
   * await store.writeWhenFree(clock.now(), writer => writer.delete(key))
   */
  writeWhenFree<T>(now: Instant, body: (writer: StoreWriter) => T, waitMs?: number): Promise<T>
  /**
   * As `writeWhenFree`, for a long body that pauses (QE-019). Until it is committed, all reads of this store see the state before it.
   * A `write` of this process that cannot wait 20 ms is refused meanwhile (`store_locked`), one that can makes the body run to its end
   * first. Rolled back where `turns` end the work or the store is closed. A store in memory, and a file without a write-ahead log,
   * runs the body without a pause.
   */
  writeInSteps<T>(now: Instant, body: (writer: StoreWriter) => Steps<T>, turns: Turns, waitMs?: number): Promise<T>
  /**
   * Settles when the writes of this process that pause or wait are over; null: there are none. For those who then `write` at once,
   * which would make a paused one run to its end first.
   */
  whenFree(): Promise<void> | null
  /** Everything read inside sees one committed state. Nested calls join. */
  read<T>(body: (reader: StoreReader) => T): T
  /**
   * As `read`, for a body that pauses (QE-019): until it ends, all reads of this store see the state in which it began. It keeps no other
   * process from writing. A `write` of this process that cannot wait 20 ms is refused meanwhile (`store_locked`), one that can makes the
   * body run to its end first. Begins behind the writes that wait. Rejects with what the body or the check of `turns` throws, and
   * with `cancelled` where the store is closed. A file without a write-ahead log runs the body without a pause. Not inside `write` or `read`.
   */
  readInSteps<T>(body: () => Steps<T>, turns: Turns): Promise<T>
  /**
   * For reads that pause: see `Snapshot`. Null where there is no write-ahead log, so that writers would wait for it:
   * read at once there. Not inside `write` or `read`.
   */
  snapshot(): Snapshot | null
  /**
   * Grows whenever any process commits, by one for each commit of this store: equal values mean nothing was committed in between.
   * A cheap poll (µs); the value itself means nothing and never leaves the engine. Writes that moved nothing but access state, or rows of tables that
   * stand aside, need not count: a question that touches its answers, or a lease that is renewed, would otherwise empty
   * every cache kept by version. Of a declared table alone: it
   * may change oftener than that table does, and for one of entries always does.
   */
  version(of?: TableDeclaration): number
  /** Looks for damage, in one step. Reads everything: seconds on a large store. */
  check(): Promise<readonly StoreFinding[]>
  close(): void
}

// What a store on disk needs besides reading and writing: its log folded back without anybody waiting for it, and what
// was deleted gone as bytes. A store that lies in memory has no such needs.

/** What was deleted or replaced and may still be found as bytes: in the log, or in what was derived from the store. */
export interface Forgotten {
  /** Another one after every deletion and replacement. */
  readonly mark: string
  /** The newest change of the feed that went with one: what was derived up to an earlier change may still hold it. */
  readonly seq: number
  /** Whether nothing of it is left, as far as a process has seen to it. */
  readonly isErased: boolean
}

/**
 * How the log is folded back into the file. `some`: what no reader needs as it is, waiting for nobody and letting nobody
 * wait. `all`: as far as to begin the log again. `empty`: so that nothing is left of it. The last two keep writers waiting.
 */
export type Fold = 'some' | 'all' | 'empty'

export interface Upkeep {
  /** Size of the log that lies beside the file, and when it was last written; null: there is none. */
  log(): LogState | null
  /**
   * In a thread of its own; rejects when that ends. False: readers, or another process that is at it, have left something
   * to do. `waitMs`: how long to wait for them.
   */
  fold(how: Fold, waitMs: number): Promise<boolean>
  /** Ends the thread, if there is one. */
  endThread(): Promise<void>
  /** From how large a log on a commit folds it back itself, in bytes. */
  foldInCommits(from: number): void

  /** Null: nothing ever. Marked in the transaction that deletes, so that it outlives a crash. */
  forgotten(): Forgotten | null
  /**
   * Sees to it that nothing is left in the file of what was forgotten up to this mark, in a process of its own: reads all of
   * it. False: others kept it from that. Rejects with `io_failed` when the process fails, or when none can be had.
   */
  erase(mark: string, waitMs: number): Promise<boolean>
}

export interface LogState {
  readonly bytes: number
  /** Machine time, ms. */
  readonly writtenAt: number
}
