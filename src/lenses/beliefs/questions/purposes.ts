/** What a belief is worth for a purpose (BQ-176): the weights of each, together 1. */
import type { Purpose } from '../schema/questions.ts'

export interface UtilityParts {
  /** How near it is in meaning to what is asked; 0 in list mode. */
  readonly relevance: number
  readonly confidence: number
  readonly trust: number
  readonly recency: number
  /** How much its tokens say: different words that say something, by token, at most 1. */
  readonly density: number
  /** How unlike it is to what was taken before: 1 less the highest cosine. */
  readonly novelty: number
}

export const PURPOSE_WEIGHTS: Readonly<Record<Purpose, UtilityParts>> = {
  answer: weights(0.3, 0.3, 0.2, 0.1, 0.05, 0.05),
  verify: weights(0.2, 0.4, 0.2, 0.1, 0.05, 0.05),
  explore: weights(0.2, 0.1, 0.1, 0.1, 0.1, 0.4),
  decide: weights(0.25, 0.25, 0.25, 0.15, 0.05, 0.05),
  create: weights(0.2, 0.1, 0.1, 0.05, 0.15, 0.4),
}

/** 0 to 1. */
export function utility(parts: UtilityParts, purpose: Purpose): number {
  const by = PURPOSE_WEIGHTS[purpose]
  return (
    by.relevance * parts.relevance +
    by.confidence * parts.confidence +
    by.trust * parts.trust +
    by.recency * parts.recency +
    by.density * parts.density +
    by.novelty * parts.novelty
  )
}

function weights(
  relevance: number,
  confidence: number,
  trust: number,
  recency: number,
  density: number,
  novelty: number,
): UtilityParts {
  return { relevance, confidence, trust, recency, density, novelty }
}
