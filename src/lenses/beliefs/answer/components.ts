/** The parts of a score as they go over the wire. */
import type { ScoreComponents } from '../model.ts'
import type { ScoredBelief } from '../ranking/scored.ts'

/** `penalty`: 0, or below it where diversity counted against the belief. */
export function componentsOf({ parts }: ScoredBelief, penalty: number): ScoreComponents {
  return {
    semantic_similarity: parts.semantic,
    confidence_score: parts.confidence,
    trust_score: parts.trust,
    recency_score: parts.recency,
    diversity_penalty: penalty,
  }
}
