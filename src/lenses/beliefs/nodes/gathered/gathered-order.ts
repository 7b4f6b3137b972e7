/** The one list that the results of all sources become, for as long as somebody reads it. */
import { sha256 } from '../../../../base/canonical.ts'
import { MOST_COMPARED } from '../../answer/conflicts.ts'
import { diversely } from '../../answer/diversity.ts'
import type { NodesTold } from '../../answer/draft.ts'
import type { Front } from '../../answer/front.ts'
import { ranksOf, settledList, strategyOf, unspread } from '../../answer/front.ts'
import { POOL } from '../../answer/spread.ts'
import type { CheckedQuery, CheckedWarning } from '../../check/checked.ts'
import type { Boundary } from '../../paging/cursor.ts'
import type { Evaluation } from '../../query/evaluation.ts'
import type { Picked, ScoredBelief } from '../../ranking/scored.ts'
import type { GatheredWorld } from './gathered-world.ts'
import { merged } from './merge.ts'

export interface GatheredParts {
  readonly world: GatheredWorld
  readonly evaluation: Evaluation
  readonly nodes: NodesTold
  readonly warnings: readonly CheckedWarning[]
  /** Of this node, matches that were not gathered. */
  readonly left: number
}

type Placed = Pick<Front, 'ranks' | 'conflicts' | 'leftOut'>

const DIGEST_LENGTH = 24

export class GatheredOrder {
  readonly world: GatheredWorld
  readonly evaluation: Evaluation
  readonly nodes: NodesTold
  readonly warnings: readonly CheckedWarning[]
  /** Best first, as it is shown. */
  readonly picks: readonly Picked[]
  /** Where results stand in the total order, and which of them contradict each other. */
  readonly placed: Placed
  readonly total: number
  /** Of which results there are, where, and what they count. */
  readonly digest: string

  constructor({ world, evaluation, nodes, warnings, left }: GatheredParts, { options }: CheckedQuery) {
    this.world = world
    this.evaluation = evaluation
    this.nodes = nodes
    this.warnings = warnings
    this.total = evaluation.matches.count + left
    const inOrder = evaluation.best(evaluation.matches.count)
    const picks = spreadOut(evaluation, inOrder, options)
    const strategy = strategyOf(evaluation.state)
    const ranks = ranksOf(inOrder)
    if (strategy === null) {
      this.picks = picks
      this.placed = { ranks, conflicts: [], leftOut: 0 }
    } else {
      const { list, conflicts } = settledList(evaluation, picks.slice(0, MOST_COMPARED), strategy)
      this.picks = [...list, ...picks.slice(MOST_COMPARED)]
      this.placed = { ranks, conflicts, leftOut: 0 }
    }
    const told = this.picks.map(({ scored: { id, final, source } }) => [id, final, source.kind, source.id])
    this.digest = sha256(JSON.stringify(told)).slice(0, DIGEST_LENGTH)
  }

  /** Near enough. */
  get byteLength(): number {
    return this.world.byteLength
  }

  /** The place behind a boundary; null: it is no result of this order. */
  placeBehind({ id, final }: Boundary): number | null {
    const at = this.picks.findIndex(({ scored }) => scored.id === id && scored.final === final)
    return at === -1 ? null : at + 1
  }
}

/** As the strategy puts the sources together, and as far as diversity lets it stand (BQ-131). */
function spreadOut(
  evaluation: Evaluation,
  inOrder: readonly ScoredBelief[],
  { mergeStrategy, diversity }: CheckedQuery['options'],
): readonly Picked[] {
  const list = merged(mergeStrategy, inOrder)
  if (!diversity.enabled) return list.map(unspread)
  const keepsOrder = mergeStrategy !== 'rerank'
  return [...diversely(evaluation, diversity, { pool: list.slice(0, POOL), keepsOrder }).picks]
}
