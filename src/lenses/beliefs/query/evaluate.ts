import type { Instant } from '../../../base/clock.ts'
import type { Steps } from '../../../base/turns.ts'
import type { ShowView } from '../access/show.ts'
import type { CheckedQuery } from '../schema/query.ts'
import type { BeliefsState } from '../state.ts'
import { Evaluation } from './evaluation.ts'
import { type Embedded, understand } from './understand.ts'

/** A query as of one moment; `embedded`: what its text came to before. */
export function evaluate(
  state: BeliefsState,
  view: ShowView,
  query: CheckedQuery,
  embedded: Embedded,
  asOf: Instant,
): Evaluation {
  const { scope, minSimilarity, mergeStrategy } = query.options
  const understood = understand(state, embedded, query.semantic, view.requester.accessScope)
  const byTier = mergeStrategy === 'waterfall'
  return new Evaluation(state, view, { ...query, scope, minSimilarity, byTier }, understood, asOf)
}

/** As `evaluate`, with the matches found in steps. */
export function* evaluateInSteps(...parts: Parameters<typeof evaluate>): Steps<Evaluation> {
  const evaluation = evaluate(...parts)
  yield* evaluation.prepare()
  return evaluation
}
