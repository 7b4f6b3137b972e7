/** What diversity picks from the beginning of the total order. */

import type { Evaluation } from '../query/evaluation.ts'
import type { Picked, ScoredBelief } from '../ranking/scored.ts'
import { likenessBy, vectorsOf } from '../record/vectors.ts'
import type { CheckedWarning } from '../schema/context.ts'
import type { CheckedDiversity } from '../schema/query.ts'
import { spread } from './spread.ts'

interface DiversityRequest {
  readonly pool: readonly ScoredBelief[]
  readonly keepsOrder?: boolean
  /** Takes federations without holders of which the limit for holders has left something out. */
  readonly limited: Set<string>
}

/** BQ-084: in such a federation the limit counts the federation, not its members. */
export function limitWarnings(limited: ReadonlySet<string>): readonly CheckedWarning[] {
  return [...limited].sort().map(federation => ({
    code: 'federation_limited',
    message: `max_per_holder counts the federation ${federation} as one holder, since it shows none: there are more of its beliefs.`,
  }))
}

/** What diversity picks from a pool, as far as it is asked for; `keepsOrder`: in its order, by the limits alone. Goes on picking alike, whatever changes meanwhile. */
export function diversely(
  evaluation: Evaluation,
  diversity: CheckedDiversity,
  { pool, keepsOrder = false, limited }: DiversityRequest,
): Generator<Picked> {
  const { columns } = evaluation.view
  const needsVectors = diversity.minDistance !== null || (diversity.lambda < 1 && !keepsOrder)
  const vectors = needsVectors ? vectorsOf(evaluation.view, pool) : []
  const domains = new Map(pool.map(({ row }) => [row, columns.domainsOf(row)]))
  return spread({
    ...diversity,
    keepsOrder,
    pool,
    domains: ({ row }) => domains.get(row) as readonly string[],
    likeness: likenessBy(vectors),
    onFederationLimit: federation => void limited.add(federation),
  })
}
