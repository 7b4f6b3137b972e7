/**
 * How the messages of one conversation are ranked for one question: words and meaning fused, smoothed over neighbours, lifted
 * by the block around them, and weighed by who speaks and whether a time is said. Where the weights come from:
 * docs/decisions/036.
 */
import type { Workspace } from './workspace.ts'

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
  /** Messages that may have a score, ascending: what words or meaning speak for, their neighbours, and their blocks. */
  readonly places: Uint32Array
  readonly words: Float64Array
  /** NaN: it has no vector, or was not looked at. Absent: meaning does not count. */
  readonly cosines: Float64Array
  /** What the least of them counts as: the least of all where all were looked at, else 0. */
  readonly leastCosine: number
  /** Best of the blocks that hold the message; null: blocks do not count. */
  readonly blockOf: ((at: number) => number) | null
  /** Those that the question gives rise to, in the order in which they are worked in. */
  readonly factors: readonly Factor[]
}

/** What raises the score of some messages. */
export interface Factor {
  readonly name: 'speaker' | 'when' | 'user' | 'phrase'
  readonly by: number
  holds(at: number): boolean
}

/** By message; 0 where it is not among the places. */
export interface Ranks {
  readonly fused: Float64Array
  readonly smoothed: Float64Array
  readonly scores: Float64Array
  readonly mostWords: number
  readonly mostCosine: number
  readonly mostSmoothed: number
  readonly mostBlock: number
}

/** What it gives is in the workspace. */
export function rank(evidence: Evidence, ingredients: Ingredients, workspace: Workspace): Ranks {
  const { places, blockOf, factors } = evidence
  const mostWords = greatest(evidence.words, places)
  const mostCosine = greatestCosine(evidence.cosines)
  const fused = fuse(evidence, ingredients, mostWords, mostCosine, workspace)
  const smoothed = ingredients.smoothing ? smooth(evidence, fused, workspace) : fused
  const mostSmoothed = greatest(smoothed, places)
  const mostBlock = blockOf === null ? 0 : greatestBlock(blockOf, places)
  const hasBlocks = blockOf !== null && ingredients.block > 0
  const scores = workspace.float64(smoothed.length)
  for (let i = 0; i < places.length; i++) {
    const at = places[i] as number
    let score = smoothed[at] as number
    if (hasBlocks) score = share(score, mostSmoothed) + ingredients.block * share(blockOf(at), mostBlock)
    for (const { by, holds } of factors) if (holds(at)) score *= by
    scores[at] = score
  }
  return { fused, smoothed, scores, mostWords, mostCosine, mostSmoothed, mostBlock }
}

function fuse(
  { places, words, cosines, leastCosine }: Evidence,
  weights: Ingredients,
  mostWords: number,
  mostCosine: number,
  workspace: Workspace,
): Float64Array {
  const span = mostCosine - leastCosine
  const fused = workspace.float64(words.length)
  for (let i = 0; i < places.length; i++) {
    const at = places[i] as number
    const cosine = cosines[at] as number
    const ofWords = share(words[at] as number, mostWords)
    // Without a vector its words stand in for its meaning (QE-007).
    const near = cosine > leastCosine ? (cosine - leastCosine) / span : Number.isNaN(cosine) ? ofWords : 0
    fused[at] = weights.words * ofWords + weights.meaning * near
  }
  return fused
}

function smooth({ sessions, places }: Evidence, fused: Float64Array, workspace: Workspace): Float64Array {
  const smoothed = workspace.float64(fused.length)
  for (let i = 0; i < places.length; i++) {
    const at = places[i] as number
    smoothed[at] =
      (fused[at] as number) +
      NEAR * neighbour(sessions, fused, at, -1) +
      NEAR * neighbour(sessions, fused, at, 1) +
      FAR * neighbour(sessions, fused, at, -2) +
      FAR * neighbour(sessions, fused, at, 2)
  }
  return smoothed
}

/** 0 where there is none in the same session. */
export function neighbour(sessions: Int32Array, fused: Float64Array, at: number, distance: number): number {
  const other = at + distance
  if (other < 0 || other >= sessions.length) return 0
  return sessions[other] === sessions[at] ? (fused[other] as number) : 0
}

/** 0 where there is no number above it. */
export function greatest(values: Float64Array, places: Uint32Array): number {
  let most = 0
  for (let i = 0; i < places.length; i++) {
    const value = values[places[i] as number] as number
    if (value > most) most = value
  }
  return most
}

function greatestBlock(blockOf: (at: number) => number, places: Uint32Array): number {
  let most = 0
  for (let i = 0; i < places.length; i++) most = Math.max(most, blockOf(places[i] as number))
  return most
}

/** 0 where there is none; it may lie below 0. */
export function greatestCosine(cosines: Float64Array): number {
  let most = Number.NEGATIVE_INFINITY
  for (const cosine of cosines) if (cosine > most) most = cosine
  return Number.isFinite(most) ? most : 0
}

function share(value: number, most: number): number {
  return most > 0 ? value / most : 0
}

/** What a conversation counts among others, by the share of what can speak for it: why the cube, docs/decisions/036. */
export function amongOthers(share: number): number {
  return share * share * share
}
