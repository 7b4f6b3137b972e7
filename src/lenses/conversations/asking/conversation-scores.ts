/** Scores of one conversation for a query: of each message, and of the conversation as a whole. */
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
  /** Words of the query; empty: words do not count. */
  readonly words: readonly AskedWord[]
  /** Vector search of the query; null: meaning does not count. */
  readonly meaning: MeaningQuery | null
  readonly weights: { readonly words: number; readonly meaning: number }
  /** Messages that contain phrases which are not required, with the share of those phrases that each contains. */
  readonly holders: ReadonlyMap<EntryKey, number>
  /** Entries that do not exist at the time that the query is about. */
  readonly invalid: Bitset
}

export interface ConversationScores {
  readonly moment: Moment
  /** Positions of the messages that may have a score, ascending. */
  readonly places: Uint32Array
  readonly ranks: Ranks
  readonly ingredients: Ingredients
  readonly factors: readonly Factor[]
  readonly words: Float64Array
  readonly cosines: Cosines
  readonly blockOf: ((at: number) => number) | null
  /** Upper bound of the score of words. */
  readonly possible: number
  /** The text unit with the best score of words in a message. */
  readonly unitOf: (at: number) => number
  readonly texts: TextScores
  /** Upper bound of a message's score before factors for speaker and time. */
  readonly most: number
  /** The largest cosine of its messages, or the one expected of those without a vector; at least 0. */
  readonly nearness: number
  /** Weight of the conversation as a whole, from 0 to 1: see `weightOf`. */
  readonly weight: number
}

/** A weighed conversation whose messages are scored on demand, since results come from few conversations. */
export interface Weighed {
  /** Upper bound of the scores of its messages, among those of other conversations. */
  readonly bound: number
  /** The largest cosine of its messages; 0 where none has a vector. */
  readonly cosine: number
  /** The largest share that a message reaches of the highest possible score of the query's words, from 0 to 1. */
  readonly coverage: number
  /** The message with the largest cosine. */
  readonly nearest: EntryKey | undefined
  /** How many of the query's words that message contains. */
  readonly held: number
  /** Whether the conversation contains one of these messages. */
  holds(messages: ReadonlyMap<EntryKey, unknown>): boolean
  scores(): Steps<ConversationScores>
}

/** Weighs a conversation in steps, as it is at the first step; messages added later are ignored. */
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
  // In a chat with an assistant, the factor for the speaker is already in the upper bound of a message's score.
  const raisedBy = isPeople ? factors : ofPhrases
  const raised = raisedBy.reduce((score, { by }) => score * by, MAX_OF_PEOPLE) / MAX_OF_PEOPLE
  const holds = (messages: ReadonlyMap<EntryKey, unknown>) =>
    [...messages.keys()].some(key => transcript.entries.has(key))
  return { bound: raised * weight, cosine, nearest, coverage, held, holds, scores }
}

/** Increase of the score of messages that contain all phrases which are not required; fewer phrases raise it in proportion. */
const PHRASE_LIFT = 0.5

/** Factors for phrases: one for each number of phrases that a message may contain. */
function phraseFactors({ said }: Moment, holders: ReadonlyMap<EntryKey, number>): readonly Factor[] {
  if (holders.size === 0) return []
  const shares = new Set(said.flatMap(({ entry }) => holders.get(entry) ?? []))
  return [...shares].map(share => ({
    name: 'phrase',
    by: 1 + PHRASE_LIFT * share,
    holds: at => holders.get((said[at] as { entry: EntryKey }).entry) === share,
  }))
}

/** Upper bound of a message's score between people, before factors for speaker and time. */
const MAX_OF_PEOPLE = 1 + PEOPLE.block

/**
 * Weight of a conversation: its best score of words as a share of the possible one, and its largest cosine, weighted as in the fusion;
 * cubed. Scores within a conversation cannot be compared with others: each has a best message, however unrelated the query is.
 */
function weightOf(coverage: number, cosine: number, { words, meaning }: Ingredients): number {
  const share = words * coverage + meaning * cosine
  return amongOthers(share)
}

/** The cosine expected of the messages without a vector that match the words best (`partly-embedded.ts`). */
function expectedOf({ words, found }: SpokenWords, { values }: Cosines, possible: number, asked: MeaningQuery): number {
  let best = 0
  for (const at of found) if (Number.isNaN(values[at])) best = Math.max(best, words[at] as number)
  return best === 0 ? 0 : expectedCosine(best, possible, USUAL_BASE) / asked.cosineScale
}

/** Scores of words by message: that of its best unit. */
interface SpokenWords {
  readonly words: Float64Array
  /** Messages with a score above 0, in no order, without duplicates. */
  readonly found: Uint32Array
  readonly unitOf: (at: number) => number
}

/** Scores of messages between people, where each message is one text unit. */
function asMessages({ scores, found }: TextScores): SpokenWords {
  return { words: scores, found, unitOf: at => at }
}

function bestPieces({ said, unitMessage }: Moment, { scores, found }: TextScores): SpokenWords {
  const words = new Float64Array(said.length)
  const units = new Map<number, number>()
  // Units in ascending order, so that of equally good units the first is kept.
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

/** Distance in messages up to which a message raises the score of its neighbours. */
const REACH = 2

/** Positions that may have a score: most messages contain no query word and are near none that does, so they need not be examined. */
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

/** For each message, the score of the best block that contains it. */
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

// The highest-scoring messages of several conversations.

/** Position of a scored message: its conversation and its index there. */
export interface Place {
  readonly of: ConversationScores
  readonly at: number
  readonly score: number
}

/**
 * The best `depth` messages of all conversations, and those that tie with the last of them. `isCut`: further messages have a score, whether
 * or not they may be answers; conversations that cannot reach the best are not scored. `kept`: messages that are always included if they
 * have a score.
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

/** Stands for a message without a score. */
const NONE = -1

/** Score of a message among those of all conversations. */
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

/** Indexes of the best messages that the page may show. */
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

/** A message in the answer, with the numbers of its score by name. */
export interface Answering {
  readonly entry: EntryKey
  /** Which piece of a chat with an assistant was found, counted from 0. */
  readonly piece: number
  readonly signals: Signals
}

/** The numbers of a message's score. `isAlone`: only this conversation is searched, so its weight is no part of the score. */
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
