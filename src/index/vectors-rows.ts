/**
 * The rows of a vector index: a block of extents for each partition, and for each entry the chain of its rows. Rows of
 * one partition never share an extent with another's; deleting one moves the block's last row into its place.
 */
import { must } from '../base/assert.ts'
import type { ChunkKey, EntryKey } from '../model/entry.ts'
import type { PartitionId } from '../model/partition.ts'
import type { ChunkVector } from '../store/store.ts'
import { unfitVector } from './vectors-check.ts'
import { ExtentPool, SMALLEST_EXTENT } from './vectors-extents.ts'
import { PAGE_ROWS, STAGE_ROWS } from './vectors-kernel.ts'
import { VectorMemory } from './vectors-memory.ts'

/** Changes that are remembered at least; up to twice as many. */
const REMEMBERED = 512
/** Slots a large partition grows by: the most it can hold in vain. */
const LARGEST_EXTENT = 1024

/** A row's place: page × 4,096 + place in the page. */
export type Slot = number

export interface Extent {
  readonly first: Slot
  readonly size: number
}

/** One partition's rows: all extents are full but the last. */
export interface Block {
  readonly partition: PartitionId
  readonly extents: Extent[]
  rows: number
  entries: number
  /** Slots in `extents`. */
  capacity: number
}

export class VectorRows {
  readonly dimensions: number
  readonly memory: VectorMemory
  readonly model: string
  readonly #pool: ExtentPool
  readonly #blocks = new Map<PartitionId, Block>()
  /** Slot + 1 of an entry's first row, by entry key; 0: none. */
  #heads = new Int32Array(1024)
  /** Partition of each 16 slots. */
  #partitions = new Int32Array(PAGE_ROWS / SMALLEST_EXTENT)
  #staged: Slot[] = []
  /** Entries whose rows came, went or moved; the last ones, the first of them at this revision. */
  #changed: EntryKey[] = []
  #changedFrom = 0

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
    for (const block of this.blocks) slots += block.capacity
    return pagesAt + (slots / PAGE_ROWS) * pageBytes + this.#heads.byteLength + this.#partitions.byteLength
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
    return this.#changedFrom + this.#changed.length
  }

  /** Entries whose rows changed since; null: too many to remember. */
  changedSince(revision: number): readonly EntryKey[] | null {
    return revision < this.#changedFrom ? null : this.#changed.slice(revision - this.#changedFrom)
  }

  #note(entry: EntryKey): void {
    this.#changed.push(entry)
    if (this.#changed.length < 2 * REMEMBERED) return
    this.#changed = this.#changed.slice(REMEMBERED)
    this.#changedFrom += REMEMBERED
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

  /** A new row of the partition, linked to its entry; its vector is not written. */
  append(partition: PartitionId, entry: EntryKey, chunk: ChunkKey): Slot {
    this.#note(entry)
    const block = this.#blockFor(partition)
    if (block.rows === block.capacity) this.#extend(block, Math.floor(block.rows / 4))
    const last = must(block.extents.at(-1), 'the last extent')
    const slot = last.first + last.size - (block.capacity - block.rows)
    block.rows++
    if (entry >= this.#heads.length) this.#heads = grown(this.#heads, entry + 1)
    const head = this.#heads[entry] as number
    if (head === 0) block.entries++
    const { memory } = this
    memory.words[memory.word(slot, memory.layout.entryAt)] = entry
    memory.words[memory.word(slot, memory.layout.chunkAt)] = chunk
    memory.words[memory.word(slot, memory.layout.nextAt)] = head
    this.#heads[entry] = slot + 1
    return slot
  }

  removeEntry(entry: EntryKey): void {
    let slot = this.first(entry)
    if (slot < 0) return
    this.#note(entry)
    const block = must(this.block(this.partition(slot)), 'the block of a row')
    block.entries--
    for (; slot >= 0; slot = this.first(entry)) {
      this.#heads[entry] = this.next(slot) + 1
      this.#dropRow(block, slot)
    }
  }

  #encode(): void {
    const { kernel, layout, words } = this.memory
    const staged = this.#staged
    this.#staged = []
    words.set(staged, layout.slotsAt >>> 2)
    const unfit = kernel.encode(layout.stageAt, layout.slotsAt, staged.length, layout.meanAt)
    if (unfit >= 0) throw unfitVector(this.model, 'is not of unit length, or has a component that is no number')
  }

  #blockFor(partition: PartitionId): Block {
    let block = this.#blocks.get(partition)
    if (block === undefined) {
      block = { partition, extents: [], rows: 0, entries: 0, capacity: 0 }
      this.#blocks.set(partition, block)
    }
    return block
  }

  /** Appends an extent for about `rows` rows. */
  #extend(block: Block, rows: number): void {
    const size = Math.min(LARGEST_EXTENT, Math.max(SMALLEST_EXTENT, 2 ** Math.floor(Math.log2(Math.max(1, rows)))))
    const first = this.#pool.take(size)
    block.extents.push({ first, size })
    block.capacity += size
    const end = (first + size) / SMALLEST_EXTENT
    if (end > this.#partitions.length) this.#partitions = grown(this.#partitions, end)
    this.#partitions.fill(block.partition, first / SMALLEST_EXTENT, end)
  }

  /** Fills the slot, which no chain holds any more, with the block's last row. */
  #dropRow(block: Block, slot: Slot): void {
    const extent = must(block.extents.at(-1), 'the last extent')
    const last = extent.first + extent.size - (block.capacity - block.rows) - 1
    if (last !== slot) {
      this.#relink(last, slot)
      this.#copy(last, slot)
    }
    this.#wipe(last)
    block.rows--
    if (last > extent.first) return
    block.extents.pop()
    block.capacity -= extent.size
    this.#pool.give(extent.first, extent.size)
    if (block.rows === 0) this.#blocks.delete(block.partition)
  }

  /** Makes the chain that holds `from` hold `to` in its stead. */
  #relink(from: Slot, to: Slot): void {
    const entry = this.entry(from)
    this.#note(entry)
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
