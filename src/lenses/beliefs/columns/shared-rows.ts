/** Rows whose id, and rows whose content, another of the same rows has too. Most stores have few. */
import type { BeliefColumns } from './columns.ts'

/** Ascending where what they are found among is. */
export interface SharedRows {
  readonly id: readonly number[]
  readonly content: readonly number[]
}

/** Looks at these rows alone: what nobody asked about makes no row a shared one, and costs nothing. */
export function sharedAmong(columns: BeliefColumns, rows: Int32Array): SharedRows {
  const { ids, contents } = columns.arrays
  const { bounds } = columns.texts
  return { id: shared(rows, ids, bounds.ids), content: shared(rows, contents, bounds.contents) }
}

/**
 * The same of other rows, which differ from those of before by a few: `came` are new among them. Copies that nobody asked
 * about are not met on the way here either.
 */
export function sharedAfter(
  columns: BeliefColumns,
  before: SharedRows,
  rows: Int32Array,
  came: Int32Array,
): SharedRows {
  const { ids, contents } = columns.arrays
  const { bounds } = columns.texts
  const after = (known: readonly number[], numbers: Int32Array, bound: number) =>
    shared(alike(rows, numbers, bound, [...known, ...came]), numbers, bound)
  return { id: after(before.id, ids, bounds.ids), content: after(before.content, contents, bounds.contents) }
}

/** By number: the round in which it was met; its negative where that was more than once. Kept: it may be long. */
let met = new Int32Array(1024)
let round = 0

function shared(rows: Int32Array, numbers: Int32Array, bound: number): readonly number[] {
  beginRound(bound)
  let isAny = false
  for (let at = 0; at < rows.length; at++) {
    const number = numbers[rows[at] as number] as number
    const last = met[number] as number
    if (last === round) isAny = true
    if (last !== -round) met[number] = last === round ? -round : round
  }
  return isAny ? [...rows.filter(row => met[numbers[row] as number] === -round)] : []
}

/** Of the rows those whose number is that of one of these. */
function alike(rows: Int32Array, numbers: Int32Array, bound: number, these: readonly number[]): Int32Array {
  beginRound(bound)
  for (const row of these) met[numbers[row] as number] = round
  const found: number[] = []
  for (let at = 0; at < rows.length; at++) {
    const row = rows[at] as number
    if (met[numbers[row] as number] === round) found.push(row)
  }
  return Int32Array.from(found)
}

function beginRound(bound: number): void {
  if (bound > met.length || round === 0x7fff_ffff) {
    met = new Int32Array(Math.max(bound * 2, met.length))
    round = 0
  }
  round++
}
