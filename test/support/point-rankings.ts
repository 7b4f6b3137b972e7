/** Ways to rank points beyond their distance, and the bounds by block that a consumer of a point index keeps for them. */
import fc from 'fast-check'
import type { PointIndex, PointScorer } from '../../src/index/contract.ts'
import type { EntryKey } from '../../src/model/entry.ts'
import type { PartitionId } from '../../src/model/partition.ts'
import type { Store } from '../../src/store/store.ts'
import { seededUniform } from './seeded.ts'

/** How a question ranks: by a curve over the distance, and a number of each entry's own. */
export interface Ranking {
  readonly curve: 'fall' | 'line' | 'steps' | 'flat'
  readonly weight: number
  /** How many different numbers entries have of their own; 0: infinitely many. */
  readonly levels: number
  readonly seed: number
  readonly hasLimit: boolean
}

const CURVES: Readonly<Record<Ranking['curve'], (distance: number) => number>> = {
  fall: distance => Math.exp(-distance / 20),
  line: distance => 1 - distance / 500,
  steps: distance => -Math.floor(distance / 15),
  flat: () => 0.5,
}

export function rankings(): fc.Arbitrary<Ranking> {
  return fc.record({
    curve: fc.constantFrom<Ranking['curve'][]>('fall', 'line', 'steps', 'flat'),
    weight: fc.constantFrom(1, 0.5, 0),
    levels: fc.constantFrom(0, 1, 3),
    seed: fc.nat({ max: 1000 }),
    hasLimit: fc.boolean(),
  })
}

/** What an entry is worth by itself under a ranking: 0 to 1. */
function ownScore({ levels, seed }: Ranking, entry: EntryKey): number {
  const number = seededUniform(seed * 7919 + entry)()
  return levels === 0 ? number : Math.floor(number * levels) / levels
}

/** The largest worth in each block, kept as a consumer would: made of all entries, then raised by what arrives. */
export class BlockScores {
  readonly #index: PointIndex
  readonly #ranking: Ranking
  readonly #partitions: readonly PartitionId[]
  #worth: number[] = []
  #generation = -1
  #read = 0

  constructor(index: PointIndex, ranking: Ranking, partitions: readonly PartitionId[]) {
    this.#index = index
    this.#ranking = ranking
    this.#partitions = partitions
  }

  refresh(): void {
    const { generation, arrivals } = this.#index
    if (generation !== this.#generation) {
      this.#worth = []
      for (const entry of this.#index.entries(this.#partitions)) this.#raise(entry)
      this.#generation = generation
    } else {
      for (const entry of arrivals.slice(this.#read)) this.#raise(entry)
    }
    this.#read = arrivals.length
  }

  scorer(): PointScorer {
    const ranking = this.#ranking
    const curve = CURVES[ranking.curve]
    const bestScores = this.#worth
    const most = bestScores.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY)
    const scored = (own: number, distance: number) => ranking.weight * curve(distance) + own
    return {
      score: (entry, distance) => scored(ownScore(ranking, entry), distance),
      bound: (block, distance) => scored(bestScores[block] ?? Number.NEGATIVE_INFINITY, distance),
      limit: ranking.hasLimit ? distance => scored(most, distance) : undefined,
    } as PointScorer
  }

  #raise(entry: EntryKey): void {
    const block = this.#index.blockOf(entry)
    if (block < 0) return
    this.#worth[block] = Math.max(this.#worth[block] ?? Number.NEGATIVE_INFINITY, ownScore(this.#ranking, entry))
  }
}

/** A scorer with bounds made for this index as it is now. */
export function scorerFor(index: PointIndex, ranking: Ranking | null, store: Store): PointScorer | undefined {
  if (ranking === null) return undefined
  const partitions = store.partitions().map(({ id }) => id)
  const scores = new BlockScores(index, ranking, partitions)
  scores.refresh()
  return scores.scorer()
}
