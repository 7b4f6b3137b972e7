/** The beliefs that a query may answer with: in scope, valid, and through every filter. */
import { placeIn } from '../../../base/ascending.ts'
import { Bitset } from '../../../base/bitset.ts'
import type { EntryKey } from '../../../model/entry.ts'
import { FEDERATED, LOCAL, NETWORK } from '../access/source-numbers.ts'
import type { BeliefColumns } from '../columns/columns.ts'
import type { GoneRow } from '../columns/partition-rows.ts'
import { type SharedRows, sharedAfter, sharedAmong } from '../columns/shared-rows.ts'
import type { ScopeKind } from '../model.ts'
import { spliced } from './spliced.ts'

const NOTHING: ReadonlySet<EntryKey> = new Set()

/** All of the first but those of the second; a few. */
export interface FrozenEntries {
  readonly among: Bitset
  readonly less: ReadonlySet<EntryKey>
}

/** What made other matches of some. */
interface Step {
  readonly from: MatchesToken
  /** Those that went, with the source they had. */
  readonly gone: readonly (GoneRow & { readonly source: number })[]
  /** Those that came. */
  readonly came: Matches
}

/** Stands for matches, without holding them. */
export type MatchesToken = object

/** Entries that may be changed before what was made of all matches is not worth following them. */
const MOST_SINCE = 500

/** Rows in ascending order, with their sources. Never changed. */
export class Matches {
  readonly token: MatchesToken = {}
  /** Of the matches that these go back to, step by step; and the entries that came, went or changed since. */
  #root: { readonly token: MatchesToken; readonly since: ReadonlySet<EntryKey> } = { token: this.token, since: NOTHING }
  #step: Step | null = null
  readonly #columns: BeliefColumns
  readonly #rows: Int32Array
  readonly #sources: Uint8Array
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
    return this.#sources[placeIn(this.#rows, row)] as number
  }

  get root(): { readonly token: MatchesToken; readonly since: ReadonlySet<EntryKey> } {
    return this.#root
  }

  /** From the matches that these were made of; null: they were found on their own. */
  get step(): Step | null {
    return this.#step
  }

  /** Less those entries, which were among these, and with others, found among rows as they are now. */
  changed(gone: ReadonlyMap<EntryKey, GoneRow>, came: Matches): Matches {
    const { rows, sources } = spliced(this, new Set([...gone.values()].map(({ row }) => row)), came)
    const made = new Matches(this.#columns, rows, sources)
    const sourceOf = (row: number) => this.sourceOf(row)
    made.#step = {
      from: this.token,
      gone: [...gone.values()].map(one => ({ ...one, source: sourceOf(one.row) })),
      came,
    }
    const cameEntries = came.#entriesOf(came.rows)
    made.#bits = this.bits.without(Bitset.of(gone.keys())).or(Bitset.of(cameEntries))
    const since = new Set([...this.#root.since, ...gone.keys(), ...cameEntries])
    if (since.size <= MOST_SINCE) made.#root = { token: this.#root.token, since }
    if (this.#shared !== null) made.#shared = sharedAfter(this.#columns, this.#shared, made.#rows, came.rows)
    return made
  }

  /** The same as entries. */
  get bits(): Bitset {
    this.#bits ??= this.#asBits()
    return this.#bits
  }

  /** For who keeps them: which entries these are is found out while their rows say it. */
  pin(): void {
    this.#bits ??= this.#asBits()
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
    if (left !== this) left.#less = { from: this, gone }
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

  #lastEntry(): EntryKey {
    const { entries } = this.#columns.arrays
    let last = 0
    for (const row of this.#rows) {
      const entry = entries[row] as EntryKey
      if (entry > last) last = entry
    }
    return last
  }

  #entriesOf(rows: Iterable<number>): EntryKey[] {
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
