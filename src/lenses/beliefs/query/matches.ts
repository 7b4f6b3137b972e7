/** The beliefs that a query may answer with: in scope, valid, and through every filter. */
import { Bitset } from '../../../base/bitset.ts'
import type { EntryKey } from '../../../model/entry.ts'
import type { ScopeKind } from '../model.ts'
import type { BeliefColumns } from '../record/columns.ts'
import { type SharedRows, sharedAmong } from '../record/shared-rows.ts'

/** Where a row comes from, as a number. */
export const LOCAL = 1
export const FEDERATED = 2
export const NETWORK = 3

/** All of the first but those of the second; a few. */
export interface FrozenEntries {
  readonly among: Bitset
  readonly less: ReadonlySet<EntryKey>
}

/** Rows in ascending order, with their sources. Shrinks only. */
export class Matches {
  readonly #columns: BeliefColumns
  #rows: Int32Array
  #sources: Uint8Array
  /** What these were taken from by leaving out a few. */
  #less: { readonly from: Matches; readonly gone: ReadonlySet<number> } | null = null
  #bits: Bitset | null = null
  #shared: SharedRows | null = null

  constructor(columns: BeliefColumns, rows: Int32Array, sources: Uint8Array) {
    this.#columns = columns
    this.#rows = rows
    this.#sources = sources
  }

  get rows(): Int32Array {
    return this.#rows
  }

  get count(): number {
    return this.#rows.length
  }

  /** `LOCAL`, `FEDERATED` or `NETWORK`, by place in `rows`. */
  get sources(): Uint8Array {
    return this.#sources
  }

  has(row: number): boolean {
    return this.bits.has(this.#columns.arrays.entries[row] as EntryKey)
  }

  /** `LOCAL`, `FEDERATED` or `NETWORK`, of a row that is one of these. */
  sourceOf(row: number): number {
    return this.#sources[this.#placeOf(row)] as number
  }

  /** The same as entries. */
  get bits(): Bitset {
    this.#bits ??= this.#asBits()
    return this.#bits
  }

  /** Which entries these are, whatever becomes of their rows: keys are never given again. */
  frozen(): FrozenEntries {
    if (this.#less === null) return { among: this.bits, less: new Set() }
    const { among, less } = this.#less.from.frozen()
    return { among, less: new Set([...less, ...this.#entriesOf(this.#less.gone)]) }
  }

  /** What these were taken from by leaving out a few rows; null: they were found on their own. */
  get taken(): { readonly from: Matches; readonly gone: ReadonlySet<number> } | null {
    return this.#less
  }

  /** Those that have their id, or their content, with another of these. */
  get shared(): SharedRows {
    this.#shared ??= sharedAmong(this.#columns, this.#rows)
    return this.#shared
  }

  /** How many are from each source. */
  counts(): Readonly<Record<ScopeKind, number>> {
    const counts = new Uint32Array(4)
    for (const source of this.#sources) counts[source] = (counts[source] as number) + 1
    return {
      local: counts[LOCAL] as number,
      federated: counts[FEDERATED] as number,
      network: counts[NETWORK] as number,
    }
  }

  /** All but a few. */
  without(gone: ReadonlySet<number>): Matches {
    if (gone.size === 0) return this
    const left = this.where(row => !gone.has(row))
    left.#less = { from: this, gone }
    return left
  }

  /** Those for which this holds. */
  where(holds: (row: number, source: number) => boolean): Matches {
    const rows = new Int32Array(this.count)
    const sources = new Uint8Array(this.count)
    let count = 0
    for (let place = 0; place < this.count; place++) {
      const row = this.#rows[place] as number
      const source = this.#sources[place] as number
      if (!holds(row, source)) continue
      rows[count] = row
      sources[count++] = source
    }
    return count === this.count ? this : new Matches(this.#columns, rows.subarray(0, count), sources.subarray(0, count))
  }

  /** -1: it is none of these. */
  #placeOf(row: number): number {
    let from = 0
    let to = this.#rows.length - 1
    while (from <= to) {
      const middle = (from + to) >> 1
      const found = this.#rows[middle] as number
      if (found === row) return middle
      if (found < row) from = middle + 1
      else to = middle - 1
    }
    return -1
  }

  #lastEntry(): EntryKey {
    const { entries } = this.#columns.arrays
    let last = 0
    for (const row of this.#rows) {
      const entry = entries[row] as EntryKey
      if (entry > last) last = entry
    }
    return last
  }

  #entriesOf(rows: ReadonlySet<number>): EntryKey[] {
    return [...rows].map(row => this.#columns.arrays.entries[row] as EntryKey)
  }

  #asBits(): Bitset {
    if (this.#less !== null) return this.#less.from.bits.without(Bitset.of(this.#entriesOf(this.#less.gone)))
    const { entries } = this.#columns.arrays
    const bits = new Bitset(this.#lastEntry() + 1)
    for (let place = 0; place < this.count; place++) bits.add(entries[this.#rows[place] as number] as EntryKey)
    return bits
  }
}
