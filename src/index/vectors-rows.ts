/**
 * The rows of a vector index: a block for each partition, in it cells of extents, and for each entry the chain of its
 * rows. Rows of two cells never share an extent; deleting one moves its cell's last row into its place.
 */
import { must } from '../base/assert.ts'
import type { ChunkKey, EntryKey } from '../model/entry.ts'
import type { PartitionId } from '../model/partition.ts'
import type { ChunkVector } from '../store/store.ts'
import { type Block, type Cell, cellsOf, lastSlot, newBlock, type Slot } from './vectors-cells.ts'
import { RecentChanges } from './vectors-changes.ts'
import { unfitVector } from './vectors-check.ts'
import { ExtentPool, SMALLEST_EXTENT } from './vectors-extents.ts'
import { PAGE_ROWS, STAGE_ROWS } from './vectors-kernel.ts'
import { VectorMemory } from './vectors-memory.ts'

/** Slots a large home grows by: the most it can hold in vain. A cell, which has many beside it, holds less. */
const LARGEST_EXTENT = 1024
const HOME_GROWS_BY = 1 / 4
const CELL_GROWS_BY = 1 / 8

export class VectorRows {
  readonly dimensions: number
  readonly memory: VectorMemory
  readonly model: string
  readonly #pool: ExtentPool
  readonly #blocks = new Map<PartitionId, Block>()
  /** Slot + 1 of an entry's first row, by entry key; 0: none. */
  #heads = new Int32Array(1024)
  /** Partition, and cell, of each 16 slots. */
  #partitions = new Int32Array(PAGE_ROWS / SMALLEST_EXTENT)
  readonly #cells: (Cell | undefined)[] = []
  /** Cells by the row that is their pivot. */
  readonly #pivots = new Map<Slot, Cell>()
  #staged: Slot[] = []
  /** Entries whose rows came, went or moved. */
  readonly #changes = new RecentChanges()

  constructor(model: string, dimensions: number, mean: Float32Array | undefined, keepVectors: boolean) {
    this.model = model
    this.dimensions = dimensions
    this.memory = new VectorMemory(dimensions, mean, keepVectors)
    this.#pool = new ExtentPool(() => this.memory.addPages(1))
  }

  /** Without room for lists of searches, which is address space until a search needs it. */
  get byteLength(): number {
    const { pagesAt, pageBytes } = this.memory.layout
    let slots = 0
    for (const block of this.blocks) for (const { capacity } of cellsOf(block)) slots += capacity
    const ofSixteen = this.#partitions.byteLength + this.#cells.length * 8
    return pagesAt + (slots / PAGE_ROWS) * pageBytes + this.#heads.byteLength + ofSixteen
  }

  get blocks(): Iterable<Block> {
    return this.#blocks.values()
  }

  /** One more than the largest entry key there is room for. */
  get entryCapacity(): number {
    return this.#heads.length
  }

  /** Another number after each change of which rows there are, and where. */
  get revision(): number {
    return this.#changes.revision
  }

  /** Entries whose rows changed since; null: too many to remember. */
  changedSince(revision: number): readonly EntryKey[] | null {
    return this.#changes.since(revision)
  }

  block(partition: PartitionId): Block | undefined {
    return this.#blocks.get(partition)
  }

  chunk(slot: Slot): ChunkKey {
    return this.memory.words[this.memory.word(slot, this.memory.layout.chunkAt)] as number
  }

  entry(slot: Slot): EntryKey {
    return this.memory.words[this.memory.word(slot, this.memory.layout.entryAt)] as number
  }

  /** Index into `memory.floats` of the row's vector, where vectors are kept. */
  vectorAt(slot: Slot): number {
    const { vectorAt, width } = this.memory.layout
    return this.memory.address(slot, vectorAt, width * 4) / 4
  }

  partition(slot: Slot): PartitionId {
    return this.#partitions[(slot / SMALLEST_EXTENT) | 0] as number
  }

  /** An entry's first row, or -1; `next` gives the others. */
  first(entry: EntryKey): Slot {
    return (this.#heads[entry] ?? 0) - 1
  }

  next(slot: Slot): Slot {
    return (this.memory.words[this.memory.word(slot, this.memory.layout.nextAt)] as number) - 1
  }

  /** Room for the lists of one search: see `VectorMemory.arena`. */
  arena(bytes: number): number {
    return this.memory.arena(bytes, (page, count) => {
      for (let i = 0; i < count; i++) this.#pool.give((page + i) * PAGE_ROWS, PAGE_ROWS)
    })
  }

  /** The same behind the table that searches keep by entry key: what is written there troubles none. */
  room(bytes: number): number {
    return this.arena(this.entryCapacity * 4 + bytes) + this.entryCapacity * 4
  }

  /** Adds rows of chunks that have none yet. Throws `store_corrupt` at an unfit vector; the rows are then of no more use. */
  add(rows: Iterable<ChunkVector>): void {
    const { layout } = this.memory
    for (const { chunk, entry, partition, vector } of rows) {
      if (vector.length !== this.dimensions) {
        throw unfitVector(this.model, `has ${vector.length} components, not ${this.dimensions}`)
      }
      const slot = this.append(partition, entry, chunk)
      this.memory.floats.set(vector, (layout.stageAt >>> 2) + this.#staged.length * layout.width)
      if (layout.vectorAt >= 0) this.memory.floats.set(vector, this.vectorAt(slot))
      this.#staged.push(slot)
      if (this.#staged.length === STAGE_ROWS) this.#encode()
    }
    this.#encode()
  }

  /** A new row at home, linked to its entry; its vector is not written. */
  append(partition: PartitionId, entry: EntryKey, chunk: ChunkKey): Slot {
    return this.appendTo(this.blockFor(partition).home, entry, chunk)
  }

  /** The same in a cell. */
  appendTo(cell: Cell, entry: EntryKey, chunk: ChunkKey): Slot {
    this.#changes.note(entry)
    const slot = this.#open(cell)
    cell.block.rows++
    if (entry >= this.#heads.length) this.#heads = grown(this.#heads, entry + 1)
    const head = this.#heads[entry] as number
    if (head === 0) cell.block.entries++
    const { memory } = this
    memory.words[memory.word(slot, memory.layout.entryAt)] = entry
    memory.words[memory.word(slot, memory.layout.chunkAt)] = chunk
    memory.words[memory.word(slot, memory.layout.nextAt)] = head
    this.#heads[entry] = slot + 1
    return slot
  }

  /** Puts a row into another cell of its block. */
  move(slot: Slot, to: Cell): void {
    const place = this.#open(to)
    const from = this.#cellAt(slot)
    this.#carry(slot, place)
    this.#close(from, slot)
  }

  removeEntry(entry: EntryKey): void {
    let slot = this.first(entry)
    if (slot < 0) return
    this.#changes.note(entry)
    const { block } = this.#cellAt(slot)
    block.entries--
    for (; slot >= 0; slot = this.first(entry)) {
      this.#heads[entry] = this.next(slot) + 1
      block.rows--
      this.#loosePivot(slot)
      this.#close(this.#cellAt(slot), slot)
    }
    if (block.rows === 0) this.#blocks.delete(block.partition)
  }

  /** Says which row of the cell is its pivot. */
  setPivot(cell: Cell, slot: Slot): void {
    const pivot = must(cell.pivot, 'the pivot of a cell')
    if (pivot.slot >= 0) this.#pivots.delete(pivot.slot)
    pivot.slot = slot
    if (slot >= 0) this.#pivots.set(slot, cell)
  }

  #encode(): void {
    const { kernel, layout, words } = this.memory
    const staged = this.#staged
    this.#staged = []
    words.set(staged, layout.slotsAt >>> 2)
    const unfit = kernel.encode(layout.stageAt, layout.slotsAt, staged.length, layout.meanAt)
    if (unfit >= 0) throw unfitVector(this.model, 'is not of unit length, or has a component that is no number')
  }

  blockFor(partition: PartitionId): Block {
    let block = this.#blocks.get(partition)
    if (block === undefined) {
      block = newBlock(partition)
      this.#blocks.set(partition, block)
    }
    return block
  }

  #cellAt(slot: Slot): Cell {
    return must(this.#cells[(slot / SMALLEST_EXTENT) | 0], 'the cell of a row')
  }

  /** The slot behind the cell's last row. */
  #open(cell: Cell): Slot {
    if (cell.rows === cell.capacity) this.#extend(cell)
    cell.rows++
    if (cell.coming > 0) cell.coming--
    return lastSlot(cell)
  }

  /** Appends an extent: for the rows that are about to come, or for as many as the cell has grown by lately. */
  #extend(cell: Cell): void {
    const rows = Math.max(1, cell.coming, Math.floor(cell.rows * (cell.pivot ? CELL_GROWS_BY : HOME_GROWS_BY)))
    const size = Math.min(LARGEST_EXTENT, Math.max(SMALLEST_EXTENT, 2 ** Math.floor(Math.log2(rows))))
    const first = this.#pool.take(size)
    cell.extents.push({ first, size })
    cell.capacity += size
    const end = (first + size) / SMALLEST_EXTENT
    if (end > this.#partitions.length) this.#partitions = grown(this.#partitions, end)
    this.#partitions.fill(cell.block.partition, first / SMALLEST_EXTENT, end)
    for (let i = first / SMALLEST_EXTENT; i < end; i++) this.#cells[i] = cell
  }

  /** Fills the slot, which no chain holds any more, with the cell's last row. */
  #close(cell: Cell, slot: Slot): void {
    const extent = must(cell.extents.at(-1), 'the last extent')
    const last = lastSlot(cell)
    if (last !== slot) this.#carry(last, slot)
    this.#wipe(last)
    cell.rows--
    if (last > extent.first) return
    cell.extents.pop()
    cell.capacity -= extent.size
    this.#pool.give(extent.first, extent.size)
  }

  /** Copies a row to another slot; its chain and its cell, if it is a pivot, take it from there. */
  #carry(from: Slot, to: Slot): void {
    this.#relink(from, to)
    this.#copy(from, to)
    const cell = this.#pivots.get(from)
    if (cell) this.setPivot(cell, to)
  }

  #loosePivot(slot: Slot): void {
    const cell = this.#pivots.get(slot)
    if (cell === undefined) return
    this.setPivot(cell, -1)
    cell.block.hasLostPivot = true
  }

  /** Makes the chain that holds `from` hold `to` in its stead. */
  #relink(from: Slot, to: Slot): void {
    const entry = this.entry(from)
    this.#changes.note(entry)
    let holder = this.first(entry)
    if (holder === from) {
      this.#heads[entry] = to + 1
      return
    }
    while (this.next(holder) !== from) holder = this.next(holder)
    this.memory.words[this.memory.word(holder, this.memory.layout.nextAt)] = to + 1
  }

  #copy(from: Slot, to: Slot): void {
    this.#eachColumn((column, size) => {
      const start = this.memory.address(from, column, size)
      this.memory.bytes.copyWithin(this.memory.address(to, column, size), start, start + size)
    })
  }

  /** What was deleted is not to be found in memory, nor in a snapshot. */
  #wipe(slot: Slot): void {
    this.#eachColumn((column, size) => {
      const start = this.memory.address(slot, column, size)
      this.memory.bytes.fill(0, start, start + size)
    })
  }

  #eachColumn(act: (column: number, size: number) => void): void {
    const { layout } = this.memory
    act(0, layout.codeBytes)
    act(layout.int8At, layout.width)
    for (const column of [layout.scaleAt, layout.entryAt, layout.chunkAt, layout.nextAt]) act(column, 4)
    if (layout.vectorAt >= 0) act(layout.vectorAt, layout.width * 4)
  }
}

function grown(array: Int32Array<ArrayBuffer>, length: number): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(2 ** Math.ceil(Math.log2(length)))
  larger.set(array)
  return larger
}
