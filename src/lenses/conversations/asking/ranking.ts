/**
 * How the messages of one conversation are ranked for one question: words and meaning fused, smoothed over neighbours, lifted
 * by the block around them, and weighed by who speaks and whether a time is said. Where the weights come from:
 * docs/decisions/052.
 */

export interface Ingredients {
  /** Shares of the fusion, together 1. */
  readonly words: number
  readonly meaning: number
  readonly smoothing: boolean
  /** Weight of the block prior; 0 leaves it out. */
  readonly block: number
  readonly speaker: number
  readonly when: number
  readonly user: number
}

const MEANING = 0.4
const WORDS = 0.6

export const PEOPLE: Ingredients = {
  ...{ words: WORDS, meaning: MEANING, smoothing: true },
  ...{ block: 0.3, speaker: 1.2, when: 1.3, user: 1 },
}
export const ASSISTANT: Ingredients = {
  ...{ words: WORDS, meaning: MEANING, smoothing: true },
  ...{ block: 0, speaker: 1, when: 1, user: 2 },
}

/** Of the neighbour one message away, and of the one two away. */
export const NEAR = 0.2
export const FAR = 0.1

/** What is known of the messages of one conversation, in the order in which they were said. */
export interface Evidence {
  readonly sessions: Int32Array
  readonly words: Float64Array
  /** NaN: it has no vector, or was not looked at. */
  readonly cosines: Float64Array
  /** What the least of them counts as: the least of all where all were looked at, else 0. */
  readonly leastCosine: number
  /** Best of the blocks that hold the message; null: blocks do not count. */
  readonly blocks: Float64Array | null
  /** By the one speaker whom the question names. */
  readonly isNamed: (at: number) => boolean
  /** Says a time, and the question asks when. */
  readonly isTimed: (at: number) => boolean
  /** By the user of an assistant's chat, and the question is not about the assistant. */
  readonly isUser: (at: number) => boolean
}

export interface Ranks {
  readonly fused: Float64Array
  readonly smoothed: Float64Array
  readonly scores: Float64Array
  readonly mostWords: number
  readonly mostCosine: number
  readonly mostSmoothed: number
  readonly mostBlock: number
}

export function rank(evidence: Evidence, ingredients: Ingredients): Ranks {
  const mostWords = greatest(evidence.words)
  const mostCosine = greatestCosine(evidence.cosines)
  const fused = fuse(evidence, ingredients, mostWords, mostCosine)
  const smoothed = ingredients.smoothing ? smooth(evidence.sessions, fused) : fused
  const mostSmoothed = greatest(smoothed)
  const { blocks } = evidence
  const mostBlock = blocks === null ? 0 : greatest(blocks)
  const hasBlocks = blocks !== null && ingredients.block > 0
  const scores = new Float64Array(smoothed.length)
  for (let at = 0; at < scores.length; at++) {
    let score = smoothed[at] as number
    if (hasBlocks) score = share(score, mostSmoothed) + ingredients.block * share(blocks[at] as number, mostBlock)
    if (evidence.isNamed(at)) score *= ingredients.speaker
    if (evidence.isTimed(at)) score *= ingredients.when
    if (evidence.isUser(at)) score *= ingredients.user
    scores[at] = score
  }
  return { fused, smoothed, scores, mostWords, mostCosine, mostSmoothed, mostBlock }
}

function fuse(
  { words, cosines, leastCosine }: Evidence,
  weights: Ingredients,
  mostWords: number,
  mostCosine: number,
): Float64Array {
  const span = mostCosine - leastCosine
  const fused = new Float64Array(words.length)
  for (let at = 0; at < fused.length; at++) {
    const cosine = cosines[at] as number
    const meaning = cosine > leastCosine ? weights.meaning * ((cosine - leastCosine) / span) : 0
    fused[at] = weights.words * share(words[at] as number, mostWords) + meaning
  }
  return fused
}

function smooth(sessions: Int32Array, fused: Float64Array): Float64Array {
  const smoothed = new Float64Array(fused.length)
  for (let at = 0; at < fused.length; at++) {
    const [before, after] = [neighbour(sessions, fused, at, -1), neighbour(sessions, fused, at, 1)]
    const [twoBefore, twoAfter] = [neighbour(sessions, fused, at, -2), neighbour(sessions, fused, at, 2)]
    smoothed[at] = (fused[at] as number) + NEAR * before + NEAR * after + FAR * twoBefore + FAR * twoAfter
  }
  return smoothed
}

/** 0 where there is none in the same session. */
export function neighbour(sessions: Int32Array, fused: Float64Array, at: number, distance: number): number {
  return sessions[at + distance] === sessions[at] ? (fused[at + distance] as number) : 0
}

/** 0 where there is no number above it. */
function greatest(values: Float64Array): number {
  let most = 0
  for (const value of values) if (value > most) most = value
  return most
}

/** 0 where there is none; it may lie below 0. */
function greatestCosine(cosines: Float64Array): number {
  let most = Number.NEGATIVE_INFINITY
  for (const cosine of cosines) if (cosine > most) most = cosine
  return Number.isFinite(most) ? most : 0
}

function share(value: number, most: number): number {
  return most > 0 ? value / most : 0
}
