/**
 * Reading from and writing to a SQLite store: passes each call to the part of the store that does it (entries, chunks, vectors, tables and
 * others).
 */

import { assert } from '../../base/assert.ts'
import type { Bitset } from '../../base/bitset.ts'
import type { Instant } from '../../base/clock.ts'
import { atOnce, type Steps } from '../../base/turns.ts'
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
} from '../../model/entry.ts'
import type { QuerentError } from '../../model/errors.ts'
import type { Filter } from '../../model/filter.ts'
import type { Audience, PartitionId } from '../../model/partition.ts'
import type { TableDeclaration } from '../../model/table.ts'
import type { AccessScope, Viewer } from '../../model/viewer.ts'
import { checkText, type SoundDraft, soundDraft } from '../check.ts'
import type {
  Change,
  ChunkVector,
  ListRequest,
  PutResult,
  StoreReader,
  StoreWriter,
  TableReader,
  TableWriter,
} from '../store.ts'
import { Accounts } from '../usage.ts'
import { readMeta, SqliteAccess, SqliteChanges, SqliteForgotten, writeMeta } from './changes.ts'
import { planPut, SqliteChunks } from './chunks.ts'
import { SqliteEntries } from './entries.ts'
import type { SqlDatabase } from './node-sqlite.ts'
import { DamagePolicy, damaged } from './rows.ts'
import { SqliteSearch } from './search.ts'
import { SqliteTables } from './tables.ts'
import { CHUNKS, SqliteModels, SqlitePartitions, SqliteTallies, SqliteVectors } from './vectors.ts'

export class SqliteReader implements StoreReader {
  readonly storeId: string
  protected readonly parts: SqliteParts

  constructor(storeId: string, parts: SqliteParts) {
    this.storeId = storeId
    this.parts = parts
  }

  lastSeq(): number {
    return this.parts.changes.last()
  }

  firstSeq(): number {
    return this.parts.changes.first()
  }

  changesSince(seq: number, limit: number): readonly Change[] {
    return this.parts.changes.since(seq, limit)
  }

  partitions(): readonly { readonly id: PartitionId; readonly audience: Audience }[] {
    return this.parts.partitions.all()
  }

  entry(key: EntryKey): Entry | undefined {
    return this.parts.entries.get(key)
  }

  entries(keys: readonly EntryKey[]): readonly Entry[] {
    return this.parts.entries.byKey(keys)
  }

  identities(keys: readonly EntryKey[]): readonly EntryIdentity[] {
    return this.parts.entries.identities(keys)
  }

  metadata(keys: readonly EntryKey[]): readonly Pick<Entry, 'key' | 'metadata'>[] {
    return this.parts.entries.metadata(keys)
  }

  validities(keys: readonly EntryKey[]): readonly EntryValidity[] {
    return this.parts.entries.validities(keys)
  }

  scanBounded(after: EntryKey, limit: number): readonly EntryKey[] {
    return this.parts.entries.scanBounded(after, limit)
  }

  scanEntries(after: EntryKey, limit: number): readonly EntryKey[] {
    return this.parts.entries.scan(after, limit)
  }

  newestEntry(): EntryKey {
    return this.parts.entries.newest()
  }

  find(id: string, partitions: readonly PartitionId[]): readonly EntryKey[] {
    return this.parts.entries.find(id, partitions)
  }

  matching(accessScope: AccessScope, filter: Filter): Bitset {
    return this.parts.search.matching(accessScope, filter)
  }

  list(request: ListRequest): readonly Entry[] {
    return this.parts.db.read(() => this.entries(this.parts.search.list(request)))
  }

  count(accessScope: AccessScope, filter: Filter | null): number {
    return this.parts.search.count(accessScope, filter)
  }

  facet(
    accessScope: AccessScope,
    field: 'collection' | 'kind' | 'tag',
    limit: number,
  ): readonly { value: string; count: number }[] {
    const found = this.parts.search.facet(accessScope, field, limit)
    this.#checkValues(found, field)
    return found.map(({ value, count }) => ({ value, count }))
  }

  ids(accessScope: AccessScope, from: string, limit: number): readonly string[] {
    return this.parts.search.ids(accessScope, from, limit)
  }

  collections(accessScope: AccessScope, limit: number): readonly string[] {
    const found = this.parts.search.collections(accessScope, limit)
    this.#checkValues(found, 'collection')
    return found.map(({ value }) => value)
  }

  #checkValues(
    found: readonly { readonly value: string; readonly example: EntryKey }[],
    field: 'collection' | 'kind' | 'tag',
  ): void {
    // The values were counted in an index, whose rows have no check sums. So each value is confirmed by reading one entry that has it; a
    // damaged entry confirms nothing.
    const entries = this.around(
      () => undefined,
      () => this.entries(found.map(({ example }) => example)),
    )
    const byKey = new Map(entries.map(entry => [entry.key, entry]))
    for (const { value, example } of found) {
      const entry = byKey.get(example)
      const isRight = entry === undefined || (field === 'tag' ? entry.tags.includes(value) : entry[field] === value)
      if (!isRight) throw damaged(`index of ${field}s at entry ${JSON.stringify(entry.id)}`, { id: entry.id })
    }
  }

  chunksOf(entry: EntryKey): readonly Chunk[] {
    return this.parts.chunks.of(entry)
  }

  chunksOfEach(entries: readonly EntryKey[]): ReadonlyMap<EntryKey, readonly Chunk[]> {
    return this.parts.chunks.ofEach(entries)
  }

  firstChunks(entries: readonly EntryKey[]): ReadonlyMap<EntryKey, ChunkKey> {
    return this.parts.chunks.first(entries)
  }

  chunks(keys: readonly ChunkKey[]): readonly Chunk[] {
    return this.parts.chunks.byKey(keys)
  }

  countChunks(partitions: readonly PartitionId[]): number {
    return this.parts.tallies.sum(CHUNKS, partitions)
  }

  vectors(model: string, chunks: readonly ChunkKey[]): readonly ChunkVector[] {
    return this.parts.vectors.byChunk(model, chunks)
  }

  vectorsOnly(model: string, chunks: readonly ChunkKey[]): readonly Pick<ChunkVector, 'chunk' | 'vector'>[] {
    return this.parts.vectors.only(model, chunks)
  }

  scanVectors(model: string, after: ChunkKey, limit: number): readonly ChunkVector[] {
    return this.parts.vectors.scan(model, after, limit)
  }

  countVectors(model: string, partitions: readonly PartitionId[]): number {
    return this.parts.vectors.count(model, partitions)
  }

  chunksWithoutVector(model: string, limit: number, after: ChunkKey = 0): readonly Chunk[] {
    return this.parts.chunks.withoutVector(model, limit, after)
  }

  access(viewer: Viewer, entries: readonly EntryKey[]): ReadonlyMap<EntryKey, AccessState> {
    return this.parts.access.of(viewer, entries)
  }

  accessViewers(): readonly string[] {
    return this.parts.access.viewers()
  }

  table(declaration: TableDeclaration): TableReader {
    return this.parts.tables.reader(declaration)
  }

  meta(name: string): string | undefined {
    return readMeta(this.parts.db, name)
  }

  around<T>(report: (damage: QuerentError) => void, body: () => T): T {
    return this.parts.damage.around(report, body)
  }
}

export interface SqliteParts {
  readonly db: SqlDatabase
  readonly damage: DamagePolicy
  readonly partitions: SqlitePartitions
  readonly entries: SqliteEntries
  readonly chunks: SqliteChunks
  readonly vectors: SqliteVectors
  readonly access: SqliteAccess
  readonly changes: SqliteChanges
  readonly forgotten: SqliteForgotten
  readonly tables: SqliteTables
  readonly tallies: SqliteTallies
  readonly search: SqliteSearch
}

export function makeParts(db: SqlDatabase): SqliteParts {
  const partitions = new SqlitePartitions(db)
  const damage = new DamagePolicy()
  const forgotten = new SqliteForgotten(db)
  const tables = new SqliteTables(db, forgotten, damage)
  const models = new SqliteModels(db)
  const tallies = new SqliteTallies(db)
  return {
    db,
    damage,
    partitions,
    entries: new SqliteEntries(db, partitions, damage),
    chunks: new SqliteChunks(db, models, damage),
    vectors: new SqliteVectors(db, models, tallies, damage),
    access: new SqliteAccess(db, damage),
    changes: new SqliteChanges(db),
    forgotten,
    tables,
    tallies,
    search: new SqliteSearch(db, partitions, tables.aspectColumn),
  }
}

// Writing to a SQLite store. Usable only inside a transaction, which the store begins and ends.

export class SqliteWriter extends SqliteReader implements StoreWriter {
  /** Time of the running transaction, by which its changes are dated; null between transactions. */
  now: Instant | null = null
  /**
   * Whether the transaction changed anything that must advance the store's version. Access state and tables declared `aside` (on which no
   * answer depends, such as leases) do not count. The store reads and resets this flag.
   */
  wrote = false
  readonly #accounts = new Accounts({
    read: declaration => super.table(declaration),
    write: declaration => {
      if (declaration.aside === true) this.#mustBeOpen()
      else this.#mustWrite()
      return this.parts.tables.writer(declaration)
    },
    holderOf: key => this.identities([key])[0]?.holder,
  })

  /** Forgets what the last transaction changed; must be called when a transaction begins that is not nested in another one. */
  begin(): void {
    this.wrote = false
    this.#accounts.begin()
  }

  put(draft: EntryDraft, chunks: readonly ChunkDraft[]): PutResult {
    return atOnce(this.putInSteps(draft, chunks))
  }

  *putInSteps(draft: EntryDraft, chunks: readonly ChunkDraft[]): Steps<PutResult> {
    const now = this.#mustWrite()
    const { entries, partitions, changes, tallies } = this.parts
    const sound = soundDraft(draft, chunks)
    const known = entries.keyOf(sound.audience.holder, sound.id)
    const before = known === undefined ? null : yield* this.#before(known, sound)
    yield
    const plan = yield* planPut(before?.entry, before?.chunks ?? [], sound, chunks)
    if (before !== null && !plan.entryChanged && !plan.chunksChanged) {
      return { key: before.entry.key, changed: false, created: false }
    }

    const partition = partitions.intern(sound.audience)
    const from = known === undefined ? undefined : entries.partitionOf(known)
    if (known !== undefined && from !== undefined) this.#countOut(from, known)
    if (known !== undefined && before === null) this.parts.chunks.dropAll(known)
    const key = known ?? entries.insert(sound, partition)
    yield
    if (known !== undefined && plan.entryChanged) entries.update(key, sound, partition)
    yield
    yield* this.parts.chunks.write(key, chunks, plan)
    tallies.add(partition, known !== undefined ? tallies.ofEntry(key) : new Map([[CHUNKS, chunks.length]]))
    if (known !== undefined) this.parts.forgotten.note()
    this.#accounts.entry({
      ...{ key, holder: sound.audience.holder },
      before: () => {
        if (known !== undefined && before === null) throw damaged(`entry ${JSON.stringify(sound.id)}`, { id: sound.id })
        return before?.entry
      },
      after: sound,
    })
    const moved = from !== undefined && from !== partition
    changes.tell('put', key, partition, moved ? from : null, now)
    return { key, changed: true, created: known === undefined }
  }

  savepoint<T>(body: () => Steps<T>): Steps<T> {
    this.#mustBeOpen()
    return this.parts.db.writeInSteps(body)
  }

  delete(key: EntryKey): boolean {
    const now = this.#mustWrite()
    const partition = this.parts.entries.partitionOf(key)
    if (partition === undefined) return false
    this.#countOut(partition, key)
    if (this.#accounts.isUsed) this.#countDeletion(key)
    this.parts.entries.delete(key)
    this.parts.forgotten.note()
    this.parts.changes.tell('delete', key, partition, null, now)
    return true
  }

  putVectors(model: string, vectors: readonly { readonly chunk: ChunkKey; readonly vector: Float32Array }[]): void {
    const now = this.#mustWrite()
    for (const { entry, partition } of this.parts.vectors.write(model, vectors)) {
      this.parts.changes.tell('vectors', entry, partition, null, now)
    }
  }

  removeVectors(model: string, limit: number): number {
    this.#mustWrite()
    return this.parts.vectors.remove(model, limit)
  }

  announce(key: EntryKey): void {
    const now = this.#mustWrite()
    const partition = this.parts.entries.partitionOf(key)
    if (partition !== undefined) this.parts.changes.tell('put', key, partition, null, now)
  }

  touch(viewer: Viewer, entries: readonly EntryKey[], now: Instant, gain: number): void {
    this.#mustBeOpen()
    this.parts.access.touch(viewer, entries, now, gain)
  }

  setAccess(viewer: Viewer, entry: EntryKey, state: AccessState): void {
    this.#mustBeOpen()
    this.parts.access.set(viewer, entry, state)
  }

  intern(audience: Audience): PartitionId {
    this.#mustWrite()
    return this.parts.partitions.intern(audience)
  }

  override table(declaration: TableDeclaration): TableWriter {
    return this.#accounts.table(declaration)
  }

  setMeta(name: string, value: string): void {
    this.#mustWrite()
    checkText('meta', name)
    checkText('meta', value)
    writeMeta(this.parts.db, name, value)
  }

  pruneChanges(seq: number): void {
    this.#mustWrite()
    this.parts.changes.prune(seq)
  }

  /**
   * The stored entry and chunks that a put replaces, of which it keeps unchanged chunks with their vectors. Null where any of them is
   * damaged: all are then written again from the draft.
   */
  *#before(
    key: EntryKey,
    { id, audience }: SoundDraft,
  ): Steps<{ readonly entry: Entry; readonly chunks: readonly Chunk[] } | null> {
    let isWhole = true
    const note = () => {
      isWhole = false
    }
    const entry = this.around(note, () => this.entry(key))
    yield
    const chunks = yield* this.parts.chunks.ofInSteps(key, read => this.around(note, read))
    if (!isWhole || entry === undefined) return null
    // A damaged index may lead to another entry, which must not be overwritten.
    if (entry.id !== id || entry.audience.holder !== audience.holder)
      throw damaged(`entry ${JSON.stringify(id)}`, { id })
    return { entry, chunks }
  }

  /**
   * Subtracts a deleted entry from the counts of its holder's bytes. Its rows in lens tables are deleted here first, since the database
   * would delete them without counting.
   */
  #countDeletion(key: EntryKey): void {
    for (const { holder } of this.identities([key])) {
      for (const table of this.parts.tables.all()) if (table.ofEntry) this.table(table).delete({ entry: key })
      this.#accounts.entry({ key, holder, before: () => this.entry(key), after: undefined })
    }
  }

  /**
   * Subtracts a deleted entry's chunks and vectors from its partition's counts. Skipped where the partition does not exist, as a damaged
   * entry may name one.
   */
  #countOut(partition: PartitionId, key: EntryKey): void {
    const { partitions, tallies } = this.parts
    if (partitions.all().some(({ id }) => id === partition)) tallies.add(partition, tallies.ofEntry(key), -1)
  }

  /** The time of the running transaction; marks the transaction as one that writes. */
  #mustWrite(): Instant {
    this.wrote = true
    return this.#mustBeOpen()
  }

  #mustBeOpen(): Instant {
    assert(this.now !== null, 'a writer works only inside its transaction')
    return this.now
  }
}
