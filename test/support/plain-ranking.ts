/**
 * How the messages of one conversation are ranked for one query, plain and exact: every message is scored. Each of the two
 * searches gives one number per message.
 */

export interface Scored {
  readonly session: string
  readonly bm25: number
  readonly cosine: number
  /** Best BM25 of the blocks that hold the message. */
  readonly block: number
  /** By the one speaker whom the question names. */
  readonly named: boolean
  /** Holds a time expression, and the question asks when. */
  readonly timed: boolean
  /** By the user of an assistant chat, and the question is not about the assistant. */
  readonly user: boolean
}

export interface Ingredients {
  /** Share of the cosine in the fusion, 0 to 1. */
  readonly vectors: number
  readonly smoothing: boolean
  /** Weight of the block prior; 0 leaves it out. */
  readonly block: number
  readonly speaker: number
  readonly when: number
  readonly user: number
}

export const PEOPLE: Ingredients = { vectors: 0.4, smoothing: true, block: 0.3, speaker: 1.2, when: 1.3, user: 1 }
export const ASSISTANT: Ingredients = { vectors: 0.4, smoothing: true, block: 0, speaker: 1, when: 1, user: 2 }

/** By distance of the neighbour in messages. */
const NEIGHBOURS = [
  [1, 0.2],
  [2, 0.1],
] as const

/** One final score a message, in order. Messages are in the order in which they were said. */
export function finalScores(messages: readonly Scored[], ingredients: Ingredients): readonly number[] {
  const fused = fuse(messages, ingredients.vectors)
  const smoothed = ingredients.smoothing ? smooth(messages, fused) : fused
  const primed = ingredients.block > 0 ? withPrior(messages, smoothed, ingredients.block) : smoothed
  return primed.map((score, at) => score * factor(messages[at] as Scored, ingredients))
}

function fuse(messages: readonly Scored[], vectors: number): readonly number[] {
  const words = overMax(messages.map(({ bm25 }) => bm25))
  const cosines = messages.map(({ cosine }) => cosine)
  const least = Math.min(...cosines)
  const meaning = overMax(cosines.map(cosine => cosine - least))
  return words.map((word, at) => (1 - vectors) * word + vectors * (meaning[at] ?? 0))
}

function smooth(messages: readonly Scored[], scores: readonly number[]): readonly number[] {
  return scores.map((score, at) => {
    const near = (place: number) => (messages[place]?.session === messages[at]?.session ? (scores[place] ?? 0) : 0)
    return NEIGHBOURS.reduce(
      (sum, [distance, weight]) => sum + weight * (near(at - distance) + near(at + distance)),
      score,
    )
  })
}

function withPrior(messages: readonly Scored[], scores: readonly number[], weight: number): readonly number[] {
  const prior = overMax(messages.map(({ block }) => block))
  return overMax(scores).map((score, at) => score + weight * (prior[at] ?? 0))
}

function factor({ named, timed, user }: Scored, { speaker, when, user: weight }: Ingredients): number {
  return (named ? speaker : 1) * (timed ? when : 1) * (user ? weight : 1)
}

/** All zero where the greatest is zero. */
function overMax(values: readonly number[]): readonly number[] {
  const most = Math.max(...values)
  return values.map(value => (most > 0 ? value / most : 0))
}
