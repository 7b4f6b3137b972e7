/** Room in the kernel's memory for one search: where its lists lie, and the tables by entry key that it is given. */
import type { Bitset } from '../../base/bitset.ts'
import type { Prior } from '../contract.ts'
import type { VectorRows } from './rows.ts'

/** Addresses in the kernel's memory; 0 where there is no such thing. */
export interface Addresses {
  readonly extents: number
  /** Rows of allowed entries. */
  readonly list: number
  /** Bits to be tested, where no list says it already. */
  readonly allow: number
  readonly prior: number
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
  readonly hasPrior: boolean
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
  layOut({ extents, rows, k, hasAllow, hasPrior }: Amounts): Addresses {
    const capacity = this.#rows.entryCapacity
    const sizes = [
      capacity * 4,
      extents * 8,
      hasAllow ? capacity / 8 : 0,
      hasPrior ? capacity * 4 : 0,
      hasAllow ? (rows + 1) * 4 : 0,
      (rows + 1) * 8,
      rows * 16,
      k * 16,
    ].map(size => Math.ceil(size / 64) * 64)
    let end = this.#rows.arena(sizes.reduce((sum, size) => sum + size, 0))
    const [places, extentsAt, allow, prior, list, codeRecords, rankRecords, heap] = sizes.map(size => {
      end += size
      return end - size
    }) as [number, number, number, number, number, number, number, number]
    this.#clearPlaces(places, capacity)
    return {
      places,
      extents: extentsAt,
      allow: hasAllow ? allow : 0,
      prior: hasPrior ? prior : 0,
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

  writePrior(prior: Prior, at: number): void {
    const length = this.#rows.entryCapacity
    const { floats } = this.#rows.memory
    const values = prior.values.length > length ? prior.values.subarray(0, length) : prior.values
    floats.set(values, at / 4)
    floats.fill(0, at / 4 + values.length, at / 4 + length)
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
