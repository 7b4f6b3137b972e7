/** The maps of the in-memory store. They can be put back, which makes it transactional. */
import { assert } from '../../base/assert.ts'
import type { AccessState, Chunk, ChunkKey, Entry, EntryKey } from '../../model/entry.ts'
import { invalidArgument } from '../../model/errors.ts'
import type { Audience, PartitionId } from '../../model/partition.ts'
import type { Cell, Row, TableDeclaration } from '../../model/table.ts'
import type { Change, TablePage, TableWriter } from '../store.ts'
import {
  checkDeclaration,
  compareCells,
  missingColumns,
  soundColumns,
  soundEntries,
  soundKey,
  soundPart,
  soundRow,
  TableVersions,
} from '../table-check.ts'

/** What to do to undo the changes made since it was last emptied, newest last. */
class Journal {
  readonly #undo: (() => void)[] = []

  record(undo: () => void): void {
    this.#undo.push(undo)
  }

  /** A place to roll back to. */
  mark(): number {
    return this.#undo.length
  }

  rollBack(mark: number): void {
    while (this.#undo.length > mark) this.#undo.pop()?.()
  }

  /** Makes everything so far final. */
  forget(): void {
    this.#undo.length = 0
  }
}

/** A map whose changes are recorded. Its order of iteration means nothing: undoing a delete moves a key to the end. */
class JournaledMap<K, V> {
  readonly #map = new Map<K, V>()
  readonly #journal: Journal

  constructor(journal: Journal) {
    this.#journal = journal
  }

  get size(): number {
    return this.#map.size
  }

  get(key: K): V | undefined {
    return this.#map.get(key)
  }

  has(key: K): boolean {
    return this.#map.has(key)
  }

  keys(): readonly K[] {
    return [...this.#map.keys()]
  }

  values(): readonly V[] {
    return [...this.#map.values()]
  }

  set(key: K, value: V): void {
    this.#recordUndo(key)
    this.#map.set(key, value)
  }

  delete(key: K): void {
    if (!this.#map.has(key)) return
    this.#recordUndo(key)
    this.#map.delete(key)
  }

  /** Takes over what `other` holds. Not recorded: for a map that nobody has read yet. */
  fill(other: JournaledMap<K, V>): void {
    for (const [key, value] of other.#map) this.#map.set(key, value)
  }

  #recordUndo(key: K): void {
    if (!this.#map.has(key)) {
      this.#journal.record(() => this.#map.delete(key))
      return
    }
    const before = this.#map.get(key) as V
    this.#journal.record(() => this.#map.set(key, before))
  }
}

/** What tables share with their store. */
interface TableState {
  readonly journal: Journal
  readonly copies: boolean
  readonly entries: { has(key: number): boolean }
  readonly tableVersions: TableVersions
}

class MemoryTable implements TableWriter {
  /** May be replaced by one with more columns; rows from before have null there. */
  declaration: TableDeclaration
  readonly #rows: JournaledMap<string, Row>
  readonly #state: TableState

  constructor(declaration: TableDeclaration, state: TableState) {
    this.declaration = declaration
    this.#rows = new JournaledMap(state.journal)
    this.#state = state
  }

  get(key: Row): Row | undefined {
    const row = this.#rows.get(this.#keyOf(soundKey(this.declaration, key)))
    return row && this.#copy(soundRow(this.declaration, row))
  }

  scan(where: Row = {}, page: TablePage = {}): readonly Row[] {
    const columns = soundColumns(this.declaration, page.columns)
    const entries = soundEntries(this.declaration, page.entries)
    const wanted = entries && new Set(entries)
    const after = page.after && soundKey(this.declaration, page.after)
    return this.#select(where)
      .filter(row => wanted === undefined || wanted.has(row['entry'] as number))
      .filter(row => after === undefined || this.#compare(row, after) > 0)
      .sort((a, b) => this.#compare(a, b))
      .slice(0, page.limit)
      .map(row => this.#copy(Object.fromEntries(columns.map(name => [name, row[name] ?? null]))))
  }

  count(where: Row = {}): number {
    return this.#select(where).length
  }

  put(row: Row): void {
    const sound = soundRow(this.declaration, row)
    if (this.declaration.ofEntry && !this.#state.entries.has(sound['entry'] as number)) {
      throw invalidArgument(`${this.declaration.name}.entry`, sound['entry'], 'an entry that exists')
    }
    this.#rows.set(this.#keyOf(sound), this.#copy(sound))
    this.#state.tableVersions.wrote(this.declaration.name)
  }

  delete(where: Row): number {
    if (Object.keys(where).length === 0) throw invalidArgument(`table ${this.declaration.name}`, where, 'a condition')
    const rows = this.#select(where)
    for (const row of rows) this.#rows.delete(this.#keyOf(row))
    this.#state.tableVersions.wrote(this.declaration.name)
    return rows.length
  }

  /** Takes over the rows of `other`, which are replaced when they change, never written into. */
  fill(other: MemoryTable): void {
    this.#rows.fill(other.#rows)
  }

  #select(where: Row): Row[] {
    const wanted = Object.entries(soundPart(this.declaration, where))
    return this.#rows
      .values()
      .filter(row => wanted.every(([name, cell]) => compareCells(row[name] ?? null, cell) === 0))
  }

  #compare(a: Row, b: Row): number {
    for (const name of this.declaration.key) {
      const order = compareCells(a[name] as Cell, b[name] as Cell)
      if (order !== 0) return order
    }
    return 0
  }

  #copy(row: Row): Row {
    return this.#state.copies ? copy(row) : row
  }

  #keyOf(row: Row): string {
    return JSON.stringify(this.declaration.key.map(name => keyPart(row[name] as Cell)))
  }
}

function keyPart(cell: Cell): Cell | readonly number[] {
  return cell instanceof Uint8Array ? [...cell] : cell
}

function copy(row: Row): Row {
  return Object.fromEntries(
    Object.entries(row).map(([name, cell]) => [name, cell instanceof Uint8Array ? cell.slice() : cell]),
  )
}

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
