/** The beliefs that a query may answer with: in scope, valid, and through every filter. */

import { Bitset } from '../../../base/bitset.ts'
import { placeIn } from '../../../base/compare.ts'
import type { EntryKey } from '../../../model/entry.ts'
import { FEDERATED, LOCAL, NETWORK } from '../access/row-origins.ts'
import type { BeliefColumns } from '../columns/columns.ts'
import type { ScopeKind } from '../model.ts'

/** Rows in ascending order, with their sources. Never changed. */
export class Matches {
  readonly #columns: BeliefColumns
  readonly #rows: Int32Array
  readonly #sources: Uint8Array
  #bits: Bitset | null = null

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
    return this.#rows[placeIn(this.#rows, row)] === row
  }

  /** `LOCAL`, `FEDERATED` or `NETWORK`, of a row that is one of these. */
  sourceOf(row: number): number {
    return this.#sources[placeIn(this.#rows, row)] as number
  }

  /** The same as entries, whatever becomes of their rows: keys are never given again. */
  get bits(): Bitset {
    this.#bits ??= this.#asBits()
    return this.#bits
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

  /** Those of these entries that are among them. */
  only(entries: Iterable<EntryKey>): Matches {
    const places: number[] = []
    for (const entry of entries) {
      const row = this.#columns.rowOf(entry)
      const place = placeIn(this.#rows, row)
      if (row !== -1 && this.#rows[place] === row) places.push(place)
    }
    const sorted = Int32Array.from(places).sort()
    return new Matches(
      this.#columns,
      sorted.map(place => this.#rows[place] as number),
      Uint8Array.from(sorted, place => this.#sources[place] as number),
    )
  }

  /** All but these rows. */
  without(gone: ReadonlySet<number>): Matches {
    return gone.size === 0 ? this : this.where(row => !gone.has(row))
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

  #asBits(): Bitset {
    const { entries } = this.#columns.arrays
    let last = 0
    for (const row of this.#rows) last = Math.max(last, entries[row] as EntryKey)
    const bits = new Bitset(last + 1)
    for (const row of this.#rows) bits.add(entries[row] as EntryKey)
    return bits
  }
}
