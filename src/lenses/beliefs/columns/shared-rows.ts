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
  return { id: shared(rows, ids), content: shared(rows, contents) }
}

function shared(rows: Int32Array, numbers: Int32Array): readonly number[] {
  const met = new Set<number>()
  const twice = new Set<number>()
  for (const row of rows) {
    const number = numbers[row] as number
    if (met.has(number)) twice.add(number)
    else met.add(number)
  }
  return twice.size === 0 ? [] : [...rows.filter(row => twice.has(numbers[row] as number))]
}
