/**
 * The rows (encoded chunk vectors) of a vector index. Each partition has cells (groups of rows), each cell has runs of slots in memory
 * (extents) that no other cell uses, and the rows of an entry are linked in a list. When a row is deleted, the last row of its cell moves
 * into its slot.
 */
import { must } from '../../base/assert.ts'
import { doubled } from '../../base/columns.ts'
import type { ChunkKey, EntryKey } from '../../model/entry.ts'
import type { PartitionId } from '../../model/partition.ts'
import type { ChunkVector } from '../../store/store.ts'
import { PAGE_ROWS, STAGE_ROWS } from '../kernel.ts'
import { type Block, type Cell, cellsOf, lastSlot, newBlock, type Slot } from './cells.ts'
import { unfitVector } from './check.ts'
import { VectorMemory } from './memory.ts'

export class VectorRows {
  readonly dimensions: number
  readonly memory: VectorMemory
  readonly model: string
  readonly #slots: SlotTable
  readonly #blocks = new Map<PartitionId, Block>()
  /**
   * For each entry key, where the list of the entry's rows (encoded chunk vectors) begins: the memory slot of the first row plus 1, or 0 if
   * the entry has no row.
   */
  #heads = new Int32Array(1024)
  /** The cells (groups of similar rows), each under the memory slot of its pivot, the row at the centre of the cell. */
  readonly #pivots = new Map<Slot, Cell>()
  #staged: Slot[] = []
  /** Counts the changes of rows: additions, deletions and moves to other slots. */
  #revision = 0
  #count = 0
  /** Blocks whose rows were added or deleted since `takeChanged` was last called. */
  #changed = new Set<Block>()

  constructor(model: string, dimensions: number) {
    this.model = model
    this.dimensions = dimensions
    this.memory = new VectorMemory(dimensions)
    this.#slots = new SlotTable(() => this.memory.addPages(1))
  }

  /** Memory use in bytes, without the pages for lists of searches, which are only reserved addresses until a search uses them. */
  get byteLength(): number {
    const { pagesAt, pageBytes } = this.memory.layout
    let slots = 0
    for (const block of this.blocks) for (const { capacity } of cellsOf(block)) slots += capacity
    return pagesAt + (slots / PAGE_ROWS) * pageBytes + this.#heads.byteLength + this.#slots.byteLength
  }

  get count(): number {
    return this.#count
  }

  get blocks(): Iterable<Block> {
    return this.#blocks.values()
  }

  /** Number of entry keys for which the tables indexed by entry key have space. It is greater than every entry key in the index. */
  get entryCapacity(): number {
    return this.#heads.length
  }

  /** Number that changes whenever rows are added, deleted or moved to another slot. */
  get revision(): number {
    return this.#revision
  }

  /** The blocks to which rows were added, or from which rows were deleted, since the last call. A store may have ten thousand others. */
  takeChanged(): ReadonlySet<Block> {
    const changed = this.#changed
    this.#changed = new Set()
    return changed
  }

  block(partition: PartitionId): Block | undefined {
    return this.#blocks.get(partition)
  }

  /** The block of the partition, which is the record of all its rows (encoded vectors) and cells; created if there is none yet. */
  blockFor(partition: PartitionId): Block {
    let block = this.#blocks.get(partition)
    if (block === undefined) {
      block = newBlock(partition)
      this.#blocks.set(partition, block)
    }
    return block
  }

  chunk(slot: Slot): ChunkKey {
    return this.memory.words[this.memory.word(slot, this.memory.layout.chunkAt)] as number
  }

  entry(slot: Slot): EntryKey {
    return this.memory.words[this.memory.word(slot, this.memory.layout.entryAt)] as number
  }

  partition(slot: Slot): PartitionId {
    return this.#slots.partition(slot)
  }

  /**
   * Memory slot of an entry's first row (encoded chunk vector), or -1 if the entry has none; `next` gives the slots of the entry's other
   * rows.
   */
  first(entry: EntryKey): Slot {
    return (this.#heads[entry] ?? 0) - 1
  }

  next(slot: Slot): Slot {
    return (this.memory.words[this.memory.word(slot, this.memory.layout.nextAt)] as number) - 1
  }

  /** Address of at least `bytes` bytes for the lists of one search, valid until the next call. */
  arena(bytes: number): number {
    return this.memory.arena(bytes, (first, count) => this.#slots.givePages(first, count))
  }

  /**
   * Address of `bytes` bytes of working memory for a search. In front of them, the same area holds a table with 4 bytes for each entry key,
   * which must not be overwritten, because searches need it to be all zero.
   */
  room(bytes: number): number {
    return this.arena(this.entryCapacity * 4 + bytes) + this.entryCapacity * 4
  }

  /**
   * Adds a row for each of these vectors, whose chunks must have no row yet. Throws `store_corrupt` for a vector that cannot be used;
   * afterwards this object must not be used any more.
   */
  add(rows: Iterable<ChunkVector>): void {
    const { layout } = this.memory
    for (const { chunk, entry, partition, vector } of rows) {
      if (vector.length !== this.dimensions) {
        throw unfitVector(this.model, `has ${vector.length} components, not ${this.dimensions}`)
      }
      const slot = this.append(this.blockFor(partition).home, entry, chunk)
      this.memory.floats.set(vector, (layout.stageAt >>> 2) + this.#staged.length * layout.width)
      this.#staged.push(slot)
      if (this.#staged.length === STAGE_ROWS) this.#encode()
    }
    this.#encode()
  }

  /** Adds a row to the cell and links it with the other rows of its entry. The row's vector is not written yet. */
  append(cell: Cell, entry: EntryKey, chunk: ChunkKey): Slot {
    this.#revision++
    const slot = this.#slots.open(cell)
    this.#count++
    this.#changed.add(cell.block)
    cell.block.rows++
    if (entry >= this.#heads.length) this.#heads = doubled(this.#heads, entry + 1)
    const head = this.#heads[entry] as number
    if (head === 0) cell.block.entries++
    const { memory } = this
    memory.words[memory.word(slot, memory.layout.entryAt)] = entry
    memory.words[memory.word(slot, memory.layout.chunkAt)] = chunk
    memory.words[memory.word(slot, memory.layout.nextAt)] = head
    this.#heads[entry] = slot + 1
    return slot
  }

  /** Moves a row to another cell of its partition. */
  move(slot: Slot, to: Cell): void {
    const place = this.#slots.open(to)
    const from = this.#slots.cellAt(slot)
    this.#carry(slot, place)
    this.#vacate(from, slot)
  }

  removeEntry(entry: EntryKey): void {
    let slot = this.first(entry)
    if (slot < 0) return
    this.#revision++
    const { block } = this.#slots.cellAt(slot)
    this.#changed.add(block)
    block.entries--
    for (; slot >= 0; slot = this.first(entry)) {
      this.#heads[entry] = this.next(slot) + 1
      this.#count--
      block.rows--
      this.#loosePivot(slot)
      this.#vacate(this.#slots.cellAt(slot), slot)
    }
    if (block.rows > 0) return
    this.#blocks.delete(block.partition)
    this.#changed.delete(block)
  }

  /** Records the memory slot of the row that is the pivot (centre) of the cell; -1: no row of the index is. */
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
    const unfit = kernel.encode(layout.stageAt, layout.slotsAt, staged.length)
    if (unfit >= 0) throw unfitVector(this.model, 'is not of unit length, or has a component that is no number')
  }

  /**
   * Fills the slot of a deleted or moved row with the last row of its cell. The row in the slot must already be unlinked from its entry.
   */
  #vacate(cell: Cell, slot: Slot): void {
    const last = lastSlot(cell)
    if (last !== slot) this.#carry(last, slot)
    this.memory.wipeRow(last)
    this.#slots.close(cell)
  }

  /** Copies a row to another slot, and updates the list of its entry's rows, and its cell if the row is a pivot. */
  #carry(from: Slot, to: Slot): void {
    this.#relink(from, to)
    this.memory.copyRow(from, to)
    const cell = this.#pivots.get(from)
    if (cell) this.setPivot(cell, to)
  }

  #loosePivot(slot: Slot): void {
    const cell = this.#pivots.get(slot)
    if (cell === undefined) return
    this.setPivot(cell, -1)
    cell.block.hasLostPivot = true
  }

  /** Replaces the slot `from` by `to` in the list that links the rows of an entry. */
  #relink(from: Slot, to: Slot): void {
    const entry = this.entry(from)
    this.#revision++
    let holder = this.first(entry)
    if (holder === from) {
      this.#heads[entry] = to + 1
      return
    }
    while (this.next(holder) !== from) holder = this.next(holder)
    this.memory.words[this.memory.word(holder, this.memory.layout.nextAt)] = to + 1
  }
}

// Allocates slots to cells, one run of slots (extent) at a time, and finds the cell that a slot belongs to.

export const SMALLEST_EXTENT = 16
const ORDERS = Math.log2(PAGE_ROWS / SMALLEST_EXTENT) + 1

/**
 * Allocates and frees runs of row slots ("extents") by a buddy system over pages of 4,096 slots, in sizes of 16 × 2^n slots. An allocated
 * extent never moves, so one partition's growth never affects the rows of another.
 */
export class ExtentPool {
  /** First slots of the free extents, by order n, where an extent has 16 × 2^n slots. */
  readonly #free: readonly Set<number>[] = Array.from({ length: ORDERS }, () => new Set<number>())
  readonly #newPage: () => number

  /** `newPage` adds a page of slots to the memory and returns its number. */
  constructor(newPage: () => number) {
    this.#newPage = newPage
  }

  /** Allocates an extent of `size` slots, a power of two from 16 to 4,096; returns its first slot. */
  take(size: number): number {
    const order = orderOf(size)
    let from = order
    while (from < ORDERS && this.#at(from).size === 0) from++
    if (from === ORDERS) {
      this.#at(ORDERS - 1).add(this.#newPage() * PAGE_ROWS)
      from--
    }
    const first = must(this.#at(from).values().next().value, 'a free extent')
    this.#at(from).delete(first)
    while (from > order) {
      from--
      this.#at(from).add(first + SMALLEST_EXTENT * 2 ** from)
    }
    return first
  }

  give(first: number, size: number): void {
    let order = orderOf(size)
    let start = first
    while (order < ORDERS - 1) {
      const length = SMALLEST_EXTENT * 2 ** order
      const buddy = start % (2 * length) === 0 ? start + length : start - length
      if (!this.#at(order).delete(buddy)) break
      start = Math.min(start, buddy)
      order++
    }
    this.#at(order).add(start)
  }

  #at(order: number): Set<number> {
    return this.#free[order] as Set<number>
  }
}

function orderOf(size: number): number {
  return Math.log2(size / SMALLEST_EXTENT)
}

/**
 * Maximum size of an extent in slots, which is also the most that a large home (the group of rows in no cell) can leave unused. The home
 * grows by the share `HOME_GROWS_BY`, a cell by the smaller share `CELL_GROWS_BY`, because there are many cells.
 */
const LARGEST_EXTENT = 1024
const HOME_GROWS_BY = 1 / 4
const CELL_GROWS_BY = 1 / 8

export class SlotTable {
  readonly #pool: ExtentPool
  /** Id of the partition that each group of 16 slots belongs to. */
  #partitions = new Int32Array(PAGE_ROWS / SMALLEST_EXTENT)
  readonly #cells: (Cell | undefined)[] = []

  /** `newPage` adds a page of slots to the memory and returns its number. */
  constructor(newPage: () => number) {
    this.#pool = new ExtentPool(newPage)
  }

  get byteLength(): number {
    return this.#partitions.byteLength + this.#cells.length * 8
  }

  /** Makes pages that held the lists of searches available for rows. */
  givePages(first: number, count: number): void {
    for (let page = first; page < first + count; page++) this.#pool.give(page * PAGE_ROWS, PAGE_ROWS)
  }

  partition(slot: Slot): PartitionId {
    return this.#partitions[(slot / SMALLEST_EXTENT) | 0] as number
  }

  cellAt(slot: Slot): Cell {
    return must(this.#cells[(slot / SMALLEST_EXTENT) | 0], 'the cell of a row')
  }

  /**
   * Adds one slot (place for a row in memory) to the cell, behind its last row, and returns it. If the cell's extents (runs of slots) are
   * full, allocates another one first.
   */
  open(cell: Cell): Slot {
    if (cell.rows === cell.capacity) this.#extend(cell)
    cell.rows++
    if (cell.coming > 0) cell.coming--
    return lastSlot(cell)
  }

  /**
   * Removes the slot of the cell's last row from the cell. If the extent (run of slots) that contains this slot then holds no row, frees
   * the extent.
   */
  close(cell: Cell): void {
    const extent = must(cell.extents.at(-1), 'the last extent')
    const last = lastSlot(cell)
    cell.rows--
    if (last > extent.first) return
    cell.extents.pop()
    cell.capacity -= extent.size
    this.#pool.give(extent.first, extent.size)
  }

  /**
   * Allocates another extent to the cell: large enough for the rows that are about to be added, or for a fixed share of its present rows,
   * but at most `LARGEST_EXTENT` slots.
   */
  #extend(cell: Cell): void {
    const rows = Math.max(1, cell.coming, Math.floor(cell.rows * (cell.pivot ? CELL_GROWS_BY : HOME_GROWS_BY)))
    const size = Math.min(LARGEST_EXTENT, Math.max(SMALLEST_EXTENT, 2 ** Math.floor(Math.log2(rows))))
    const first = this.#pool.take(size)
    cell.extents.push({ first, size })
    cell.capacity += size
    const end = (first + size) / SMALLEST_EXTENT
    if (end > this.#partitions.length) this.#partitions = doubled(this.#partitions, end)
    this.#partitions.fill(cell.block.partition, first / SMALLEST_EXTENT, end)
    for (let i = first / SMALLEST_EXTENT; i < end; i++) this.#cells[i] = cell
  }
}
