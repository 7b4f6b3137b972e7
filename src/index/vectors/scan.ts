/**
 * The passes of a search over quantised vectors (rows). An approximate search first chooses about a thousand rows by the Hamming distance
 * of sign codes, then a few hundred by inner products of sign codes with the query. Int8 components with error bounds then leave the few
 * rows that may be best. An exact search does only the last, and misses none.
 */

import { must } from '../../base/assert.ts'
import { norm } from '../../math/vector.ts'
import type { EntryKey } from '../../model/entry.ts'
import type { Hit, SearchScope, VectorSearch } from '../contract.ts'
import { type Block, type Cell, type CellLimits, pivotOf, type Slot, writeExtents } from './cells.ts'
import type { VectorRows } from './rows.ts'
import { type Scope, ScopeWriter } from './scope.ts'

/**
 * Minimum number of rows (quantised vectors) that the first pass of an approximate search chooses by their sign codes: `CHOSEN` in all, and
 * `CHOSEN_PER_ENTRY` for each entry wanted.
 */
const CHOSEN = 1000
const CHOSEN_PER_ENTRY = 24
/**
 * The rows chosen by sign codes are scored in groups by their int8 components: first at least the share `RANKED` of them and
 * `RANKED_PER_ENTRY` for each entry wanted, then half as many at a time, until a group adds at most 1 in `FEW` of the wanted entries. Scoring
 * is slow, because the rows are far apart in memory. Over a million rows an eighth, or 128 rows, loses results (docs/decisions/007).
 */
const RANKED = 1 / 4
const RANKED_PER_ENTRY = 4
const FEW = 100
/**
 * If a search covers few rows (quantised vectors), neighbours are less near to the query, so more rows are chosen by sign codes: at least
 * `CHOSEN_OF_FEW` minus the number of rows / `ROWS_FOR_ONE_LESS`.
 */
const CHOSEN_OF_FEW = 2400
const ROWS_FOR_ONE_LESS = 40
/**
 * If a search covers very many rows (quantised vectors), more of them are near to the query by chance, so more are chosen by sign codes: at
 * least one in `ROWS_FOR_ONE_MORE`.
 */
const ROWS_FOR_ONE_MORE = 500
/**
 * If the first pass would have to choose more than one in `MIN_CHOICES` rows by sign codes, the search is exact instead, because computing
 * the int8 products of all rows is then as fast.
 */
const MIN_CHOICES = 4
/** Largest i32: the query is rounded so coarsely that the sum of its `width` products (i16 × i8) with a row cannot exceed this number. */
const LARGEST_SUM = 2 ** 31 - 1

/** A row that may be among the best; its score is a cosine computed from int8 components. */
export interface Candidate extends Hit {
  readonly slot: Slot
}

export class VectorScan {
  readonly #rows: VectorRows
  readonly #scopes: ScopeWriter
  readonly #near: NearCells
  /**
   * Maxima over all encoded vectors at the time when the query was last copied into the kernel, because the query's error bounds were
   * computed from them; null: no query was copied yet.
   */
  #asked: { readonly residual: number; readonly square: number } | null = null

  constructor(rows: VectorRows, limits: CellLimits) {
    this.#rows = rows
    this.#scopes = new ScopeWriter(rows)
    this.#near = new NearCells(rows, limits)
  }

  count(scope: SearchScope): number {
    return this.#scopes.count(scope)
  }

  /**
   * Rows (chunk vectors) that may be the best ones of the k best entries. The true ones are among them, in no particular order, together
   * with some rows of other entries.
   */
  candidates(request: VectorSearch): Candidate[] {
    const { k, least = Number.NEGATIVE_INFINITY } = request
    const scope = this.#scopes.write(request, k)
    if (scope.rows === 0 || k === 0) return []
    this.#ask(request.vector)
    const entries = Math.min(k, scope.entries)
    const ofFew = CHOSEN_OF_FEW - scope.rows / ROWS_FOR_ONE_LESS
    const chosen = Math.max(CHOSEN, ofFew, scope.rows / ROWS_FOR_ONE_MORE, CHOSEN_PER_ENTRY * entries)
    if (request.approximate && scope.rows >= MIN_CHOICES * chosen) {
      return this.#approximate(scope, entries, Math.ceil(chosen), least)
    }
    const { kernel } = this.#rows.memory
    this.#openRank(scope, entries, least)
    if (scope.list > 0) kernel.rankList(scope.list, scope.rows)
    else {
      this.#scopes.writeExtents(scope)
      kernel.rank(scope.extents, scope.extentCount)
    }
    return this.#closeRank(scope)
  }

  /**
   * For each of these entries, those of its rows (chunk vectors) that may be its best one, because the error bounds do not exclude it. The
   * scores are cosines computed from int8 components.
   */
  best(vector: Float32Array, entries: readonly EntryKey[]): Candidate[] {
    const slots: Slot[] = []
    const ends = entries.map(entry => {
      for (let slot = this.#rows.first(entry); slot >= 0; slot = this.#rows.next(slot)) slots.push(slot)
      return slots.length
    })
    const at = this.#valuesOf(vector, slots)
    return ends.flatMap((end, i) => this.#atTop(slots, ends[i - 1] ?? 0, end, at))
  }

  /** All rows of an entry, in no particular order. Scores are cosines from int8 components. */
  all(vector: Float32Array, entry: EntryKey): Candidate[] {
    const slots: Slot[] = []
    for (let slot = this.#rows.first(entry); slot >= 0; slot = this.#rows.next(slot)) slots.push(slot)
    const at = this.#valuesOf(vector, slots)
    const { doubles } = this.#rows.memory
    return slots.map((slot, i) => this.#candidate(slot, Math.fround(doubles[at + 2 * i] as number)))
  }

  /**
   * Computes, for the row (quantised vector) in each of these slots, the cosine with the query from int8 components and a bound on its
   * error. They are stored in `doubles` as pairs of cosine and bound; returns the index of the first pair.
   */
  #valuesOf(vector: Float32Array, slots: readonly Slot[]): number {
    this.#ask(vector)
    const at = this.#scopes.room(slots.length * 24)
    const { kernel, words } = this.#rows.memory
    words.set(slots, at / 4)
    const to = at + Math.ceil(slots.length / 2) * 8
    kernel.values(at, slots.length, to)
    return to / 8
  }

  /**
   * Computes the Hamming distances between the query's sign code and those of all rows in the scope, and nothing else; the least time of
   * any search, for benchmarks.
   */
  sweepDistances(vector: Float32Array, scope: SearchScope): void {
    const { kernel, layout } = this.#rows.memory
    const written = this.#scopes.write(scope, 1)
    this.#scopes.writeExtents(written)
    this.#ask(vector)
    kernel.distances(layout.questionCodeAt, written.extents, written.extentCount, written.codeRecords)
  }

  #approximate(scope: Scope, entries: number, atLeast: number, least: number): Candidate[] {
    const { kernel } = this.#rows.memory
    let pruned = this.#near.suits(scope)
    for (let wanted = atLeast; ; wanted *= 4) {
      const chosen = scope.allow > 0 ? this.#chooseAllowed(scope, wanted, pruned) : this.#choose(scope, wanted, pruned)
      // Error bounds are not used here, because they depend on hidden rows: the number of rows that are ranked must not depend on hidden
      // rows.
      this.#openRank({ ...scope, allow: 0 }, entries, least, false)
      this.#rankBest(scope, chosen, entries)
      const found = this.#closeRank(scope)
      // If a few entries have most of the chosen rows as their chunks, fewer entries than wanted are found. Then the pass is repeated with
      // more rows, until enough entries are found or all rows are chosen.
      if (kernel.entriesFound() === entries || (chosen < wanted && !pruned)) return found
      pruned = false
    }
  }

  /**
   * Scores the rows chosen by sign codes more exactly, by their int8 components. Rows whose sign codes agree best with the query come
   * first; the scoring ends when further rows hardly change the best entries.
   */
  #rankBest({ codeRecords, rankRecords }: Scope, chosen: number, entries: number): void {
    const { kernel, layout } = this.#rows.memory
    const list = kernel.sortCodes(codeRecords, chosen, layout.questionPlanesAt, rankRecords)
    const first = Math.max(RANKED * chosen, RANKED_PER_ENTRY * entries)
    for (let done = 0; done < chosen; ) {
      const isFirst = done === 0
      const until = kernel.wholeLevels(isFirst ? first : done + first / 2)
      kernel.rankList(list + 4 * done, until - done)
      done = until
      if (kernel.entered() * FEW <= entries && kernel.entriesFound() === entries && !isFirst) return
    }
  }

  /**
   * Lists the `wanted` rows whose sign codes have the smallest Hamming distance to the query's, including all rows that tie with the last
   * one; returns their number.
   */
  #choose(scope: Scope, wanted: number, pruned: boolean): number {
    this.#scanCodes(scope, wanted, pruned)
    return this.#rows.memory.kernel.closeCodes()
  }

  /**
   * Lists the `wanted` nearest rows by sign code among rows of allowed entries. More rows than wanted are chosen first and then tested for
   * their entries, because testing all rows first would cost more.
   */
  #chooseAllowed(scope: Scope, wanted: number, pruned: boolean): number {
    let taken = Math.ceil((wanted / scope.part) * 1.06) + 60
    for (;;) {
      this.#scanCodes(scope, taken, pruned)
      const chosen = this.#rows.memory.kernel.closeCodesIn(scope.allow, wanted)
      if (chosen >= 0) return chosen
      // Too few of the chosen rows belong to allowed entries, because those are rarer near this query than elsewhere. The number found
      // tells how many more rows must be chosen.
      const found = -1 - chosen
      taken = Math.ceil(taken * Math.min(Math.max((1.2 * wanted) / (found + 1), 2), 64))
    }
  }

  #scanCodes(scope: Scope, wanted: number, pruned: boolean): void {
    const { kernel, layout } = this.#rows.memory
    kernel.openCodes(layout.questionCodeAt, layout.countsAt, scope.codeRecords, wanted)
    if (pruned) this.#near.scanCodes(scope, wanted)
    else if (scope.list > 0) kernel.scanCodesOf(scope.list, scope.rows)
    else {
      this.#scopes.writeExtents(scope)
      kernel.scanCodes(scope.extents, scope.extentCount)
    }
  }

  #openRank({ heap, places, allow, rankRecords }: Scope, entries: number, least: number, isExact = true): void {
    this.#rows.memory.kernel.openRank(entries, heap, places, allow, rankRecords, least, Number(isExact))
  }

  #closeRank(scope: Scope): Candidate[] {
    const { kernel, words, floats } = this.#rows.memory
    const candidates: Candidate[] = []
    for (let left = kernel.closeRank(), at = scope.rankRecords / 4; left > 0; left--, at += 4) {
      candidates.push(this.#candidate(words[at] as number, floats[at + 1] as number))
    }
    return candidates
  }

  /**
   * Copies the query into the kernel, in the forms that the passes need: sign bits, components in 16 steps, and components rounded to i16
   * with a bound on the rounding error of query and rows.
   */
  #ask(vector: Float32Array): void {
    const { kernel, layout, floats, bytes } = this.#rows.memory
    if (this.#isAsked(vector)) return
    floats.set(vector, layout.questionAt / 4)
    kernel.encodeQuestion(layout.questionAt, layout.questionCodeAt, layout.questionPlanesAt)
    let peak = 0
    for (const component of vector) peak = Math.max(peak, Math.abs(component))
    const step = peak / Math.min(32767, Math.floor(LARGEST_SUM / (127 * layout.width)))
    const rounded = new Int16Array(bytes.buffer, layout.question16At, layout.width)
    let rest = 0
    for (let i = 0; i < vector.length; i++) {
      const component = vector[i] as number
      const steps = Math.round(component / step)
      rounded[i] = steps
      rest += (component - steps * step) ** 2
    }
    const length = norm(vector)
    const longest = Math.sqrt(kernel.maxSquare()) + 1e-6
    // Bound on the score error that comes from rounding the query, by the Cauchy-Schwarz inequality. `rest` is the query minus its rounded
    // form, `residual` the row minus its int8 form: row·query = (scale int8)·(step i16) + (scale int8)·rest + residual·query.
    const ofQuestion = Math.sqrt(rest) * (longest + kernel.maxResidual() / 126)
    // Bound on the score error that arises when an exact cosine above 1, possible because vectors are not exactly of length 1, is cut to 1.
    const ofCutting = Math.max(0, length * longest - 1)
    kernel.setQuestion(layout.question16At, step, kernel.maxResidual() * length, ofQuestion + ofCutting + 1e-9)
    this.#asked = { residual: kernel.maxResidual(), square: kernel.maxSquare() }
  }

  /**
   * Whether the kernel still holds this query and its error bounds are valid; most queries are first used to search and then to score
   * entries.
   */
  #isAsked(vector: Float32Array): boolean {
    const { kernel, layout, floats } = this.#rows.memory
    if (this.#asked?.residual !== kernel.maxResidual() || this.#asked.square !== kernel.maxSquare()) return false
    const at = layout.questionAt / 4
    for (let i = 0; i < vector.length; i++) if (vector[i] !== floats[at + i]) return false
    return true
  }

  /**
   * Of an entry's rows, which are in `slots` from index `from` to `to` (exclusive), those that may be the entry's best: the upper bound of
   * the row's score reaches the greatest lower bound. `doubles` holds pairs of score and error for all `slots`, from index `at` on.
   */
  #atTop(slots: readonly Slot[], from: number, to: number, at: number): Candidate[] {
    const { doubles } = this.#rows.memory
    if (to === from + 1) return [this.#candidate(slots[from] as Slot, Math.fround(doubles[at + 2 * from] as number))]
    const value = (i: number) => doubles[at + 2 * i] as number
    const error = (i: number) => doubles[at + 2 * i + 1] as number
    let least = Number.NEGATIVE_INFINITY
    for (let i = from; i < to; i++) least = Math.max(least, value(i) - error(i))
    const top: Candidate[] = []
    for (let i = from; i < to; i++) {
      if (value(i) + error(i) >= least) top.push(this.#candidate(slots[i] as Slot, Math.fround(value(i))))
    }
    return top
  }

  #candidate(slot: Slot, score: number): Candidate {
    return { slot, entry: this.#rows.entry(slot), chunk: this.#rows.chunk(slot), score }
  }
}

// How the first pass is limited to near cells (groups of similar rows) if there are very many rows. It scans cells in order of the distance
// of their pivot (central row) from the query, until the last ones contain hardly any near rows: after a few percent of the cells if
// similar rows are in few cells. At worst it scans all rows.

/**
 * Share of the rows in cells (groups of similar rows) after which the scan of cells may end for the first time. If it does not end, the
 * share is doubled each time until the next check.
 */
const FIRST = 0.04
/**
 * At each check, the rows scanned since half the present number of rows are examined. The scan of cells ends if these contain at most the
 * share `LATE` of the `NEAR` rows found so far that are nearest by Hamming distance.
 */
const LATE = 0.08
const NEAR = 100
/**
 * If many rows are to be chosen, the check whether the scan may end uses more than `NEAR` nearest rows: the number of rows to be chosen,
 * divided by `WANTED_PER_NEAR`.
 */
const WANTED_PER_NEAR = 32
/**
 * Cosines between pivots and query are rounded to multiples of 1 / `STEPS` (2^-20) before cells are sorted by them; cells with equal
 * rounded cosines keep their order.
 */
const STEPS = 2 ** 20

export class NearCells {
  readonly #rows: VectorRows
  readonly #limits: CellLimits

  constructor(rows: VectorRows, limits: CellLimits) {
    this.#rows = rows
    this.#limits = limits
  }

  /**
   * Whether the search scans only the cells (groups of similar rows) near the query: if it covers very many rows, and at least one
   * partition that is divided into cells. Depends on rows that the viewer may see alone.
   */
  suits({ list, rows, blocks }: Scope): boolean {
    return list === 0 && rows >= this.#limits.prunedFrom && blocks.some(block => this.#isDivided(block))
  }

  /**
   * Scans the sign codes of rows cell by cell, beginning with the cell nearest to the query, until further cells contribute hardly any near
   * rows. Must be called within a pass of the kernel that was begun for `wanted` rows.
   */
  scanCodes(scope: Scope, wanted: number): void {
    const { kernel, layout } = this.#rows.memory
    const cells = this.#nearestFirst(scope)
    const total = cells.reduce((sum, cell) => sum + cell.rows, 0)
    this.#scanUndivided(scope)
    const near = Math.max(NEAR, Math.ceil(wanted / WANTED_PER_NEAR))
    let next = 0
    let scanned = 0
    const first = Math.max(FIRST * total, wanted) / 2
    for (let until = first; next < cells.length; until *= 2) {
      const mark = kernel.codesEnd()
      let end = scope.extents / 4
      for (; next < cells.length && scanned < until; next++) {
        const cell = must(cells[next], 'a cell')
        end = writeExtents(cell, this.#rows.memory.words, end)
        scanned += cell.rows
      }
      kernel.scanCodes(scope.extents, (end - scope.extents / 4) / 2)
      if (until > first && kernel.shareSince(mark, near, scope.allow, layout.nearCountsAt) <= LATE) return
    }
  }

  /** Scans the sign codes of all rows in undivided or small partitions, and of the rows that are in no cell. */
  #scanUndivided(scope: Scope): void {
    const { words, kernel } = this.#rows.memory
    let end = scope.extents / 4
    for (const block of scope.blocks) {
      end = writeExtents(block.home, words, end)
      if (!this.#isDivided(block)) for (const cell of block.cells) end = writeExtents(cell, words, end)
    }
    kernel.scanCodes(scope.extents, (end - scope.extents / 4) / 2)
  }

  #nearestFirst(scope: Scope): Cell[] {
    const cells = scope.blocks.filter(block => this.#isDivided(block)).flatMap(block => block.cells)
    const { words, doubles, kernel } = this.#rows.memory
    // This list of cells is written to memory reserved for the records of kept rows, which only a later pass of the search writes.
    const [list, values] = [scope.rankRecords, scope.rankRecords + Math.ceil(cells.length / 2) * 8]
    for (const [i, cell] of cells.entries()) words[list / 4 + i] = pivotOf(cell).slot
    kernel.values(list, cells.length, values)
    const order = new Float64Array(cells.length)
    for (let i = 0; i < cells.length; i++) {
      const cosine = doubles[values / 8 + 2 * i] as number
      order[i] = Math.round((1 - cosine) * STEPS) * STEPS + i
    }
    return Array.from(order.sort(), place => must(cells[place % STEPS], 'a cell'))
  }

  /**
   * Whether the partition is scanned by cells. A partition with fewer rows than the limit is scanned as a whole, even if it is still
   * divided.
   */
  #isDivided(block: Block): boolean {
    return block.rows >= this.#limits.dividedFrom && block.cells.length > 0
  }
}
