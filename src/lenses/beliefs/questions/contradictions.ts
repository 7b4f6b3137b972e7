/** Beliefs that contradict a belief (BQ-173), as far as the detector sees. */
import { listed } from '../answer/show-page.ts'
import type { RankedBelief } from '../model.ts'
import {
  type ContradictionDetector,
  LEAST_SCORE,
  type Opposition,
  SAME_TOPIC,
  statementOf,
} from '../opposition/detector.ts'
import { detectorOf } from '../opposition/installed.ts'
import type { Call } from '../query/call.ts'
import type { Evaluation } from '../query/evaluation.ts'
import type { contradictionsAnswer } from '../schema/answers.ts'
import { NO_FILTER } from '../schema/filters.ts'
import type { CheckedContradictions } from '../schema/questions.ts'
import type { Value } from '../schema/values.ts'
import type { BeliefsState } from '../state.ts'
import { askAbout, likeSubject, type Subject } from './about-belief.ts'

/** Of one topic, the best in order: a detector may be slow. */
const MOST_COMPARED = 1_000

interface Contradicting {
  readonly ranked: RankedBelief
  readonly opposition: Opposition
}

export function contradictionsOf(
  state: BeliefsState,
  asking: CheckedContradictions,
  call: Call,
): Promise<Value<typeof contradictionsAnswer>> {
  const detector = detectorOf(state.host)
  const filters = asking.confidence.length === 0 ? [] : [{ ...NO_FILTER, confidence: asking.confidence }]
  return askAbout(state, { ...asking, filters }, call, (evaluation, subject, warnings) => {
    const found = contradicting(evaluation, subject, detector)
    return {
      belief_id: asking.beliefId,
      contradictions: found.slice(0, asking.limit).map(({ ranked, opposition }) => ({
        ...ranked,
        contradiction: { type: opposition.type, score: opposition.score, text: opposition.text },
      })),
      total_count: found.length,
      detector: { name: detector.name, note: detector.note },
      warnings: warnings.map(warning => ({ ...warning })),
    }
  })
}

/** The surest first, equal ones in the usual order. */
export function contradicting(
  evaluation: Evaluation,
  subject: Subject,
  detector: ContradictionDetector,
): readonly Contradicting[] {
  const near = likeSubject(evaluation, subject, SAME_TOPIC).slice(0, MOST_COMPARED)
  const { content, validFrom, validUntil, createdAt } = subject.seen.version
  const statement = { content, validFrom: validFrom ?? createdAt, validUntil }
  return listed(evaluation, near)
    .flatMap(ranked => {
      evaluation.view.time?.check()
      const opposition = detector.detect(statement, statementOf(ranked.belief))
      return opposition === null || opposition.score <= LEAST_SCORE ? [] : [{ ranked, opposition }]
    })
    .sort((a, b) => b.opposition.score - a.opposition.score || a.ranked.rank - b.ranked.rank)
    .map(({ ranked, opposition }, at) => ({ ranked: { ...ranked, rank: at + 1 }, opposition }))
}
