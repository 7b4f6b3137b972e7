/** Ranks points by relevance, recency and strength (CQ-052 to CQ-054), from the cells of one viewer. */
import type { PointScorer } from '../../../index/contract.ts'
import type { EntryKey } from '../../../model/entry.ts'
import { MODE_NAMES } from '../mode-names.ts'
import type { ScoreWeights } from '../model.ts'
import { ALL, type BlockBounds } from './block-bounds.ts'
import type { MemoryCells } from './cells.ts'
import { combine, recencyOf, relevanceOf, strengthNorm } from './formulas.ts'
import { MODES, type Mode, weightsOf } from './modes.ts'

/**
 * How far the parts of a limit may fall short of what they bound: an exponential need not grow with its argument in the
 * last bit, nor a sum be rounded alike. Each is exact to about 4e-16; near 0 the smallest numbers have no such share.
 */
const SLACK = 1 + 1e-14
const LEAST = 1e-300

/** Memory switched off: nothing but how near. */
export const BY_RELEVANCE: PointScorer = {
  score: (_entry, distance) => relevanceOf(distance),
  bound: (_block, distance) => relevanceOf(distance) * SLACK + LEAST,
  limit: distance => relevanceOf(distance) * SLACK * SLACK + LEAST * 2,
}

/** The bounds must have been settled for this search, and the cells stay as they are during it. */
export class MemoryScorer implements PointScorer {
  readonly #cells: MemoryCells
  readonly #bounds: BlockBounds
  readonly #now: number
  /** By place of the mode in `MODE_NAMES`. */
  readonly #weights: readonly ScoreWeights[]
  readonly #modes: readonly Mode[]
  /** The best that recency and strength can give in the block asked about last, by mode; -1: it has no such node. */
  readonly #priors = new Float64Array(MODE_NAMES.length)
  #block = Number.NaN

  /** `weights` null: each node by its own mode's. */
  constructor(cells: MemoryCells, bounds: BlockBounds, weights: ScoreWeights | null, now: number) {
    this.#cells = cells
    this.#bounds = bounds
    this.#now = now
    this.#modes = MODE_NAMES.map(name => MODES[name])
    this.#weights = this.#modes.map(mode => weights ?? weightsOf(mode))
  }

  score(entry: EntryKey, distance: number): number {
    const at = this.#cells.modeAt(entry)
    const weights = this.#weights[at] as ScoreWeights
    const recency = recencyOf(this.#modes[at] as Mode, this.#cells.lastAccessed(entry), this.#now)
    const strength = strengthNorm(this.#cells.strength(entry))
    return combine(weights.relevance, weights.recency, weights.strength, relevanceOf(distance), recency, strength)
  }

  bound(block: number, distance: number): number {
    if (block !== this.#block) this.#turnTo(block)
    const relevance = relevanceOf(distance)
    let most = 0
    for (let mode = 0; mode < this.#priors.length; mode++) {
      const prior = this.#priors[mode] as number
      if (prior < 0) continue
      const worth = (this.#weights[mode] as ScoreWeights).relevance * relevance + prior
      if (worth > most) most = worth
    }
    return most * SLACK + LEAST
  }

  limit(distance: number): number {
    // Once more the slack: what bounds all blocks is computed from larger numbers, which need not give a larger one.
    return this.bound(ALL, distance) * SLACK
  }

  /** Searches ask about a block several times in succession. */
  #turnTo(block: number): void {
    this.#block = block
    for (let mode = 0; mode < this.#priors.length; mode++) {
      const newest = this.#bounds.newest(block, mode)
      this.#priors[mode] = newest === Number.NEGATIVE_INFINITY ? -1 : this.#prior(mode, newest, block)
    }
  }

  #prior(mode: number, newest: number, block: number): number {
    const weights = this.#weights[mode] as ScoreWeights
    const recency = weights.recency === 0 ? 0 : recencyOf(this.#modes[mode] as Mode, newest, this.#now)
    return weights.recency * recency + weights.strength * strengthNorm(this.#bounds.strongest(block, mode))
  }
}
