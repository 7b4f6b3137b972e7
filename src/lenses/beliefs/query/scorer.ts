/** The parts of a belief's score (BQ-080 to BQ-082): exact for those that are shown, and near enough for all to be ranked. */
import type { Instant } from '../../../base/clock.ts'
import { confidenceInRanking, DEFAULT_CONFIDENCE, overallOf, weightColumn } from '../measures/confidence.ts'
import { DAY_MS, type DecayTable, decayRate, recency } from '../measures/decay.ts'
import type { BeliefSource, DimensionWeights, RankingWeights } from '../model.ts'
import { DIMENSION_COUNT } from '../record/column-arrays.ts'
import type { BeliefColumns } from '../record/columns.ts'
import { ROWS_AT_ONCE, type TimeLimit } from '../time-limit.ts'
import type { HolderColumns, HolderTrust } from '../trust/holders.ts'
import { FEDERATED, type Matches } from './matches.ts'
import { finalOf, type Parts, type ScoredBelief, semanticOf } from './scored.ts'
import type { Statics } from './statics.ts'

export interface ScorerWorld {
  readonly columns: BeliefColumns
  readonly asOf: Instant
  readonly queryDomains: readonly string[]
  readonly confidenceWeights: DimensionWeights
  readonly weights: RankingWeights
  readonly decay: DecayTable
  readonly statics: Statics
  readonly trust: HolderTrust
  readonly trustColumns: HolderColumns
  /** Where a row comes from, and what is shown of who holds it. */
  sourceOf(row: number, source: number): BeliefSource
  holderShown(row: number, source: number): string | null
  /** Whether the requester meets anybody through a federation that shows no holders. */
  readonly hasStrictFederations: boolean
  /** The federation that a row comes through and that shows no holders; null: none such. */
  strictFederation(row: number): string | null
}

const FRESHNESS = 3

export class Scorer {
  readonly #world: ScorerWorld
  readonly #weightColumn: Float64Array
  /** Of a belief of which nothing is known. */
  readonly #unknown: number
  /** By domain set. */
  readonly #rates = new Map<number, number>()

  constructor(world: ScorerWorld) {
    this.#world = world
    this.#weightColumn = weightColumn(world.confidenceWeights)
    this.#unknown = confidenceInRanking(DEFAULT_CONFIDENCE, world.confidenceWeights)
  }

  score(row: number, source: number, cosine: number | null): ScoredBelief {
    const { columns, weights } = this.#world
    const parts = this.parts(row, source, cosine)
    return {
      row,
      entry: columns.arrays.entries[row] as number,
      id: columns.idOf(row),
      createdAt: columns.arrays.created[row] as number,
      source: this.#world.sourceOf(row, source),
      holder: this.#world.holderShown(row, source),
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
    const overall = overallOf(this.#world.columns.arrays.confidences, row * DIMENSION_COUNT, this.#weightColumn)
    return Number.isNaN(overall) ? this.#unknown : overall
  }

  trust(row: number, source: number): number {
    const { trust, trustColumns, columns } = this.#world
    const { hasStrictFederations, strictFederation } = this.#world
    const strict = hasStrictFederations && source === FEDERATED ? strictFederation(row) : null
    return strict === null ? trust.of(columns.holderOf(row)).value : trustColumns.ofFederation(strict).trust
  }

  /** A day, of this belief's domains. */
  rate(row: number): number {
    const { columns, queryDomains, decay } = this.#world
    const set = columns.arrays.domainSets[row] as number
    const known = this.#rates.get(set)
    if (known !== undefined) return known
    const rate = decayRate(columns.domainSet(set), queryDomains, decay)
    this.#rates.set(set, rate)
    return rate
  }

  /**
   * What each match is worth before its meaning, by place: all that the weights give for confidence, trust and recency.
   * For choosing what to score: off by rounding.
   */
  priors({ rows, sources }: Matches, time?: TimeLimit): Float32Array {
    const { columns, weights, asOf, trustColumns, statics, confidenceWeights, queryDomains, decay } = this.#world
    const { holders, domainSets } = columns.arrays
    const confidences = statics.confidence(confidenceWeights, rows)
    const { day, rate, ...aged } = statics.aged(asOf, queryDomains, decay)
    const freshness = aged.freshness(rows)
    // By domain set; 0: not asked yet.
    const since = new Float64Array(columns.bounds.domainSets)
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
    if (!this.#world.hasStrictFederations) return priors
    for (let place = 0; place < rows.length; place++) {
      if (sources[place] !== FEDERATED) continue
      const row = rows[place] as number
      const ofHolder = trustWeight * (trusted[holders[row] as number] as number)
      priors[place] = (priors[place] as number) - ofHolder + trustWeight * this.trust(row, FEDERATED)
    }
    return priors
  }
}
