/** Scores one conversation for a query: each of its messages, and the conversation as a whole. */
import type { Bitset } from '../../../base/bitset.ts'
import { TopK } from '../../../base/top-k.ts'
import type { Steps } from '../../../base/turns.ts'
import type { EntryKey } from '../../../model/entry.ts'
import type { Query } from '../../../model/query.ts'
import { pageBar } from '../../../pipeline/page-depth.ts'
import { expectedCosine, USUAL_BASE } from '../../../pipeline/partly-embedded.ts'
import { type AskedWord, OF_MESSAGES, OF_PIECES, scoreTexts, type TextScores } from './bm25.ts'
import { type Cosines, cosinesOf, type MeaningQuery, NO_COSINES } from './cosines.ts'
import { type Moment, namedSpeaker, type Question } from './question.ts'
import {
  ASSISTANT,
  amongOthers,
  type Factor,
  greatest,
  greatestCosine,
  type Ingredients,
  neighbour,
  PEOPLE,
  type Ranks,
  rank,
  type Signals,
  wordSignal,
} from './ranking.ts'
import type { Transcript } from './transcripts.ts'

export interface Asking {
  readonly question: Question
  /** Words of the query by which messages are scored; empty: scores do not depend on words. */
  readonly words: readonly AskedWord[]
  /** Search by the query's vector; null: scores do not depend on meaning. */
  readonly meaning: MeaningQuery | null
  readonly weights: { readonly words: number; readonly meaning: number }
  /**
   * Messages that contain phrases of the query that are not required, each with the share of these phrases that it contains (above 0 to 1).
   */
  readonly holders: ReadonlyMap<EntryKey, number>
  /** Entries that are not valid at the time to which the query refers. */
  readonly invalid: Bitset
}

export interface ConversationScores {
  readonly moment: Moment
  /** Positions in the conversation, in ascending order, of the messages that may have a score. */
  readonly places: Uint32Array
  readonly ranks: Ranks
  readonly ingredients: Ingredients
  readonly factors: readonly Factor[]
  readonly words: Float64Array
  readonly cosines: Cosines
  readonly blockOf: ((at: number) => number) | null
  /** Upper bound of the BM25 score of a message for the query's words. */
  readonly possible: number
  /**
   * Index of the message's text unit (the whole message, or one of the pieces into which a long one is split) with the highest BM25 score.
   * -1: no unit contains a query word.
   */
  readonly unitOf: (at: number) => number
  readonly texts: TextScores
  /** Upper bound of a message's score in this conversation; scores are divided by it to make conversations comparable. */
  readonly most: number
  /**
   * The largest cosine of the conversation's messages with the query, at least 0. For messages without a vector, a cosine estimated from
   * their words is used if it is larger.
   */
  readonly nearness: number
  /** Weight of the conversation among all searched ones, from 0 to 1: the cube of its best evidence by words and meaning. */
  readonly weight: number
}

/** A conversation whose weight is known. Its messages are scored on demand, since results come from few conversations. */
export interface Weighed {
  /** Upper bound of the scores of the conversation's messages, on the scale on which messages of several conversations are compared. */
  readonly bound: number
  /** The largest cosine of the conversation's messages with the query; 0 where no message has a vector or all cosines are negative. */
  readonly cosine: number
  /** The highest BM25 score of a message, as a share of the highest possible score for the query's words: 0 to 1. */
  readonly coverage: number
  /** The message of the conversation with the largest cosine. */
  readonly nearest: EntryKey | undefined
  /** How many of the query's words the message with the largest cosine contains. */
  readonly held: number
  /** Whether the conversation contains at least one of the given messages. */
  holds(messages: ReadonlyMap<EntryKey, unknown>): boolean
  scores(): Steps<ConversationScores>
}

/**
 * Computes the weight of a conversation for a query, pausing for other work in between. Uses the messages that exist at the start; messages
 * added during a pause are ignored.
 */
export function* weighConversation(transcript: Transcript, asking: Asking): Steps<Weighed> {
  const { meaning } = asking
  const moment = yield* transcript.at(asking.invalid)
  const isPeople = transcript.profile === 'people'
  const ingredients = { ...(isPeople ? PEOPLE : ASSISTANT), ...asking.weights }
  yield
  const texts = yield* scoreTexts(moment.units, asking.words, isPeople ? OF_MESSAGES : OF_PIECES)
  const spoken = isPeople ? asMessages(texts) : bestPieces(moment, texts)
  yield
  const cosines = meaning === null ? NO_COSINES : cosinesOf(transcript, moment, spoken.words, meaning)
  yield
  const words = onlyListed(spoken.words, cosines)
  const { possible } = texts
  const maxWords = greatest(words, spoken.found)
  const cosine = Math.max(0, greatestCosine(cosines.values))
  const coverage = possible > 0 ? maxWords / possible : 0
  const at = cosines.values.indexOf(cosine)
  const nearest = moment.said[at]?.entry
  const unit = spoken.unitOf(at)
  const held = texts.order.filter((_, word) => !Number.isNaN(texts.partOf(word, unit))).length
  const nearness = meaning === null ? 0 : Math.max(cosine, expectedOf(spoken, cosines, possible, meaning))
  const weight = weightOf(coverage, nearness, ingredients)
  const ofSpeakers = (isPeople ? ofPeople : ofAssistants)(moment, asking.question, ingredients)
  const ofPhrases = phraseFactors(moment, asking.holders)
  const factors = [...ofSpeakers, ...ofPhrases]
  const scores = function* (): Steps<ConversationScores> {
    const blocks = moment.blocks === null ? null : yield* scoreTexts(moment.blocks.texts, asking.words, OF_MESSAGES)
    const places =
      meaning?.isScan === true ? Uint32Array.from(moment.said.keys()) : placesOf(moment, spoken, cosines, blocks)
    const blockOf = blocks === null ? null : bestBlock(moment, blocks)
    const { sessions } = moment
    const evidence = { sessions, places, words, cosines: cosines.values, minCosine: cosines.least, blockOf, factors }
    yield
    const ranks = rank(evidence, ingredients)
    const most = isPeople ? MAX_OF_PEOPLE : ranks.maxSmoothed * ingredients.user
    return {
      ...{ moment, places, ranks, ingredients, factors, words, cosines, blockOf, possible, texts, most },
      ...{ nearness, weight },
      unitOf: spoken.unitOf,
    }
  }
  // In a chat with an assistant, `most` (the upper bound of a message's score) already includes the factor that raises messages of the
  // user.
  const raisedBy = isPeople ? factors : ofPhrases
  const raised = raisedBy.reduce((score, { by }) => score * by, MAX_OF_PEOPLE) / MAX_OF_PEOPLE
  const holds = (messages: ReadonlyMap<EntryKey, unknown>) =>
    [...messages.keys()].some(key => transcript.entries.has(key))
  return { bound: raised * weight, cosine, nearest, coverage, held, holds, scores }
}

/**
 * Share by which a message's score is raised when it contains all phrases of the query that are not required; with fewer phrases,
 * proportionally less.
 */
const PHRASE_LIFT = 0.5

/**
 * Factors that raise messages containing phrases of the query. Messages that contain the same share of the phrases have the same factor, so
 * there is one factor for each share that occurs.
 */
function phraseFactors({ said }: Moment, holders: ReadonlyMap<EntryKey, number>): readonly Factor[] {
  if (holders.size === 0) return []
  const shares = new Set(said.flatMap(({ entry }) => holders.get(entry) ?? []))
  return [...shares].map(share => ({
    name: 'phrase',
    by: 1 + PHRASE_LIFT * share,
    holds: at => holders.get((said[at] as { entry: EntryKey }).entry) === share,
  }))
}

/** Upper bound of the score of a message between people, before the factors for speaker, time and phrases. */
const MAX_OF_PEOPLE = 1 + PEOPLE.block

/**
 * Weight of a conversation: (words · coverage + meaning · cosine)³, where coverage is its best BM25 score as a share of the highest
 * possible one. Needed because scores are relative to the best message of their own conversation, which every conversation has, however
 * unrelated to the query.
 */
function weightOf(coverage: number, cosine: number, { words, meaning }: Ingredients): number {
  const share = words * coverage + meaning * cosine
  return amongOthers(share)
}

/**
 * Estimates the cosine of the messages without a vector from the one among them that matches the query's words best; 0 where none of them
 * contains a query word.
 */
function expectedOf({ words, found }: SpokenWords, { values }: Cosines, possible: number, asked: MeaningQuery): number {
  let best = 0
  for (const at of found) if (Number.isNaN(values[at])) best = Math.max(best, words[at] as number)
  return best === 0 ? 0 : expectedCosine(best, possible, USUAL_BASE) / asked.cosineScale
}

/** BM25 scores of messages for the query's words. A message that is split into several text units has the score of its best unit. */
interface SpokenWords {
  readonly words: Float64Array
  /** Positions of the messages whose score is above 0, in no particular order, without duplicates. */
  readonly found: Uint32Array
  readonly unitOf: (at: number) => number
}

/** Scores of messages in a conversation between people, where each message is searched as one text and never split. */
function asMessages({ scores, found }: TextScores): SpokenWords {
  return { words: scores, found, unitOf: at => at }
}

function bestPieces({ said, unitMessage }: Moment, { scores, found }: TextScores): SpokenWords {
  const words = new Float64Array(said.length)
  const units = new Map<number, number>()
  // The text units (pieces of messages) are visited in ascending order, so that of a message's equally good units the first is kept.
  for (const unit of found.toSorted()) {
    const message = unitMessage[unit] as number
    const score = scores[unit] as number
    if (score <= (words[message] as number)) continue
    words[message] = score
    units.set(message, unit)
  }
  return { words, found: Uint32Array.from(units.keys()), unitOf: at => units.get(at) ?? -1 }
}

function onlyListed(words: Float64Array, { listed }: Cosines): Float64Array {
  if (listed === null) return words
  const kept = new Float64Array(words.length)
  for (const at of listed) kept[at] = words[at] as number
  return kept
}

/** Distance, in messages, up to which the score of a message raises those of its neighbours. */
const REACH = 2

/**
 * Positions of the messages that may have a score. Most messages neither contain a query word nor are near one that does, and need not be
 * examined.
 */
function placesOf(
  { said, blocks }: Moment,
  { found }: SpokenWords,
  { listed }: Cosines,
  scored: TextScores | null,
): Uint32Array {
  const isPlace = new Uint8Array(said.length)
  for (const at of listed ?? found) isPlace.fill(1, Math.max(0, at - REACH), at + REACH + 1)
  for (const block of scored?.found ?? []) for (const at of blocks?.of.members[block] ?? []) isPlace[at] = 1
  const places = new Uint32Array(said.length)
  let count = 0
  for (let at = 0; at < isPlace.length; at++) if (isPlace[at] === 1) places[count++] = at
  return places.subarray(0, count)
}

/** For each message, the BM25 score of the better of the blocks (groups of neighbouring messages) that contain it. */
function bestBlock({ blocks }: Moment, { scores }: TextScores): (at: number) => number {
  const { first, second } = (blocks as NonNullable<Moment['blocks']>).of
  return at => {
    const other = second[at] as number
    return Math.max(scores[first[at] as number] as number, other < 0 ? 0 : (scores[other] as number))
  }
}

function ofPeople({ said, speakers }: Moment, question: Question, { speaker, when }: Ingredients): readonly Factor[] {
  const named = namedSpeaker(speakers, question)
  return [
    ...(named === null ? [] : [{ name: 'speaker', by: speaker, holds: at => said[at]?.speaker === named } as Factor]),
    ...(question.when ? [{ name: 'when', by: when, holds: at => said[at]?.saysTime === true } as Factor] : []),
  ]
}

function ofAssistants({ said }: Moment, { ofAssistant }: Question, { user }: Ingredients): readonly Factor[] {
  return ofAssistant ? [] : [{ name: 'user', by: user, holds: at => said[at]?.role === 'user' }]
}

// Finds the highest-scoring messages among those of several conversations.

/** A scored message: its conversation, and its index in that conversation. */
export interface Place {
  readonly of: ConversationScores
  readonly at: number
  readonly score: number
}

/**
 * The `depth` best messages of all conversations, among those that may be answers, with all that tie with the last of them. Messages in
 * `kept` are added if they have a score. A conversation whose upper bound is too low is not scored. `isCut`: whether other messages have a
 * score too.
 */
export function* bestOf(
  conversations: readonly Weighed[],
  depth: number,
  isAnswer: (entry: EntryKey) => boolean,
  kept: ReadonlyMap<EntryKey, unknown> = NONE_KEPT,
): Steps<{ readonly best: readonly Place[]; readonly isCut: boolean }> {
  const isAlone = conversations.length === 1
  const top = new TopK<number>(depth, (a, b) => b - a)
  const scored: ConversationScores[] = []
  let answers = 0
  let least = 0
  let isCut = false
  for (const { bound, holds, scores: scoresOf } of conversations.toSorted((a, b) => b.bound - a.bound)) {
    if (!isAlone && bound < least) {
      isCut = true
      if (!holds(kept)) continue
    }
    const of = yield* scoresOf()
    scored.push(of)
    yield
    for (let i = 0; i < of.places.length; i++) {
      const at = of.places[i] as number
      const score = scoreAmong(of, at, isAlone)
      if (score === NONE) continue
      if (score < least) isCut = true
      if (score < least || !isAnswer(entryOf(of, at))) continue
      answers++
      if (top.full && score === least) continue
      top.push(score)
      if (top.full) least = top.worst as number
    }
  }
  const best = scored.flatMap(of => placesFrom(of, isAlone, least, isAnswer, kept))
  return { best, isCut: isCut || best.length < answers }
}

const NONE_KEPT: ReadonlyMap<EntryKey, unknown> = new Map()

/** Score that marks a message without a score. */
const NONE = -1

/**
 * Score of a message on the scale shared by all searched conversations: its score within its conversation divided by the upper bound there,
 * times the conversation's weight. With a single conversation (`isAlone`), the score within it.
 */
function scoreAmong({ ranks, most, weight }: ConversationScores, at: number, isAlone: boolean): number {
  const within = ranks.scores[at] as number
  if (!(within > 0)) return NONE
  return isAlone ? within : (within / most) * weight
}

function entryOf({ moment }: ConversationScores, at: number): EntryKey {
  return (moment.said[at] as { entry: EntryKey }).entry
}

function placesFrom(
  of: ConversationScores,
  isAlone: boolean,
  least: number,
  isAnswer: (entry: EntryKey) => boolean,
  kept: ReadonlyMap<EntryKey, unknown>,
): readonly Place[] {
  const found: Place[] = []
  for (let i = 0; i < of.places.length; i++) {
    const at = of.places[i] as number
    const score = scoreAmong(of, at, isAlone)
    const entry = entryOf(of, at)
    if ((score >= least || (score !== NONE && kept.has(entry))) && isAnswer(entry)) found.push({ of, at, score })
  }
  return found
}

/**
 * Indexes, in the ranked list `best`, of the messages whose scores are high enough that the requested page may show them, and of all
 * messages in `kept`.
 */
export function nearThePage(
  best: readonly Place[],
  query: Query,
  depth: number,
  kept: ReadonlyMap<EntryKey, unknown>,
): readonly number[] {
  const scores = best.map(({ score }) => score)
  const bar = pageBar(scores, query, depth)
  const near: number[] = []
  for (const [place, { of, at, score }] of best.entries()) {
    if (score >= bar || kept.has(entryOf(of, at))) near.push(place)
  }
  return near
}

/** A message found as an answer, with the named numbers from which its score is computed. */
export interface Answering {
  readonly entry: EntryKey
  /** Index, from 0, of the piece of the message that matched, in a chat with an assistant. */
  readonly piece: number
  readonly signals: Signals
}

/**
 * The named numbers from which a message's score is computed. `isAlone`: only one conversation is searched, so the conversation's weight is
 * left out.
 */
export function answeringOf({ of, at }: Place, isAlone: boolean): Answering {
  const { ranks, ingredients, factors, words, cosines, blockOf, moment, texts } = of
  const [bm25, cosine] = [words[at] as number, cosines.values[at]]
  const near = (distance: number) => neighbour(moment.sessions, ranks.fused, at, distance)
  const hasNoVector = cosine !== undefined && Number.isNaN(cosine)
  const signals: Record<string, number> = {
    words_weight: ingredients.words,
    meaning_weight: ingredients.meaning,
    cosine_least: cosines.least,
    cosine_most: ranks.maxCosine,
    bm25,
    words_most: bm25 > 0 ? ranks.maxWords : 0,
    ...{ before: near(-1), after: near(1), two_before: near(-2), two_after: near(2) },
    ...(cosine !== undefined && !hasNoVector && { cosine }),
    ...(hasNoVector && bm25 > 0 && { expected: 1 }),
    ...(blockOf !== null && {
      ...{ block: blockOf(at), block_weight: ingredients.block, block_most: ranks.maxBlock },
      smoothed_most: ranks.maxSmoothed,
    }),
    ...(!isAlone && {
      ...{ most: of.most, conversation_words: ranks.maxWords },
      ...{ conversation_possible: of.possible, conversation_cosine: of.nearness },
    }),
  }
  for (const { name, by, holds } of factors) if (holds(at)) signals[name] = by
  const unit = bm25 > 0 ? of.unitOf(at) : -1
  for (let word = 0; unit >= 0 && word < texts.order.length; word++) {
    const part = texts.partOf(word, unit)
    if (!Number.isNaN(part)) signals[wordSignal(texts.order[word] as number)] = part
  }
  return { entry: entryOf(of, at), piece: moment.unitOrdinal[of.unitOf(at)] ?? 0, signals }
}
