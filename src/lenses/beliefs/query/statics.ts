/**
 * What of a score does not change from query to query: confidence by weights, and freshness as aged on a day. By row, kept
 * for as long as no belief changes; ranking reads a hundred thousand of them a query. In single precision: they only
 * choose what is scored.
 */

import type { Instant } from '../../../base/clock.ts'
import { Recent } from '../../../base/recent.ts'
import { confidenceInRanking, DEFAULT_CONFIDENCE, overallOf, weightColumn } from '../measures/confidence.ts'
import { DAY_MS, type DecayTable, decayRate } from '../measures/decay.ts'
import type { DimensionWeights } from '../model.ts'
import { DIMENSION_COUNT } from '../record/column-arrays.ts'
import type { BeliefColumns } from '../record/columns.ts'

const FRESHNESS = 3
/** Sets of weights, and of query domains on a day, that are kept: twelve bytes and four a belief each. */
const KEPT = 8

/** Freshness as it stood when a day began, and how fast each domain set ages. */
export interface Aged {
  readonly day: Instant
  /** By row. Made later that day: above the asserted one, so that it is right at its making. */
  readonly freshness: Float32Array
  /** By domain set, a day. */
  readonly rates: Float64Array
}

export class Statics {
  readonly #columns: BeliefColumns
  readonly #confidences = new Recent<string, Float32Array>(KEPT)
  readonly #overall = new Recent<string, Float64Array>(KEPT)
  readonly #aged = new Recent<string, Aged>(KEPT)
  #revision = -1

  constructor(columns: BeliefColumns) {
    this.#columns = columns
  }

  /** Exact, by row; NaN: nothing is known. */
  overall(weights: DimensionWeights): Float64Array {
    this.#forgetOld()
    return this.#overall.get(JSON.stringify(weights), () => {
      const columns = this.#columns
      const column = weightColumn(weights)
      const { confidences } = columns.arrays
      const overall = new Float64Array(columns.rows)
      for (let row = 0; row < overall.length; row++)
        overall[row] = overallOf(confidences, row * DIMENSION_COUNT, column)
      return overall
    })
  }

  /** As ranking counts it (BQ-016), by row. */
  confidence(weights: DimensionWeights): Float32Array {
    this.#forgetOld()
    return this.#confidences.get(JSON.stringify(weights), () => {
      const unknown = confidenceInRanking(DEFAULT_CONFIDENCE, weights)
      return Float32Array.from(this.overall(weights), known => (Number.isNaN(known) ? unknown : known))
    })
  }

  /** Of the day of this instant (UTC): a function of the day alone, so equal queries have equal numbers. */
  aged(asOf: Instant, queryDomains: readonly string[], table: DecayTable): Aged {
    this.#forgetOld()
    const day = Math.floor(asOf / DAY_MS) * DAY_MS
    return this.#aged.get(JSON.stringify([day, queryDomains]), () => this.#age(day, queryDomains, table))
  }

  #age(day: Instant, queryDomains: readonly string[], table: DecayTable): Aged {
    const columns = this.#columns
    const { confidences, created, domainSets } = columns.arrays
    const rates = new Float64Array(columns.bounds.domainSets)
    for (const set of columns.domainSets()) rates[set] = decayRate(columns.domainSet(set), queryDomains, table)
    const freshness = new Float32Array(columns.rows)
    for (let row = 0; row < columns.rows; row++) {
      const asserted = confidences[row * DIMENSION_COUNT + FRESHNESS] as number
      const age = (day - (created[row] as number)) / DAY_MS
      const rate = rates[domainSets[row] as number] as number
      freshness[row] = (Number.isNaN(asserted) ? 1 : asserted) * Math.exp(-rate * age)
    }
    return { day, freshness, rates }
  }

  #forgetOld(): void {
    const { revision } = this.#columns
    if (revision === this.#revision) return
    this.#revision = revision
    this.#confidences.clear()
    this.#overall.clear()
    this.#aged.clear()
  }
}
