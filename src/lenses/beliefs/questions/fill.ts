/** Takes the best of what fits under a hard limit of tokens, again and again; what is like something taken is worth less. */
import type { Purpose } from '../schema/questions.ts'

interface Candidate {
  readonly tokens: number
  readonly parts: Omit<UtilityParts, 'novelty'>
}

interface Taken {
  /** Its place among the candidates. */
  readonly place: number
  readonly utility: number
  readonly novelty: number
}

interface FillRequest {
  /** In the total order: of equal worth the earlier one is taken. */
  readonly candidates: readonly Candidate[]
  readonly purpose: Purpose
  /** Never exceeded. */
  readonly maxTokens: number
  /** Once there are so many, nothing more is taken. */
  readonly targetTokens: number
  /** Raw cosine of two candidates. */
  likeness(a: number, b: number): number
  /** Called before each is taken, and may throw. */
  look?(): void
}

export function fill({ candidates, purpose, maxTokens, targetTokens, likeness, look }: FillRequest): readonly Taken[] {
  const taken: Taken[] = []
  const open = new Set(candidates.keys())
  /** Highest likeness to what was taken, by place. */
  const likest = new Float64Array(candidates.length)
  let total = 0
  while (total < targetTokens) {
    look?.()
    let best: Taken | null = null
    for (const place of open) {
      const { tokens, parts } = candidates[place] as Candidate
      if (total + tokens > maxTokens) continue
      const novelty = 1 - (likest[place] as number)
      const worth = utility({ ...parts, novelty }, purpose)
      if (best === null || worth > best.utility) best = { place, utility: worth, novelty }
    }
    if (best === null) break
    taken.push(best)
    open.delete(best.place)
    total += (candidates[best.place] as Candidate).tokens
    // What is the opposite of something is as new as what has nothing to do with it.
    for (const other of open) likest[other] = Math.max(likest[other] as number, likeness(best.place, other))
  }
  return taken
}

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
