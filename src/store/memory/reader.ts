/** Reading from the in-memory store. What is returned is frozen or a copy, unless the store was opened without copies. */
import { Bitset } from '../../base/bitset.ts'
import type { Instant } from '../../base/clock.ts'
import { compareText } from '../../base/compare.ts'
import type { AccessState, Chunk, ChunkKey, Entry, EntryIdentity, EntryKey, EntryValidity } from '../../model/entry.ts'
import type { QuerentError } from '../../model/errors.ts'
import { type Filter, type FilterSubject, matches, type Scalar } from '../../model/filter.ts'
import type { Audience, PartitionId } from '../../model/partition.ts'
import type { TableDeclaration } from '../../model/table.ts'
import type { AccessScope, Viewer } from '../../model/viewer.ts'
import { checkFilter } from '../check.ts'
import type { Change, ChunkVector, ListPosition, ListRequest, StoreReader, TableReader } from '../store.ts'
import type { MemoryState } from './state.ts'

export class MemoryReader implements StoreReader {
  readonly storeId: string
  protected readonly state: MemoryState

  constructor(storeId: string, state: MemoryState) {
    this.storeId = storeId
    this.state = state
  }

  lastSeq(): number {
    return this.state.last('change')
  }

  firstSeq(): number {
    return this.lastSeq() === 0 ? 0 : this.state.last('pruned') + 1
  }

  changesSince(seq: number, limit: number): readonly Change[] {
    const first = Math.max(seq + 1, this.firstSeq())
    const found: Change[] = []
    for (let at = first; at <= this.lastSeq() && found.length < limit; at++) {
      const change = this.state.changes.get(at)
      if (change) found.push(change)
    }
    return found
  }

  partitions(): readonly { readonly id: PartitionId; readonly audience: Audience }[] {
    return ascending(this.state.partitions.keys()).map(id => ({
      id,
      audience: this.state.partitions.get(id) as Audience,
    }))
  }

  entry(key: EntryKey): Entry | undefined {
    return this.state.entries.get(key)
  }

  entries(keys: readonly EntryKey[]): readonly Entry[] {
    return present(keys.map(key => this.state.entries.get(key)))
  }

  identities(keys: readonly EntryKey[]): readonly EntryIdentity[] {
    return this.entries(keys).map(({ key, partition, id, audience, collection, origin }) => {
      return { key, partition, id, holder: audience.holder, collection, origin }
    })
  }

  metadata(keys: readonly EntryKey[]): readonly Pick<Entry, 'key' | 'metadata'>[] {
    return this.entries(keys).map(({ key, metadata }) => ({ key, metadata }))
  }

  validities(keys: readonly EntryKey[]): readonly EntryValidity[] {
    return this.entries(keys)
      .filter(isBounded)
      .map(({ key, validFrom, validUntil }) => ({ key, from: validFrom, until: validUntil }))
  }

  scanBounded(after: EntryKey, limit: number): readonly EntryKey[] {
    const keys = this.entries(ascending(this.state.entries.keys().filter(key => key > after)))
    return keys
      .filter(isBounded)
      .slice(0, limit)
      .map(({ key }) => key)
  }

  scanEntries(after: EntryKey, limit: number): readonly EntryKey[] {
    return ascending(this.state.entries.keys().filter(key => key > after)).slice(0, limit)
  }

  newestEntry(): EntryKey {
    return this.state.entries.keys().reduce((newest, key) => Math.max(newest, key), 0)
  }

  find(id: string, partitions: readonly PartitionId[]): readonly EntryKey[] {
    return this.#visible(partitions)
      .filter(entry => entry.id === id)
      .sort((a, b) => compareText(a.audience.holder, b.audience.holder))
      .map(entry => entry.key)
  }

  matching(accessScope: AccessScope, filter: Filter): Bitset {
    return Bitset.of(this.#select(accessScope, filter).map(entry => entry.key))
  }

  list(request: ListRequest): readonly Entry[] {
    const { accessScope, filter, order, after } = request
    return this.#select(accessScope, filter)
      .map(entry => ({ entry, place: this.#placeOf(entry, order, accessScope.viewer) }))
      .filter(({ place }) => after === null || comparePlaces(place, after) > 0)
      .sort((a, b) => comparePlaces(a.place, b.place))
      .slice(0, request.limit)
      .map(({ entry }) => entry)
  }

  count(accessScope: AccessScope, filter: Filter | null): number {
    return this.#select(accessScope, filter).length
  }

  facet(
    accessScope: AccessScope,
    field: 'collection' | 'kind' | 'tag',
    limit: number,
  ): readonly { value: string; count: number }[] {
    const counts = new Map<string, number>()
    for (const entry of this.#visible(accessScope.partitions)) {
      for (const value of field === 'tag' ? entry.tags : [entry[field]]) counts.set(value, (counts.get(value) ?? 0) + 1)
    }
    return [...counts]
      .map(([value, count]) => ({ value, count }))
      .sort((a, b) => b.count - a.count || compareText(a.value, b.value))
      .slice(0, limit)
  }

  chunksOf(entry: EntryKey): readonly Chunk[] {
    return this.chunks(this.state.chunkKeys.get(entry) ?? [])
  }

  firstChunks(entries: readonly EntryKey[]): ReadonlyMap<EntryKey, ChunkKey> {
    const firsts = entries.map(entry => [entry, this.state.chunkKeys.get(entry)?.[0]] as const)
    return new Map(firsts.filter((pair): pair is [EntryKey, ChunkKey] => pair[1] !== undefined))
  }

  chunks(keys: readonly ChunkKey[]): readonly Chunk[] {
    return present(keys.map(key => this.state.chunks.get(key)))
  }

  countChunks(partitions: readonly PartitionId[]): number {
    return this.#visible(partitions).reduce((sum, entry) => sum + this.chunksOf(entry.key).length, 0)
  }

  vectors(model: string, chunks: readonly ChunkKey[]): readonly ChunkVector[] {
    return present(chunks.map(chunk => this.#vector(model, chunk)))
  }

  vectorsOnly(model: string, chunks: readonly ChunkKey[]): readonly Pick<ChunkVector, 'chunk' | 'vector'>[] {
    return this.vectors(model, chunks).map(({ chunk, vector }) => ({ chunk, vector }))
  }

  scanVectors(model: string, after: ChunkKey, limit: number): readonly ChunkVector[] {
    const keys = ascending(this.state.vectors.keys().filter(key => key > after))
    return this.vectors(model, keys).slice(0, limit)
  }

  countVectors(model: string, partitions: readonly PartitionId[]): number {
    const has = ({ key }: Chunk) => this.state.vectors.get(key)?.has(model) ?? false
    return this.#visible(partitions).reduce((sum, entry) => sum + this.chunksOf(entry.key).filter(has).length, 0)
  }

  chunksWithoutVector(model: string, limit: number, after: ChunkKey = 0): readonly Chunk[] {
    const lacking = this.state.chunks.keys().filter(key => key > after && !this.state.vectors.get(key)?.has(model))
    return this.chunks(ascending(lacking).slice(0, limit))
  }

  access(viewer: Viewer, entries: readonly EntryKey[]): ReadonlyMap<EntryKey, AccessState> {
    const found = new Map<EntryKey, AccessState>()
    for (const key of entries) {
      const state = this.#access(viewer, key)
      if (state) found.set(key, state)
    }
    return found
  }

  accessViewers(): readonly string[] {
    const viewers = new Set(this.state.access.values().flatMap(states => [...states.keys()]))
    return [...viewers].sort(compareText)
  }

  table(declaration: TableDeclaration): TableReader {
    return this.state.table(declaration)
  }

  /** Memory is never damaged. */
  around<T>(_report: (damage: QuerentError) => void, body: () => T): T {
    return body()
  }

  meta(name: string): string | undefined {
    return this.state.meta.get(name)
  }

  #placeOf(entry: Entry, order: ListRequest['order'], viewer: Viewer): ListPosition {
    const at = {
      created: entry.createdAt,
      updated: entry.updatedAt,
      accessed: this.#access(viewer, entry.key)?.lastAccessed ?? null,
      id: null,
    }[order]
    return { at, id: entry.id, holder: entry.audience.holder }
  }

  #select(accessScope: AccessScope, filter: Filter | null): Entry[] {
    const visible = this.#visible(accessScope.partitions)
    if (filter === null) return visible
    checkFilter(filter)
    return visible.filter(entry => matches(filter, this.#subject(accessScope.viewer, entry)))
  }

  #subject(viewer: Viewer, entry: Entry): FilterSubject {
    return {
      entry,
      access: this.#access(viewer, entry.key) ?? null,
      aspect: (name, column) => this.#aspect(entry.key, name, column),
    }
  }

  #aspect(entry: EntryKey, name: string, column: string): Scalar | null {
    const table = this.state.tables().find(candidate => candidate.declaration.aspect === name)
    const cell = table?.get({ entry })?.[column] ?? null
    return cell instanceof Uint8Array ? null : cell
  }

  /** By key ascending. */
  #visible(partitions: readonly PartitionId[]): Entry[] {
    const wanted = new Set(partitions)
    return this.state.entries
      .values()
      .filter(entry => wanted.has(entry.partition))
      .sort((a, b) => a.key - b.key)
  }

  #vector(model: string, key: ChunkKey): ChunkVector | undefined {
    const vector = this.state.vectors.get(key)?.get(model)
    const chunk = this.state.chunks.get(key)
    if (!vector || !chunk) return undefined
    const partition = this.state.partitionOf(chunk.entry)
    return { chunk: key, entry: chunk.entry, partition, vector: this.state.copies ? vector.slice() : vector }
  }

  #access(viewer: Viewer, entry: EntryKey): AccessState | undefined {
    return this.state.access.get(entry)?.get(viewer.id)
  }
}

function ascending(numbers: readonly number[]): number[] {
  return [...numbers].sort((a, b) => a - b)
}

function comparePlaces(a: ListPosition, b: ListPosition): number {
  return newestFirst(a.at, b.at) || compareText(a.id, b.id) || compareText(a.holder, b.holder)
}

function newestFirst(a: Instant | null, b: Instant | null): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null)
  return b - a
}

function present<T>(items: readonly (T | undefined)[]): T[] {
  return items.filter(item => item !== undefined)
}

function isBounded({ validFrom, validUntil }: Pick<Entry, 'validFrom' | 'validUntil'>): boolean {
  return validFrom !== null || validUntil !== null
}
