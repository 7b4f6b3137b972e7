/** The parts of a belief's score (BQ-080 to BQ-082): exact for those that are shown, and near enough for all to be ranked. */
import type { Instant } from '../../../base/clock.ts'
import type { RowOrigins } from '../access/row-origins.ts'
import { DIMENSION_COUNT, FRESHNESS } from '../columns/column-arrays.ts'
import type { BeliefColumns } from '../columns/columns.ts'
import { domainRates } from '../columns/domain-rates.ts'
import type { Matches } from '../matching/matches.ts'
import { confidenceByColumn } from '../measures/confidence.ts'
import { DAY_MS, type DecayTable, recency } from '../measures/decay.ts'
import type { DimensionWeights, RankingWeights } from '../model.ts'
import { ROWS_AT_ONCE, type TimeLimit } from '../time-limit.ts'
import type { HolderColumns, HolderTrust } from '../trust/holders.ts'
import { finalOf, type Parts, type ScoredBelief, semanticOf } from './scored.ts'
import type { Statics } from './statics.ts'

interface ScorerWorld {
  readonly columns: BeliefColumns
  readonly asOf: Instant
  readonly queryDomains: readonly string[]
  readonly confidenceWeights: DimensionWeights
  readonly weights: RankingWeights
  readonly decay: DecayTable
  readonly statics: Statics
  readonly trust: HolderTrust
  readonly trustColumns: HolderColumns
  readonly origins: RowOrigins
}

export class Scorer {
  readonly #world: ScorerWorld
  readonly #confidence: (values: ArrayLike<number>, at: number) => number
  /** By domain set. */
  readonly #rate: (domainSet: number) => number

  constructor(world: ScorerWorld) {
    const { columns, queryDomains, decay, confidenceWeights } = world
    this.#world = world
    this.#confidence = confidenceByColumn(confidenceWeights)
    this.#rate = domainRates(columns, queryDomains, decay)
  }

  score(row: number, source: number, cosine: number | null): ScoredBelief {
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

  /** What it is worth before its meaning: see `priors`. */
  prior(row: number, source: number): number {
    const { confidence, trust, recency: aged } = this.parts(row, source, null)
    const { weights } = this.#world
    return weights.confidence * confidence + weights.trust * trust + weights.recency * aged
  }

  confidence(row: number): number {
    return this.#confidence(this.#world.columns.arrays.confidences, row * DIMENSION_COUNT)
  }

  trust(row: number, source: number): number {
    const { trust, columns, origins } = this.#world
    const as = origins.trustedAs(row, source)
    return (as === null ? trust.of(columns.holderOf(row)) : trust.as(as)).value
  }

  /** A day, of this belief's domains. */
  rate(row: number): number {
    return this.#rate(this.#world.columns.arrays.domainSets[row] as number)
  }

  /**
   * What each match is worth before its meaning, by place: all that the weights give for confidence, trust and recency.
   * For choosing what to score: off by rounding.
   */
  priors({ rows, sources }: Matches, time?: TimeLimit): Float32Array {
    const { columns, weights, asOf, trust, trustColumns, statics, confidenceWeights, queryDomains, decay, origins } =
      this.#world
    const { holders, domainSets } = columns.arrays
    const confidences = statics.confidence(confidenceWeights, rows)
    const { day, rate, ...aged } = statics.aged(asOf, queryDomains, decay)
    const freshness = aged.freshness(rows)
    // By domain set; 0: not asked yet.
    const since = new Float64Array(columns.texts.bounds.domainSets)
    const { trust: trusted } = trustColumns
    const { confidence, trust: trustWeight, recency: recencyWeight } = weights
    const priors = new Float32Array(rows.length)
    for (let place = 0; place < rows.length; place++) {
      if (place % ROWS_AT_ONCE === 0) time?.check()
      const row = rows[place] as number
      const set = domainSets[row] as number
      if (since[set] === 0) since[set] = Math.exp((-rate(set) * (asOf - day)) / DAY_MS)
      priors[place] =
        confidence * (confidences[row] as number) +
        trustWeight * (trusted[holders[row] as number] as number) +
        recencyWeight * (freshness[row] as number) * (since[set] as number)
    }
    if (!origins.haveOthersTrusted) return priors
    for (let place = 0; place < rows.length; place++) {
      const row = rows[place] as number
      const as = origins.trustedAs(row, sources[place] as number)
      if (as === null) continue
      const ofHolder = trustWeight * (trusted[holders[row] as number] as number)
      priors[place] = (priors[place] as number) - ofHolder + trustWeight * trust.as(as).value
    }
    return priors
  }
}
