/**
 * Ranks the messages of one conversation for one query. A message's score combines words and meaning, gets a share of its neighbours'
 * scores and of the score of the block of messages around it, and is multiplied by factors for speaker and time. Derivation of the weights:
 * docs/decisions/036.
 */

import { type Explanation, leaf, node } from '../../../model/explanation.ts'
import {
  constant,
  type Formula,
  max,
  NO_NUMBERS,
  number,
  product,
  quotient,
  scoreBy,
  sum,
} from '../../../model/formula.ts'
import { wordsIn } from '../../../pipeline/formula.ts'

export interface Ingredients {
  /** Weights of the scores for words and for meaning in the sum of both; the weights add up to 1. */
  readonly words: number
  readonly meaning: number
  /** Weight of the score of the block of neighbouring messages that contains the message; 0: blocks are ignored. */
  readonly block: number
  readonly speaker: number
  readonly when: number
  readonly user: number
}

const MEANING = 0.4
const WORDS = 0.6

export const PEOPLE: Ingredients = {
  ...{ words: WORDS, meaning: MEANING },
  ...{ block: 0.3, speaker: 1.2, when: 1.3, user: 1 },
}
export const ASSISTANT: Ingredients = {
  ...{ words: WORDS, meaning: MEANING },
  ...{ block: 0, speaker: 1, when: 1, user: 2 },
}

/**
 * Shares of the scores of neighbouring messages that a message gets: NEAR from each one next to it, FAR from each one two messages away.
 */
export const NEAR = 0.2
export const FAR = 0.1

/** Evidence by which the messages of one conversation are ranked, in the order in which the messages were said. */
export interface Evidence {
  readonly sessions: Int32Array
  /**
   * Positions of the messages that may have a score, ascending: those that match by words or meaning, those near a match, and those in a
   * block of messages that matches.
   */
  readonly places: Uint32Array
  readonly words: Float64Array
  /** Cosine of each message with the query; NaN: the message has no vector or was not compared. Empty: meaning does not count. */
  readonly cosines: Float64Array
  /** Cosine that counts as 0 in scores: the lowest one of the conversation where all of its messages were compared, else 0. */
  readonly minCosine: number
  /** BM25 score of the best block of neighbouring messages that contains the message; null: blocks are ignored. */
  readonly blockOf: ((at: number) => number) | null
  /** Factors that this query applies to messages, in the order of multiplication. */
  readonly factors: readonly Factor[]
}

/** A factor that raises the scores of those messages for which `holds` is true. */
export interface Factor {
  readonly name: 'speaker' | 'when' | 'user' | 'phrase'
  readonly by: number
  holds(at: number): boolean
}

/** Scores of messages by position; 0 for each message that is not among the positions to be scored. */
export interface Ranks {
  readonly fused: Float64Array
  readonly smoothed: Float64Array
  readonly scores: Float64Array
  readonly maxWords: number
  readonly maxCosine: number
  readonly maxSmoothed: number
  readonly maxBlock: number
}

export function rank(evidence: Evidence, ingredients: Ingredients): Ranks {
  const { places, blockOf, factors } = evidence
  const maxWords = greatest(evidence.words, places)
  const maxCosine = greatestCosine(evidence.cosines)
  const fused = fuse(evidence, ingredients, maxWords, maxCosine)
  const smoothed = smooth(evidence, fused)
  const maxSmoothed = greatest(smoothed, places)
  const maxBlock = blockOf === null ? 0 : greatestBlock(blockOf, places)
  const hasBlocks = blockOf !== null && ingredients.block > 0
  const scores = new Float64Array(smoothed.length)
  for (let i = 0; i < places.length; i++) {
    const at = places[i] as number
    let score = smoothed[at] as number
    if (hasBlocks) score = share(score, maxSmoothed) + ingredients.block * share(blockOf(at), maxBlock)
    for (const { by, holds } of factors) if (holds(at)) score *= by
    scores[at] = score
  }
  return { fused, smoothed, scores, maxWords, maxCosine, maxSmoothed, maxBlock }
}

function fuse(
  { places, words, cosines, minCosine }: Evidence,
  weights: Ingredients,
  maxWords: number,
  maxCosine: number,
): Float64Array {
  const span = maxCosine - minCosine
  const fused = new Float64Array(words.length)
  for (let i = 0; i < places.length; i++) {
    const at = places[i] as number
    const cosine = cosines[at] as number
    const ofWords = share(words[at] as number, maxWords)
    // For a message without a vector, the score for words takes the place of the missing score for meaning too (QE-007).
    const near = cosine > minCosine ? (cosine - minCosine) / span : Number.isNaN(cosine) ? ofWords : 0
    fused[at] = weights.words * ofWords + weights.meaning * near
  }
  return fused
}

function smooth({ sessions, places }: Evidence, fused: Float64Array): Float64Array {
  const smoothed = new Float64Array(fused.length)
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

/** Score by words and meaning of the message `distance` positions away; 0 where no message of the same session is there. */
export function neighbour(sessions: Int32Array, fused: Float64Array, at: number, distance: number): number {
  const other = at + distance
  if (other < 0 || other >= sessions.length) return 0
  return sessions[other] === sessions[at] ? (fused[other] as number) : 0
}

/** The largest of the values at the given positions; 0 where none of them is positive. */
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

/** The largest cosine, which may be negative; 0 where no message has a cosine. */
export function greatestCosine(cosines: Float64Array): number {
  let most = Number.NEGATIVE_INFINITY
  for (const cosine of cosines) if (cosine > most) most = cosine
  return Number.isFinite(most) ? most : 0
}

function share(value: number, most: number): number {
  return most > 0 ? value / most : 0
}

/**
 * Weight of a conversation, from its share of the highest possible evidence (0 to 1): the cube of that share (reasons: docs/decisions/036).
 */
export function amongOthers(share: number): number {
  return share * share * share
}

// How a message's score is made up: named numbers, and the formula that combines them (docs/decisions/036).

export type Signals = Readonly<Record<string, number>>

/**
 * Prefix of names such as `word 2`, under which the amount that one query word adds to a message's BM25 score is stored; the number is the
 * word's position in the query.
 */
const WORD = 'word '

export function wordSignal(place: number): string {
  return WORD + place
}

/** Explains a message's BM25 score as the sum of the amounts that the query words add. `words`: the query's words by position. */
export function wordsTree(signals: Signals, words: readonly string[]): Explanation {
  const matched = Object.entries(signals).filter(([name]) => name.startsWith(WORD))
  return node(
    'BM25',
    'sum',
    matched.map(([name, score]) => leaf(words[Number(name.slice(WORD.length))] as string, score)),
  )
}

const WORDS_PART = product(
  'words',
  [
    number('weight', 'words_weight'),
    quotient('of the greatest', number('BM25', 'bm25'), number('greatest BM25', 'words_most')),
  ],
  { component: 'words', detail: (_, { bm25 }) => wordsIn(bm25) },
)

const MIN_COSINE = number('least cosine', 'cosine_least', { negative: true })
const MEANING_PART = product(
  'meaning',
  [
    number('weight', 'meaning_weight'),
    quotient(
      'of the greatest',
      max('above the least', [
        sum('above the least', [number('cosine', 'cosine'), MIN_COSINE]),
        constant('none', 0, { shown: ({ cosine = 0, cosine_least: least = 0 }) => cosine < least }),
      ]),
      sum('range from the lowest to the highest', [number('greatest cosine', 'cosine_most'), MIN_COSINE]),
    ),
  ],
  { component: 'meaning', when: 'cosine', detail: ({ cosine = 0 }) => `cosine ${cosine.toFixed(2)}` },
)

/** Score for meaning of a message that has no vector yet: assumed equal to its score for words. */
const EXPECTED = product(
  'meaning expected',
  [
    number('weight', 'meaning_weight'),
    quotient('of the greatest', number('BM25', 'bm25'), number('greatest BM25', 'words_most')),
  ],
  { component: 'meaning', when: 'expected', detail: () => 'not embedded yet' },
)

function neighbourPart(label: string, name: string, weight: number): Formula {
  return product(label, [constant('weight', weight), number('score', name)], { component: 'neighbours' })
}

const WITH_NEIGHBOURS = sum('with neighbours', [
  sum('message', [WORDS_PART, MEANING_PART, EXPECTED]),
  neighbourPart('message before', 'before', NEAR),
  neighbourPart('message after', 'after', NEAR),
  neighbourPart('two messages before', 'two_before', FAR),
  neighbourPart('two messages after', 'two_after', FAR),
])

const BLOCK = product(
  'block',
  [
    number('weight', 'block_weight'),
    quotient(
      'words of the block, of the greatest',
      number('BM25 of the block', 'block'),
      number('greatest', 'block_most'),
    ),
  ],
  { component: 'block', when: 'block' },
)

const IN_CONVERSATION = product('in its conversation', [
  sum('in its context', [
    { ...WITH_NEIGHBOURS, unless: 'block' },
    quotient('with neighbours, of the greatest', WITH_NEIGHBOURS, number('greatest', 'smoothed_most'), {
      when: 'block',
    }),
    BLOCK,
  ]),
  number('speaker', 'speaker', { when: 'speaker', note: 'the query names the speaker' }),
  number('when', 'when', { when: 'when', note: 'the query asks for a time, and the message has one' }),
  number('user', 'user', { when: 'user', note: 'said by the user' }),
  number('phrase', 'phrase', { when: 'phrase', note: 'it contains phrases of the query' }),
])

/**
 * Weight of a conversation, before it is cubed: weight of words · its best BM25 / the highest possible BM25 + weight of meaning · its
 * largest cosine.
 */
const CONVERSATION = sum('conversation', [
  product('words', [
    number('weight', 'words_weight'),
    quotient(
      'of what they can score',
      number('greatest BM25', 'conversation_words'),
      number('possible', 'conversation_possible'),
    ),
  ]),
  product('meaning', [number('weight', 'meaning_weight'), number('cosine', 'conversation_cosine')]),
])

/**
 * Formula of a message's score. Where several conversations are searched, the message's score within its conversation is divided by the
 * upper bound `most` and multiplied by the conversation's weight.
 */
export const MESSAGE_SCORE = product('score', [
  { ...IN_CONVERSATION, unless: 'most' },
  quotient('of the most in its conversation', IN_CONVERSATION, number('most', 'most'), { when: 'most' }),
  product('conversation, cubed', [CONVERSATION, CONVERSATION, CONVERSATION], {
    when: 'most',
    detail: row => `conversation ${scoreBy(CONVERSATION, row, NO_NUMBERS).toFixed(2)}`,
  }),
])
