/**
 * What of a score does not change from query to query: confidence by weights, and freshness as aged on a day. By row, worked
 * out for rows that somebody ranks or filters, and kept until they change: what is hidden from all who ask is never looked at.
 */
import type { Instant } from '../../../base/clock.ts'
import { Recent } from '../../../base/recent.ts'
import { DIMENSION_COUNT, FRESHNESS } from '../columns/column-arrays.ts'
import type { BeliefColumns } from '../columns/columns.ts'
import { domainRates } from '../columns/domain-rates.ts'
import { confidenceByColumn, overallOf, weightColumn } from '../measures/confidence.ts'
import { DAY_MS, type DecayTable } from '../measures/decay.ts'
import type { DimensionWeights } from '../model.ts'
import { ByRow } from './by-row.ts'

/** Sets of weights, and of query domains on a day, that are kept: nine bytes a belief each. */
const KEPT = 8

type OfRow = (row: number) => number

/** Freshness as it stood when a day began, and how fast each domain set ages. */
interface Aged {
  readonly day: Instant
  /** Of these rows, by row. Made later that day: above the asserted one, so that it is right at its making. */
  freshness(rows: Int32Array): Float64Array
  /** Of a domain set, a day. */
  readonly rate: (domainSet: number) => number
}

interface Kept {
  readonly values: ByRow
  /** How many rows had been touched when it was last looked at. */
  touched: number
}

export class Statics {
  readonly #columns: BeliefColumns
  readonly #overall = new Recent<string, Kept>(KEPT)
  readonly #confidences = new Recent<string, Kept>(KEPT)
  readonly #aged = new Recent<string, Kept>(KEPT)

  constructor(columns: BeliefColumns) {
    this.#columns = columns
  }

  /** Exact; NaN: nothing is known. Good as long as the columns are. */
  overall(weights: DimensionWeights): OfRow {
    const values = this.#valuesOf(this.#overall, JSON.stringify(weights))
    const column = weightColumn(weights)
    const { confidences } = this.#columns.arrays
    const make: OfRow = row => overallOf(confidences, row * DIMENSION_COUNT, column)
    return row => values.at(row, make)
  }

  /** As ranking counts it (BQ-016): of these rows, by row. */
  confidence(weights: DimensionWeights, rows: Int32Array): Float64Array {
    const ranked = confidenceByColumn(weights)
    const { confidences } = this.#columns.arrays
    const make: OfRow = row => ranked(confidences, row * DIMENSION_COUNT)
    return this.#valuesOf(this.#confidences, JSON.stringify(weights)).all(rows, make)
  }

  /** Of the day of this instant (UTC): a function of the day alone, so equal queries have equal numbers. */
  aged(asOf: Instant, queryDomains: readonly string[], table: DecayTable): Aged {
    const day = Math.floor(asOf / DAY_MS) * DAY_MS
    const values = this.#valuesOf(this.#aged, JSON.stringify([day, queryDomains]))
    const rate = domainRates(this.#columns, queryDomains, table)
    const { confidences, created, domainSets } = this.#columns.arrays
    const make: OfRow = row => {
      const asserted = confidences[row * DIMENSION_COUNT + FRESHNESS] as number
      const age = (day - (created[row] as number)) / DAY_MS
      return (Number.isNaN(asserted) ? 1 : asserted) * Math.exp(-rate(domainSets[row] as number) * age)
    }
    return { day, freshness: rows => values.all(rows, make), rate }
  }

  /** Without those of rows that were touched since. */
  #valuesOf(from: Recent<string, Kept>, key: string): ByRow {
    const { touched, arrays } = this.#columns
    const made = () => ({ values: new ByRow(arrays.entries.length), touched: touched.count })
    let kept = from.get(key, made)
    const rows = touched.since(kept.touched)
    if (rows === null) {
      from.forget(each => each === key)
      kept = from.get(key, made)
    }
    kept.values.grow(arrays.entries.length)
    for (const row of rows ?? []) kept.values.forget(row)
    kept.touched = touched.count
    return kept.values
  }
}
