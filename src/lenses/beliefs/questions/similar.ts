/** Beliefs that are about what a belief is about (BQ-172), in the order of all lists. */
import { listed } from '../answer/show-page.ts'
import type { Call } from '../query/call.ts'
import type { Evaluation } from '../query/evaluation.ts'
import type { ScoredBelief } from '../ranking/scored.ts'
import type { similarAnswer } from '../schema/answers.ts'
import type { CheckedSimilar } from '../schema/questions.ts'
import type { Value } from '../schema/values.ts'
import type { BeliefsState } from '../state.ts'
import { askAbout, likeSubject, type Subject } from './about-belief.ts'

export function similarTo(
  state: BeliefsState,
  asking: CheckedSimilar,
  call: Call,
): Promise<Value<typeof similarAnswer>> {
  return askAbout(state, { ...asking, filters: [] }, call, (evaluation, subject, warnings) => {
    const found = similarIn(evaluation, subject, asking)
    const page = found.slice(0, asking.limit)
    const similarity = new Map(page.map(({ id, cosine }) => [id, cosine]))
    return {
      belief_id: asking.beliefId,
      beliefs: listed(evaluation, page).map(each => ({ ...each, similarity: similarity.get(each.belief.id) ?? null })),
      total_count: found.length,
      warnings: warnings.map(warning => ({ ...warning })),
    }
  })
}

/** A pseudonym is somebody of its own; holders that a federation does not show are one. */
export function similarIn(
  evaluation: Evaluation,
  subject: Subject,
  { minSimilarity, includeSameHolder }: Pick<CheckedSimilar, 'minSimilarity' | 'includeSameHolder'>,
): readonly ScoredBelief[] {
  const found = likeSubject(evaluation, subject, minSimilarity)
  return includeSameHolder
    ? found
    : found.filter(({ holder, source }) => (holder ?? ` ${source.id}`) !== subject.holder)
}
