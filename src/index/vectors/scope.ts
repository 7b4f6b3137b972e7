/**
 * What one search may look at, laid out where the kernel reads it: the extents of the partitions and the entries allowed;
 * and room for what the passes write. A narrow filter becomes a list of rows, so it costs less than none.
 */
import type { Bitset } from '../../base/bitset.ts'
import type { PartitionId } from '../../model/partition.ts'
import type { SearchScope } from '../contract.ts'
import { type Block, cellsOf, extentCount, type Slot, writeExtents } from './cells.ts'
import type { VectorRows } from './rows.ts'

/** Below this part of the scope's entries, allowed ones are looked up one by one; up to the next, rows are sifted. */
const LOOKED_UP = 1 / 16
const SIFTED = 0.3

export interface Scope extends Addresses {
  readonly blocks: readonly Block[]
  /** Rows to be looked at: those of the list if there is one, else of the extents. */
  readonly rows: number
  /** Entries in the partitions, and which part of them is allowed (at most 1). */
  readonly entries: number
  readonly part: number
  readonly extentCount: number
}

/** What a set of allowed entries came to when it was met last: the same filter is often asked again. */
interface Met {
  readonly partitions: readonly PartitionId[]
  readonly revision: number
  readonly rowsRevision: number
  /** Number of allowed rows. */
  readonly count: number
  /** Their slots, where a list was made. */
  readonly slots: Uint32Array | null
}

interface Found {
  readonly partitions: readonly PartitionId[]
  readonly revision: number
  readonly blocks: readonly Block[]
}

export class ScopeWriter {
  readonly #rows: VectorRows
  readonly #room: SearchRoom
  readonly #met = new WeakMap<Bitset, Met>()
  #found: Found | null = null

  constructor(rows: VectorRows) {
    this.#rows = rows
    this.#room = new SearchRoom(rows)
  }

  /** Valid until the next call, or until rows change. Extents are still to be written, by whoever reads them. */
  write(scope: SearchScope, k: number): Scope {
    const blocks = this.#blocks(scope)
    const rows = sum(blocks, block => block.rows)
    const entries = sum(blocks, block => block.entries)
    const extents = sum(blocks, extentCount)
    const at = this.#room.layOut({
      extents,
      rows,
      k: Math.min(k, entries),
      hasAllow: scope.allow !== undefined,
    })
    const part = Math.min(1, (scope.allow?.size ?? entries) / Math.max(1, entries))
    const whole = { ...at, blocks, rows, entries, part, extentCount: extents, list: 0 }
    if (!scope.allow) return whole
    if (part > SIFTED) {
      this.#room.writeAllow(scope.allow, at.allow)
      return whole
    }
    return { ...whole, rows: this.#list(scope, scope.allow, whole, at.list), list: at.list, allow: 0 }
  }

  /** Those of all rows in the blocks. */
  writeExtents({ blocks, extents }: Pick<Scope, 'blocks' | 'extents'>): void {
    let place = extents / 4
    for (const block of blocks) {
      for (const cell of cellsOf(block)) place = writeExtents(cell, this.#rows.memory.words, place)
    }
  }

  /** Address of room for other lists, valid as long as a scope is. */
  room(bytes: number): number {
    return this.#room.other(bytes)
  }

  /** Number of rows whose entry is allowed. */
  count(scope: SearchScope): number {
    const { allow } = scope
    if (!allow) return sum(this.#blocks(scope), block => block.rows)
    const met = this.#recall(scope, allow)
    if (met) return met.count
    const written = this.write({ partitions: scope.partitions, allow }, 0)
    if (written.list > 0) return written.rows
    const { kernel } = this.#rows.memory
    this.writeExtents(written)
    const count = kernel.select(written.extents, written.extentCount, written.allow, written.codeRecords)
    this.#remember(scope, allow, count, null)
    return count
  }

  /** Lists the rows of allowed entries at this address; returns their number. */
  #list(scope: SearchScope, allow: Bitset, whole: Scope, list: number): number {
    const { words, kernel } = this.#rows.memory
    const met = this.#recall(scope, allow)
    if (met?.slots) {
      words.set(met.slots, list / 4)
      return met.count
    }
    const bits = this.#room.writeAllow(allow, whole.allow)
    let listed: number
    if (whole.part > LOOKED_UP) {
      this.writeExtents(whole)
      listed = kernel.select(whole.extents, whole.extentCount, whole.allow, list)
    } else listed = this.#lookUp(bits, whole.blocks, list)
    this.#remember(scope, allow, listed, words.slice(list / 4, list / 4 + listed))
    return listed
  }

  #recall({ partitions }: SearchScope, allow: Bitset): Met | undefined {
    const met = this.#met.get(allow)
    const holds =
      met?.partitions === partitions && met.revision === allow.revision && met.rowsRevision === this.#rows.revision
    return holds ? met : undefined
  }

  #remember({ partitions }: SearchScope, allow: Bitset, count: number, slots: Uint32Array | null): void {
    this.#met.set(allow, { partitions, revision: allow.revision, rowsRevision: this.#rows.revision, count, slots })
  }

  /** Kept, for the same viewer mostly asks more than once. */
  #blocks({ partitions }: SearchScope): readonly Block[] {
    const { revision } = this.#rows
    if (this.#found?.partitions !== partitions || this.#found.revision !== revision) {
      const blocks = [...new Set(partitions)].map(partition => this.#rows.block(partition))
      this.#found = { partitions, revision, blocks: blocks.filter(block => block !== undefined) }
    }
    return this.#found.blocks
  }

  /** Lists the rows of the allowed entries that are in these blocks; returns their number. */
  #lookUp(bits: Uint32Array, blocks: readonly Block[], at: number): number {
    const rows = this.#rows
    const visible = flagsOf(blocks.map(block => block.partition))
    const { words } = rows.memory
    let end = at / 4
    for (let word = 0; word < bits.length; word++) {
      for (let left = bits[word] as number; left !== 0; left &= left - 1) {
        let slot: Slot = rows.first(word * 32 + 31 - Math.clz32(left & -left))
        if (slot < 0 || visible[rows.partition(slot)] !== 1) continue
        for (; slot >= 0; slot = rows.next(slot)) words[end++] = slot
      }
    }
    return end - at / 4
  }
}

function sum<T>(items: readonly T[], of: (item: T) => number): number {
  return items.reduce((total, item) => total + of(item), 0)
}

/** 1 for each of them, by number. */
function flagsOf(partitions: readonly PartitionId[]): Uint8Array {
  const flags = new Uint8Array(1 + partitions.reduce((most, partition) => Math.max(most, partition), 0))
  for (const partition of partitions) flags[partition] = 1
  return flags
}

// Room in the kernel's memory for one search: where its lists lie, and the tables by entry key that it is given.

/** Addresses in the kernel's memory; 0 where there is no such thing. */
export interface Addresses {
  readonly extents: number
  /** Rows of allowed entries. */
  readonly list: number
  /** Bits to be tested, where no list says it already. */
  readonly allow: number
  /** A table by entry key, all 0. */
  readonly places: number
  /** Room for the records of the two passes (8 and 16 bytes a row) and for the heap of the second. */
  readonly codeRecords: number
  readonly rankRecords: number
  readonly heap: number
}

/** How much there is of each. */
export interface Amounts {
  readonly extents: number
  readonly rows: number
  /** Entries wanted. */
  readonly k: number
  readonly hasAllow: boolean
}

export class SearchRoom {
  readonly #rows: VectorRows
  /** Where the table of places lay last, and for how many entries. */
  #places = 0
  #placesFor = 0

  constructor(rows: VectorRows) {
    this.#rows = rows
  }

  /** Valid until the next call, or until rows change. */
  layOut({ extents, rows, k, hasAllow }: Amounts): Addresses {
    const capacity = this.#rows.entryCapacity
    const sizes = [
      capacity * 4,
      extents * 8,
      hasAllow ? capacity / 8 : 0,
      hasAllow ? (rows + 1) * 4 : 0,
      (rows + 1) * 8,
      rows * 16,
      k * 16,
    ].map(size => Math.ceil(size / 64) * 64)
    let end = this.#rows.arena(sizes.reduce((sum, size) => sum + size, 0))
    const [places, extentsAt, allow, list, codeRecords, rankRecords, heap] = sizes.map(size => {
      end += size
      return end - size
    }) as [number, number, number, number, number, number, number]
    this.#clearPlaces(places, capacity)
    return {
      places,
      extents: extentsAt,
      allow: hasAllow ? allow : 0,
      list,
      codeRecords,
      rankRecords,
      heap,
    }
  }

  /** Address of room for other lists, valid as long. */
  other(bytes: number): number {
    const capacity = this.#rows.entryCapacity
    const at = this.#rows.room(bytes)
    this.#clearPlaces(at - capacity * 4, capacity)
    return at
  }

  /** Gives the words it wrote. */
  writeAllow(allow: Bitset, at: number): Uint32Array {
    const bits = this.#rows.memory.words.subarray(at / 4, at / 4 + this.#rows.entryCapacity / 32)
    allow.copyTo(bits)
    return bits
  }

  /** The kernel leaves the table of places all 0; after it moved or grew, it must be made so. */
  #clearPlaces(at: number, capacity: number): void {
    if (at === this.#places && capacity === this.#placesFor) return
    this.#rows.memory.bytes.fill(0, at, at + capacity * 4)
    this.#places = at
    this.#placesFor = capacity
  }
}
