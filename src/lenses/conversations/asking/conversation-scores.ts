/** What one conversation scores for a question: each message, and the conversation as a whole. */
import type { Bitset } from '../../../base/bitset.ts'
import { type AskedWord, OF_MESSAGES, OF_PIECES, scoreTexts, type TextScores } from './bm25.ts'
import { type Cosines, cosinesOf, type MeaningAsked, noCosines } from './cosines.ts'
import type { Moment } from './moment.ts'
import { namedSpeaker, type Question } from './question.ts'
import { ASSISTANT, type Ingredients, PEOPLE, type Ranks, rank } from './ranking.ts'
import type { Transcript } from './transcript.ts'

export interface Asking {
  readonly question: Question
  /** None: words do not count. */
  readonly words: readonly AskedWord[]
  /** Null: meaning does not count. */
  readonly meaning: MeaningAsked | null
  readonly weights: { readonly words: number; readonly meaning: number }
  /** Entries that are not there at the moment asked about. */
  readonly invalid: Bitset
}

export interface ConversationScores {
  readonly moment: Moment
  readonly ranks: Ranks
  readonly ingredients: Ingredients
  readonly words: Float64Array
  readonly cosines: Cosines
  readonly blocks: Float64Array | null
  readonly named: string | null
  /** What its words can score at most. */
  readonly possible: number
  /** By message, the unit with its best words. */
  readonly bestUnit: Int32Array
  readonly texts: TextScores
  /** What a message can score at most, before it is weighed by speaker and time. */
  readonly most: number
  /** How much speaks for the conversation as a whole, 0 to 1: see `weightOf`. */
  readonly weight: number
  readonly isTimed: (at: number) => boolean
  readonly isUser: (at: number) => boolean
}

export function scoreConversation(transcript: Transcript, asking: Asking): ConversationScores {
  const moment = transcript.at(asking.invalid)
  const isPeople = transcript.profile === 'people'
  const ingredients = { ...(isPeople ? PEOPLE : ASSISTANT), ...asking.weights }
  const texts = scoreTexts(moment.units, asking.words, isPeople ? OF_MESSAGES : OF_PIECES)
  const { best: wordsOf, units: bestUnit } = bestUnits(moment, texts)
  const cosines = asking.meaning === null ? noCosines(moment) : cosinesOf(transcript, moment, wordsOf, asking.meaning)
  const words = onlyListed(wordsOf, cosines)
  const blocks = blocksOf(moment, asking)
  const { question } = asking
  const named = isPeople ? namedSpeaker(moment.speakers, question) : null
  const { said } = moment
  const isTimed = (at: number) => isPeople && question.when && said[at]?.saysTime === true
  const isUser = (at: number) => !isPeople && !question.ofAssistant && said[at]?.role === 'user'
  const evidence = {
    ...{ sessions: moment.sessions, words, cosines: cosines.values, leastCosine: cosines.least, blocks },
    ...{ isNamed: (at: number) => named !== null && said[at]?.speaker === named, isTimed, isUser },
  }
  const ranks = rank(evidence, ingredients)
  const most = isPeople ? 1 + ingredients.block : ranks.mostSmoothed * ingredients.user
  const { possible } = texts
  const found = { moment, ranks, ingredients, words, cosines, blocks, named, possible, bestUnit, texts, most }
  return { ...found, isTimed, isUser, weight: weightOf(ranks, possible, ingredients) }
}

/**
 * Its best words as a share of what words can score in it, and its greatest cosine, weighed as in the fusion; cubed. Scores
 * within a conversation say nothing about others: each has a best message, however foreign the question.
 */
function weightOf({ mostWords, mostCosine }: Ranks, possible: number, { words, meaning }: Ingredients): number {
  const share = words * (possible > 0 ? mostWords / possible : 0) + meaning * Math.max(0, mostCosine)
  return share * share * share
}

function bestUnits(moment: Moment, { scores }: TextScores): { best: Float64Array; units: Int32Array } {
  const best = new Float64Array(moment.said.length)
  const units = new Int32Array(moment.said.length).fill(-1)
  for (let unit = 0; unit < moment.unitMessage.length; unit++) {
    const message = moment.unitMessage[unit] as number
    const score = scores[unit] as number
    if ((units[message] as number) >= 0 && score <= (best[message] as number)) continue
    best[message] = score
    units[message] = unit
  }
  return { best, units }
}

function onlyListed(words: Float64Array, { listed }: Cosines): Float64Array {
  if (listed === null) return words
  const kept = new Float64Array(words.length)
  for (const at of listed) kept[at] = words[at] as number
  return kept
}

/** By message, the best of the blocks that hold it. */
function blocksOf({ blocks, said }: Moment, { words }: Asking): Float64Array | null {
  if (blocks === null) return null
  const { scores } = scoreTexts(blocks.texts, words, OF_MESSAGES)
  const { first, second } = blocks.of
  const best = new Float64Array(said.length)
  for (let at = 0; at < best.length; at++) {
    const other = second[at] as number
    best[at] = Math.max(scores[first[at] as number] as number, other < 0 ? 0 : (scores[other] as number))
  }
  return best
}
