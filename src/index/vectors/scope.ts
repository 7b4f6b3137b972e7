/**
 * Writes into memory, for the kernel, which rows (quantised vectors) one search may read: the runs of memory slots of the searched
 * partitions, and the set of allowed entries. Also lays out memory for the results. A filter that allows few entries is turned into a list
 * of their rows, which makes the search faster.
 */
import type { Bitset } from '../../base/bitset.ts'
import type { PartitionId } from '../../model/partition.ts'
import type { SearchScope } from '../contract.ts'
import { type Block, cellsOf, extentCount, type Slot, writeExtents } from './cells.ts'
import type { VectorRows } from './rows.ts'

/**
 * How a filter is applied, by the share of the scope's entries that it allows. Up to `LOOKED_UP`, the rows of the allowed entries are
 * looked up one by one; up to `SIFTED`, the kernel lists the allowed rows in one scan; above that, the passes of the search test each row.
 */
const LOOKED_UP = 1 / 16
const SIFTED = 0.3

export interface Scope extends Addresses {
  readonly blocks: readonly Block[]
  /**
   * Number of rows (quantised vectors) that the search examines: those in the list made for a strict filter if there is one, otherwise all
   * rows of the searched partitions.
   */
  readonly rows: number
  /**
   * `entries`: number of entries in the partitions that the search covers. `part`: the share of these entries that the search's filter
   * allows, at most 1.
   */
  readonly entries: number
  readonly part: number
  readonly extentCount: number
}

/**
 * Cached result of a filter: which vectors (one per chunk) belong to the entries that the filter allows. Kept because the same filter is
 * often used for several searches.
 */
interface Met {
  readonly partitions: readonly PartitionId[]
  readonly revision: number
  readonly rowsRevision: number
  /** Number of vector rows (a row is the vector of one chunk) in the searched partitions whose entry is in the set of allowed entries. */
  readonly count: number
  /** Numbers of the memory slots that hold the vector rows of allowed entries; null if those rows were only counted. */
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

  /**
   * Lays out in the memory of the compiled search kernel what one vector search may read (partitions and allowed entries) and room for its
   * results. The layout is valid until the next call of this method or until rows of the index change. The extents (ranges of consecutive
   * rows) get an address but are not written: the caller that needs them calls `writeExtents`.
   */
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

  /** Writes the extents (ranges of consecutive vector rows) of all rows in the given blocks to the memory of the compiled search kernel. */
  writeExtents({ blocks, extents }: Pick<Scope, 'blocks' | 'extents'>): void {
    let place = extents / 4
    for (const block of blocks) {
      for (const cell of cellsOf(block)) place = writeExtents(cell, this.#rows.memory.words, place)
    }
  }

  /**
   * Address of additional memory of the compiled search kernel, `bytes` long; valid until the next search is laid out or rows of the index
   * change.
   */
  room(bytes: number): number {
    return this.#room.other(bytes)
  }

  /** Number of vector rows in the searched partitions whose entry is allowed; all rows if the scope has no set of allowed entries. */
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

  /**
   * Writes the slot numbers of all vector rows of allowed entries to the address `list` in the memory of the compiled search kernel;
   * returns the number of rows.
   */
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

  /**
   * The blocks of memory that hold the vectors of the searched partitions. The result for the last set of partitions is cached, because one
   * viewer usually makes several searches.
   */
  #blocks({ partitions }: SearchScope): readonly Block[] {
    const { revision } = this.#rows
    if (this.#found?.partitions !== partitions || this.#found.revision !== revision) {
      const blocks = [...new Set(partitions)].map(partition => this.#rows.block(partition))
      this.#found = { partitions, revision, blocks: blocks.filter(block => block !== undefined) }
    }
    return this.#found.blocks
  }

  /**
   * For a small set of allowed entries: looks up each entry and writes the slot numbers of its rows, if its partition is searched, to the
   * address `at`; returns the number of rows.
   */
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

/** An array indexed by partition id with 1 at each of the given partitions and 0 elsewhere. */
function flagsOf(partitions: readonly PartitionId[]): Uint8Array {
  const flags = new Uint8Array(1 + partitions.reduce((most, partition) => Math.max(most, partition), 0))
  for (const partition of partitions) flags[partition] = 1
  return flags
}

// Allocates memory of the compiled search kernel for one vector search: row lists, working space for results, and tables indexed by entry
// key.

/**
 * Addresses, in the memory of the compiled search kernel, of the lists and tables of one vector search; 0 if the search does not have that
 * list or table.
 */
export interface Addresses {
  readonly extents: number
  /** List of the slot numbers of the rows to search, if allowed entries restrict the search to a list of rows. */
  readonly list: number
  /** Bit set of the allowed entries, used if the search has such a set but no list of rows. */
  readonly allow: number
  /**
   * Table with one 32-bit number per entry key, initially all 0, in which the kernel notes where an entry is in its heap of best results.
   */
  readonly places: number
  /**
   * Addresses of the space for results: of the first pass over the vectors, by coarse codes (8 bytes per vector), of the second pass, by
   * finer codes (16 bytes per vector), and of the second pass's heap of best entries.
   */
  readonly codeRecords: number
  readonly rankRecords: number
  readonly heap: number
}

/** Numbers from which the sizes of a vector search's lists and tables are computed. */
export interface Amounts {
  readonly extents: number
  readonly rows: number
  /** Maximum number of entries that the search returns. */
  readonly k: number
  readonly hasAllow: boolean
}

export class SearchRoom {
  readonly #rows: VectorRows
  /**
   * Of the last vector search: the address of `places` (the table in which the search kernel notes, by entry key, where an entry is in the
   * heap of results), and the number of entries for which that table has room.
   */
  #places = 0
  #placesFor = 0

  constructor(rows: VectorRows) {
    this.#rows = rows
  }

  /**
   * Allocates the lists and tables of one vector search. The addresses are valid until the next allocation or until rows of the index
   * change.
   */
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

  /**
   * Address of additional memory of the compiled search kernel, `bytes` long; valid until the next search is laid out or rows of the index
   * change.
   */
  other(bytes: number): number {
    const capacity = this.#rows.entryCapacity
    const at = this.#rows.room(bytes)
    this.#clearPlaces(at - capacity * 4, capacity)
    return at
  }

  /**
   * Writes the bit set of allowed entries to the address `at` in the memory of the compiled search kernel; returns a view of the written
   * 32-bit words.
   */
  writeAllow(allow: Bitset, at: number): Uint32Array {
    const bits = this.#rows.memory.words.subarray(at / 4, at / 4 + this.#rows.entryCapacity / 32)
    allow.copyTo(bits)
    return bits
  }

  /**
   * The search kernel sets the table by entry key (`places`) back to 0 after each search, so the table must be cleared here only if its
   * address or size has changed.
   */
  #clearPlaces(at: number, capacity: number): void {
    if (at === this.#places && capacity === this.#placesFor) return
    this.#rows.memory.bytes.fill(0, at, at + capacity * 4)
    this.#places = at
    this.#placesFor = capacity
  }
}
