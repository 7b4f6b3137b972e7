/**
 * The passes of a search. Sign codes choose some thousand rows, and their agreement with the question a few hundred of
 * these (only when an approximate answer will do). int8 products with error bounds leave the few rows that can be among the
 * k best entries. Without the first two passes the rows left are certain to hold the true k best.
 */

import { must } from '../../base/assert.ts'
import { norm } from '../../math/vector.ts'
import type { EntryKey } from '../../model/entry.ts'
import type { Hit, SearchScope, VectorSearch } from '../contract.ts'
import { type Block, type Cell, type CellLimits, pivotOf, type Slot, writeExtents } from './cells.ts'
import type { VectorRows } from './rows.ts'
import { type Scope, ScopeWriter } from './scope.ts'

/** Rows that sign codes choose at least, and for each entry wanted. */
const CHOSEN = 1000
const CHOSEN_PER_ENTRY = 24
/**
 * Of these, rows whose int8 products are taken before it is asked whether more bring any, at least and for each entry wanted: they
 * lie far apart in memory. Then half as many at a time, until those bring no more than one in a hundred of the entries wanted.
 */
const RANKED = 128
const RANKED_PER_ENTRY = 4
const FEW = 100
/** Among fewer rows neighbours are less near, so more are chosen: up to so many, one less for so many rows. */
const CHOSEN_OF_FEW = 2400
const ROWS_FOR_ONE_LESS = 40
/** Among very many rows more come as near by chance: one row in so many is chosen. */
const ROWS_FOR_ONE_MORE = 500
/** When sign codes would choose a larger part than one in so many, the second pass reads all rows: it is as quick. */
const MIN_CHOICES = 4
/** Keeps the sum of `width` products of an i16 and an i8 within an i32. */
const LARGEST_SUM = 2 ** 31 - 1

/** A row that may be among the best; its score is by int8. */
export interface Candidate extends Hit {
  readonly slot: Slot
}

export class VectorScan {
  readonly #rows: VectorRows
  readonly #scopes: ScopeWriter
  readonly #near: NearCells
  /** The maxima of all rows when the question in the kernel was put there; null: there was none. */
  #asked: { readonly residual: number; readonly square: number } | null = null

  constructor(rows: VectorRows, limits: CellLimits) {
    this.#rows = rows
    this.#scopes = new ScopeWriter(rows)
    this.#near = new NearCells(rows, limits)
  }

  count(scope: SearchScope): number {
    return this.#scopes.count(scope)
  }

  /** Rows among which the k best entries with their best chunks are; in no particular order. */
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

  /** Of each entry's rows, those that can be its best. Scores are cosines. */
  best(vector: Float32Array, entries: readonly EntryKey[]): Candidate[] {
    const slots: Slot[] = []
    const ends = entries.map(entry => {
      for (let slot = this.#rows.first(entry); slot >= 0; slot = this.#rows.next(slot)) slots.push(slot)
      return slots.length
    })
    const at = this.#valuesOf(vector, slots)
    return ends.flatMap((end, i) => this.#atTop(slots, ends[i - 1] ?? 0, end, at))
  }

  /** All rows of an entry, in no particular order. Scores are cosines. */
  all(vector: Float32Array, entry: EntryKey): Candidate[] {
    const slots: Slot[] = []
    for (let slot = this.#rows.first(entry); slot >= 0; slot = this.#rows.next(slot)) slots.push(slot)
    const at = this.#valuesOf(vector, slots)
    const { doubles } = this.#rows.memory
    return slots.map((slot, i) => this.#candidate(slot, Math.fround(doubles[at + 2 * i] as number)))
  }

  /** Where (in doubles) the value of each slot and its error stand. */
  #valuesOf(vector: Float32Array, slots: readonly Slot[]): number {
    this.#ask(vector)
    const at = this.#scopes.room(slots.length * 24)
    const { kernel, words } = this.#rows.memory
    words.set(slots, at / 4)
    const to = at + Math.ceil(slots.length / 2) * 8
    kernel.values(at, slots.length, to)
    return to / 8
  }

  /** Computes every sign-code distance and no more: what searches are measured by. */
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
      // Without bounds, which know of hidden rows: how many rows are ranked must not depend on them.
      this.#openRank({ ...scope, allow: 0 }, entries, least, false)
      this.#rankBest(scope, chosen, entries)
      const found = this.#closeRank(scope)
      // Many chunks of few entries can fill the choice; then choose more, until there is no more.
      if (kernel.entriesFound() === entries || (chosen < wanted && !pruned)) return found
      pruned = false
    }
  }

  /** Of the rows chosen, those that agree best with the question, as far as they bring entries that are among the best. */
  #rankBest({ codeRecords, rankRecords }: Scope, chosen: number, entries: number): void {
    const { kernel, layout } = this.#rows.memory
    const list = kernel.sortCodes(codeRecords, chosen, layout.questionPlanesAt, rankRecords)
    const first = Math.max(RANKED, RANKED_PER_ENTRY * entries)
    for (let done = 0; done < chosen; ) {
      const isFirst = done === 0
      const until = kernel.wholeLevels(isFirst ? first : done + first / 2)
      kernel.rankList(list + 4 * done, until - done)
      done = until
      if (kernel.entered() * FEW <= entries && kernel.entriesFound() === entries && !isFirst) return
    }
  }

  /** Lists the nearest rows by sign codes where codes were recorded: so many, with all that are as near as the last. */
  #choose(scope: Scope, wanted: number, pruned: boolean): number {
    this.#scanCodes(scope, wanted, pruned)
    return this.#rows.memory.kernel.closeCodes()
  }

  /** The same of allowed rows: it costs less to test near rows afterwards than all of them first. */
  #chooseAllowed(scope: Scope, wanted: number, pruned: boolean): number {
    let taken = Math.ceil((wanted / scope.part) * 1.06) + 60
    for (;;) {
      this.#scanCodes(scope, taken, pruned)
      const chosen = this.#rows.memory.kernel.closeCodesIn(scope.allow, wanted)
      if (chosen >= 0) return chosen
      // Rows near this question are allowed less often than others; how much less is known by now.
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

  /** Puts the question into the kernel: as bits, as i16, and with the bounds of what both roundings can amount to. */
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
    // row·question = (scale int8)·(step i16) + (scale int8)·rest + residual·question, by Cauchy and Schwarz:
    const ofQuestion = Math.sqrt(rest) * (longest + kernel.maxResidual() / 126)
    // and what a cosine above 1 loses when it is cut to 1.
    const ofCutting = Math.max(0, length * longest - 1)
    kernel.setQuestion(layout.question16At, step, kernel.maxResidual() * length, ofQuestion + ofCutting + 1e-9)
    this.#asked = { residual: kernel.maxResidual(), square: kernel.maxSquare() }
  }

  /** Whether the kernel holds this question already: most are searched by and then scored by. */
  #isAsked(vector: Float32Array): boolean {
    const { kernel, layout, floats } = this.#rows.memory
    if (this.#asked?.residual !== kernel.maxResidual() || this.#asked.square !== kernel.maxSquare()) return false
    const at = layout.questionAt / 4
    for (let i = 0; i < vector.length; i++) if (vector[i] !== floats[at + i]) return false
    return true
  }

  /** Of slots[from, to), whose values and their errors are doubles from `at` on. */
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

// The first pass over a million rows: cells are scanned from the one whose pivot is nearest to the question on, until
// those scanned last had hardly any of the near rows found so far. Where neighbours are together, that is after a few
// cells in a hundred; where they are not (noise, a filter that keeps what is far from the question) it ends with the
// last cell, and has cost no more than a scan of everything.

/** Part of the rows in cells that is scanned at first; then twice as much, and so on. */
const FIRST = 0.04
/** The scan ends when its second half found less than this part of so many near rows (by sign code). */
const LATE = 0.08
const NEAR = 100
/** When more rows than usual are to be chosen, one in so many counts as near. */
const WANTED_PER_NEAR = 32
/** Cosines of pivots are rounded to steps of 2^-20; among equal ones the order of cells decides. */
const STEPS = 2 ** 20

export class NearCells {
  readonly #rows: VectorRows
  readonly #limits: CellLimits

  constructor(rows: VectorRows, limits: CellLimits) {
    this.#rows = rows
    this.#limits = limits
  }

  /** Whether it pays to look at near cells only: a matter of visible rows alone. */
  suits({ list, rows, blocks }: Scope): boolean {
    return list === 0 && rows >= this.#limits.prunedFrom && blocks.some(block => this.#isDivided(block))
  }

  /** To be called between the opening of a pass that chooses so many rows by sign code, and its end. */
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

  /** Blocks that are small, and rows that are in no cell. */
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
    // Records of rows are written after this: their room will do.
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

  /** Small blocks are scanned whole, whether they are divided still or not. */
  #isDivided(block: Block): boolean {
    return block.rows >= this.#limits.dividedFrom && block.cells.length > 0
  }
}
