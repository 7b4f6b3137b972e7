/** Ranks points by relevance, recency and strength (CQ-052 to CQ-054), from the cells of one viewer. */
import type { PointScorer } from '../../../index/contract.ts'
import type { EntryKey } from '../../../model/entry.ts'
import { MODE_NAMES, type ScoreWeights } from '../model.ts'
import type { BlockBounds } from './block-bounds.ts'
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
}

/** The bounds must have been settled for this search. */
export class MemoryScorer implements PointScorer {
  readonly #cells: MemoryCells
  readonly #bounds: BlockBounds
  readonly #now: number
  /** By place of the mode in `MODE_NAMES`. */
  readonly #weights: readonly ScoreWeights[]
  readonly #modes: readonly Mode[]

  /** `weights` null: each node by its own mode's. */
  constructor(cells: MemoryCells, bounds: BlockBounds, weights: ScoreWeights | null, now: number) {
    this.#cells = cells
    this.#bounds = bounds
    this.#now = now
    this.#modes = MODE_NAMES.map(name => MODES[name])
    this.#weights = this.#modes.map(mode => weights ?? weightsOf(mode))
  }

  score(entry: EntryKey, distance: number): number {
    const mode = this.#cells.modeAt(entry)
    return this.#worth(mode, relevanceOf(distance), this.#cells.lastAccessed(entry), this.#cells.strength(entry))
  }

  bound(block: number, distance: number): number {
    const relevance = relevanceOf(distance)
    let most = 0
    for (let mode = 0; mode < this.#modes.length; mode++) {
      const newest = this.#bounds.newest(block, mode)
      if (newest === Number.NEGATIVE_INFINITY) continue
      most = Math.max(most, this.#worth(mode, relevance, newest, this.#bounds.strongest(block, mode)))
    }
    return most * SLACK + LEAST
  }

  #worth(at: number, relevance: number, accessed: number, strength: number): number {
    const weights = this.#weights[at] as ScoreWeights
    const recency = recencyOf(this.#modes[at] as Mode, accessed, this.#now)
    return combine(weights.relevance, weights.recency, weights.strength, relevance, recency, strengthNorm(strength))
  }
}
