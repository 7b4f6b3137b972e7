/**
 * Messages that answer, with what their scores are made of, as numbers in one piece of memory: a question finds a hundred,
 * shows ten, and keeps the others for a page that is seldom asked for.
 */
import type { Steps } from '../../../base/turns.ts'
import type { EntryKey } from '../../../model/entry.ts'
import type { ConversationScores, Place } from './conversation-scores.ts'
import { type Factor, neighbour, type Signals, wordSignal } from './ranking.ts'

export interface Answering {
  readonly entry: EntryKey
  /** Which piece of an assistant's chat was found. */
  readonly piece: number
  readonly signals: Signals
}

/** A step for each place. Gives one of them back. `isAlone`: no other conversation is asked, so scores need not be held against theirs. */
export function* packed(places: readonly Place[], isAlone: boolean): Steps<(place: number) => Answering> {
  const conversations: ConversationScores[] = []
  for (const { of } of places) if (!conversations.includes(of)) conversations.push(of)
  const shared = new Float64Array(conversations.length * SHARED.length)
  for (const [at, of] of conversations.entries()) packShared(of, isAlone, shared, at * SHARED.length)
  const orders = conversations.map(({ texts }) => texts.order)
  const width = OWN.length + Math.max(0, ...orders.map(({ length }) => length))
  const numbers = new Float64Array(places.length * width)
  const conversationOf = new Uint32Array(places.length)
  const entries = new Float64Array(places.length)
  const pieces = new Uint32Array(places.length)
  for (let place = 0; place < places.length; place++) {
    const { of, at } = places[place] as Place
    conversationOf[place] = conversations.indexOf(of)
    entries[place] = of.moment.said[at]?.entry ?? 0
    pieces[place] = of.moment.unitOrdinal[of.unitOf(at)] ?? 0
    pack(of, at, numbers, place * width)
    yield
  }
  return place => {
    const of = conversationOf[place] as number
    const own = numbers.subarray(place * width, (place + 1) * width)
    const ofConversation = shared.subarray(of * SHARED.length, (of + 1) * SHARED.length)
    const signals = unpacked(ofConversation, own, orders[of] as readonly number[])
    return { entry: entries[place] as EntryKey, piece: pieces[place] as number, signals }
  }
}

function unpacked(shared: Float64Array, own: Float64Array, order: readonly number[]): Signals {
  // At once what every message has: a record that grows name by name is copied again and again.
  const signals: Record<string, number> = {
    words_weight: shared[0] as number,
    meaning_weight: shared[1] as number,
    cosine_least: shared[2] as number,
    cosine_most: shared[3] as number,
    bm25: own[0] as number,
    words_most: own[1] as number,
    before: own[2] as number,
    after: own[3] as number,
    two_before: own[4] as number,
    two_after: own[5] as number,
  }
  addRest(signals, SHARED, shared, ALWAYS_SHARED)
  addRest(signals, OWN, own, ALWAYS_OWN)
  for (let word = 0; word < order.length; word++) {
    const part = own[OWN.length + word] as number
    if (!Number.isNaN(part)) signals[wordSignal(order[word] as number)] = part
  }
  return signals
}

function addRest(signals: Record<string, number>, names: readonly string[], numbers: Float64Array, from: number): void {
  for (let at = from; at < names.length; at++) {
    const value = numbers[at] as number
    if (!Number.isNaN(value)) signals[names[at] as string] = value
  }
}

/** Signals of one message. What each word adds stands behind them. */
const OWN: readonly string[] = [
  ...['bm25', 'words_most', 'before', 'after', 'two_before', 'two_after', 'cosine', 'block'],
  ...['expected', 'speaker', 'when', 'user', 'phrase'],
]
/** Of these the first that every message has. */
const ALWAYS_OWN = 6

/** In the order of the names; NaN where it has none of that name. */
function pack(of: ConversationScores, at: number, numbers: Float64Array, start: number): void {
  const { ranks, words, cosines, blockOf, moment, texts } = of
  const { fused } = ranks
  const { sessions } = moment
  const score = words[at] as number
  let next = start
  numbers[next++] = score
  numbers[next++] = score > 0 ? ranks.maxWords : 0
  numbers[next++] = neighbour(sessions, fused, at, -1)
  numbers[next++] = neighbour(sessions, fused, at, 1)
  numbers[next++] = neighbour(sessions, fused, at, -2)
  numbers[next++] = neighbour(sessions, fused, at, 2)
  numbers[next++] = cosines.values[at] ?? Number.NaN
  numbers[next++] = blockOf === null ? Number.NaN : blockOf(at)
  numbers[next++] = score > 0 && Number.isNaN(cosines.values[at]) ? 1 : Number.NaN
  numbers[next++] = raisedBy('speaker', of, at)
  numbers[next++] = raisedBy('when', of, at)
  numbers[next++] = raisedBy('user', of, at)
  numbers[next++] = raisedBy('phrase', of, at)
  const unit = score > 0 ? of.unitOf(at) : -1
  for (let word = 0; word < texts.order.length; word++) {
    numbers[next++] = unit < 0 ? Number.NaN : texts.partOf(word, unit)
  }
}

function raisedBy(name: Factor['name'], { factors }: ConversationScores, at: number): number {
  for (const factor of factors) if (factor.name === name && factor.holds(at)) return factor.by
  return Number.NaN
}

/** Signals that messages of one conversation share. */
const SHARED: readonly string[] = [
  ...['words_weight', 'meaning_weight', 'cosine_least', 'cosine_most', 'smoothed_most', 'block_weight', 'block_most'],
  ...['most', 'conversation_words', 'conversation_possible', 'conversation_cosine'],
]
const ALWAYS_SHARED = 4

/** In the order of the names; NaN where it has none of that name. */
function packShared(found: ConversationScores, isAlone: boolean, numbers: Float64Array, start: number): void {
  const { ranks, ingredients, cosines, blockOf, most, possible, nearness } = found
  let next = start
  numbers[next++] = ingredients.words
  numbers[next++] = ingredients.meaning
  numbers[next++] = cosines.least
  numbers[next++] = ranks.maxCosine
  numbers[next++] = blockOf === null ? Number.NaN : ranks.maxSmoothed
  numbers[next++] = blockOf === null ? Number.NaN : ingredients.block
  numbers[next++] = blockOf === null ? Number.NaN : ranks.maxBlock
  numbers[next++] = isAlone ? Number.NaN : most
  numbers[next++] = isAlone ? Number.NaN : ranks.maxWords
  numbers[next++] = isAlone ? Number.NaN : possible
  numbers[next++] = isAlone ? Number.NaN : nearness
}
