/** Reading from a SQLite store: its parts, and each question to the part that knows. */
import type { Bitset } from '../../base/bitset.ts'
import type { AccessState, Chunk, ChunkKey, Entry, EntryIdentity, EntryKey, EntryValidity } from '../../model/entry.ts'
import type { QuerentError } from '../../model/errors.ts'
import type { Filter } from '../../model/filter.ts'
import type { Audience, PartitionId } from '../../model/partition.ts'
import type { TableDeclaration } from '../../model/table.ts'
import type { AccessScope, Viewer } from '../../model/viewer.ts'
import type { Change, ChunkVector, ListRequest, StoreReader, TableReader } from '../store.ts'
import { SqliteAccess, SqliteChanges } from './changes.ts'
import { SqliteChunks } from './chunks.ts'
import { SqliteEntries } from './entries.ts'
import { readMeta, SqliteForgotten } from './meta.ts'
import type { SqlDatabase } from './node-sqlite.ts'
import { DamagePolicy, damaged } from './rows.ts'
import { SqliteSearch } from './search.ts'
import { SqliteTables } from './tables.ts'
import { CHUNKS, SqlitePartitions, SqliteTallies } from './tallies.ts'
import { SqliteModels, SqliteVectors } from './vectors.ts'

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
    // The values come from an index, which has no checks of its own. An entry that is damaged itself says nothing.
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
