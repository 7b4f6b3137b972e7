/** The parts of a belief's score (BQ-080 to BQ-082). */
import type { Instant } from '../../../base/clock.ts'
import type { RowOrigins } from '../access/row-origins.ts'
import { DIMENSION_COUNT, FRESHNESS } from '../columns/column-arrays.ts'
import { type BeliefColumns, domainRates } from '../columns/columns.ts'
import { confidenceByColumn } from '../measures/confidence.ts'
import { type DecayTable, recency } from '../measures/decay.ts'
import type { DimensionWeights, RankingWeights } from '../model.ts'
import type { HolderColumns, HolderTrust } from '../trust/holders.ts'
import { finalOf, type Parts, type ScoredBelief, semanticOf } from './scored.ts'

interface ScorerWorld {
  readonly columns: BeliefColumns
  readonly asOf: Instant
  readonly queryDomains: readonly string[]
  readonly confidenceWeights: DimensionWeights
  readonly weights: RankingWeights
  readonly decay: DecayTable
  readonly trust: HolderTrust
  readonly trustColumns: HolderColumns
  readonly origins: RowOrigins
}

export class Scorer {
  readonly #world: ScorerWorld
  readonly #confidence: (values: ArrayLike<number>, at: number) => number
  /** By domain set. */
  readonly #rate: (domainSet: number) => number
  /** By number of the holder. */
  readonly #trust = new Map<number, number>()

  constructor(world: ScorerWorld) {
    const { columns, queryDomains, decay, confidenceWeights } = world
    this.#world = world
    this.#confidence = confidenceByColumn(confidenceWeights)
    this.#rate = domainRates(columns, queryDomains, decay)
  }

  score(row: number, source: number, cosine: number | null, isByWords = false): ScoredBelief {
    const { columns, weights, origins } = this.#world
    const parts = this.parts(row, source, cosine)
    return {
      row,
      entry: columns.arrays.entries[row] as number,
      id: columns.idOf(row),
      createdAt: columns.arrays.created[row] as number,
      source: origins.sourceOf(row, source),
      holder: origins.holderShown(row, source),
      cosine,
      ...(isByWords && { isByWords }),
      parts,
      final: finalOf(parts, weights),
    }
  }

  parts(row: number, source: number, cosine: number | null): Parts {
    const { columns, asOf } = this.#world
    const { confidences, created } = columns.arrays
    return {
      semantic: cosine === null ? null : semanticOf(cosine),
      confidence: this.confidence(row),
      trust: this.trust(row, source),
      recency: recency(
        confidences[row * DIMENSION_COUNT + FRESHNESS] as number,
        created[row] as number,
        asOf,
        this.rate(row),
      ),
    }
  }

  confidence(row: number): number {
    return this.#confidence(this.#world.columns.arrays.confidences, row * DIMENSION_COUNT)
  }

  trust(row: number, source: number): number {
    const { trust, columns, origins } = this.#world
    const as = origins.trustedAs(row, source)
    if (as !== null) return trust.as(as).value
    const holder = columns.arrays.holders[row] as number
    const known = this.#trust.get(holder) ?? trust.of(columns.texts.holder(holder)).value
    this.#trust.set(holder, known)
    return known
  }

  /** A day, of this belief's domains. */
  rate(row: number): number {
    return this.#rate(this.#world.columns.arrays.domainSets[row] as number)
  }
}
