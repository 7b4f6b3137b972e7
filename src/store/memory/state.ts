/** What the in-memory store holds. */
import { assert } from '../../base/assert.ts'
import type { AccessState, Chunk, ChunkKey, Entry, EntryKey } from '../../model/entry.ts'
import type { Audience, PartitionId } from '../../model/partition.ts'
import type { TableDeclaration } from '../../model/table.ts'
import type { Change } from '../store.ts'
import { checkDeclaration, missingColumns } from '../table-check.ts'
import { TableVersions } from '../table-versions.ts'
import { Journal, JournaledMap } from './journal.ts'
import { MemoryTable } from './table.ts'

export class MemoryState {
  /** Whether what comes in and goes out is copied or frozen. */
  readonly copies: boolean
  readonly journal: Journal = new Journal()
  readonly partitions: JournaledMap<PartitionId, Audience> = new JournaledMap(this.journal)
  readonly partitionIds: JournaledMap<string, PartitionId> = new JournaledMap(this.journal)
  readonly entries: JournaledMap<EntryKey, Entry> = new JournaledMap(this.journal)
  /** By holder and id, see `nameOf`. */
  readonly entryKeys: JournaledMap<string, EntryKey> = new JournaledMap(this.journal)
  readonly chunks: JournaledMap<ChunkKey, Chunk> = new JournaledMap(this.journal)
  /** Chunk keys of each entry by ordinal. */
  readonly chunkKeys: JournaledMap<EntryKey, readonly ChunkKey[]> = new JournaledMap(this.journal)
  /** Vectors of each chunk by model. */
  readonly vectors: JournaledMap<ChunkKey, ReadonlyMap<string, Float32Array>> = new JournaledMap(this.journal)
  readonly dimensions: JournaledMap<string, number> = new JournaledMap(this.journal)
  /** Access states of each entry by viewer. */
  readonly access: JournaledMap<EntryKey, ReadonlyMap<string, AccessState>> = new JournaledMap(this.journal)
  readonly changes: JournaledMap<number, Change> = new JournaledMap(this.journal)
  readonly meta: JournaledMap<string, string> = new JournaledMap(this.journal)
  readonly tableVersions: TableVersions = new TableVersions()
  readonly #counters = new JournaledMap<string, number>(this.journal)
  readonly #tables = new Map<string, MemoryTable>()

  constructor(copies = true) {
    this.copies = copies
  }

  /** The last number given out under this name, 0 before the first. */
  last(counter: 'entry' | 'chunk' | 'partition' | 'change' | 'pruned'): number {
    return this.#counters.get(counter) ?? 0
  }

  next(counter: 'entry' | 'chunk' | 'partition' | 'change'): number {
    this.#counters.set(counter, this.last(counter) + 1)
    return this.last(counter)
  }

  setPruned(seq: number): void {
    this.#counters.set('pruned', seq)
  }

  table(declaration: TableDeclaration): MemoryTable {
    const known = this.#tables.get(declaration.name)
    if (known === undefined) {
      checkDeclaration(declaration)
      const made = new MemoryTable(declaration, this)
      this.#tables.set(declaration.name, made)
      return made
    }
    if (missingColumns(known.declaration, declaration).length > 0) {
      checkDeclaration(declaration)
      known.declaration = declaration
    }
    return known
  }

  /** What is held now, apart from what is written later. Values are shared: they are replaced, never written into. */
  copy(): MemoryState {
    const copy = new MemoryState(this.copies)
    copy.partitions.fill(this.partitions)
    copy.partitionIds.fill(this.partitionIds)
    copy.entries.fill(this.entries)
    copy.entryKeys.fill(this.entryKeys)
    copy.chunks.fill(this.chunks)
    copy.chunkKeys.fill(this.chunkKeys)
    copy.vectors.fill(this.vectors)
    copy.dimensions.fill(this.dimensions)
    copy.access.fill(this.access)
    copy.changes.fill(this.changes)
    copy.meta.fill(this.meta)
    copy.#counters.fill(this.#counters)
    for (const table of this.#tables.values()) copy.table(table.declaration).fill(table)
    return copy
  }

  tables(): readonly MemoryTable[] {
    return [...this.#tables.values()]
  }

  partitionOf(key: EntryKey): PartitionId {
    const entry = this.entries.get(key)
    assert(entry, 'a chunk belongs to an entry')
    return entry.partition
  }
}

export function nameOf(holder: string, id: string): string {
  return JSON.stringify([holder, id])
}
