/**
 * Messages that answer, with what their scores are made of, as numbers in one piece of memory: a question finds a hundred,
 * shows ten, and keeps the others for a page that is seldom asked for.
 */
import type { EntryKey } from '../../../model/entry.ts'
import type { Place } from './best-messages.ts'
import type { ConversationScores } from './conversation-scores.ts'
import { type Factor, neighbour } from './ranking.ts'
import { type Signals, WORD } from './signals.ts'

export interface Answering {
  readonly entry: EntryKey
  /** Which piece of an assistant's chat was found. */
  readonly piece: number
  readonly signals: Signals
}

/** Gives one of them back. `isAlone`: no other conversation is asked, so scores need not be held against theirs. */
export function packed(places: readonly Place[], isAlone: boolean): (place: number) => Answering {
  const conversations = [...new Set(places.map(({ of }) => of))]
  const shared = conversations.map(of => sharedSignals(of, isAlone))
  const words = conversations.map(({ texts }) => texts.order.map(place => WORD + place))
  const width = OWN.length + Math.max(0, ...words.map(({ length }) => length))
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
  }
  return place => {
    const of = conversationOf[place] as number
    const own = numbers.subarray(place * width, (place + 1) * width)
    const signals = unpacked(own, shared[of] as Signals, words[of] as readonly string[])
    return { entry: entries[place] as EntryKey, piece: pieces[place] as number, signals }
  }
}

type Own = readonly [name: string, signalOf: (of: ConversationScores, at: number) => number]

/** Signals of one message; NaN: it has none of that name. What each word adds stands behind them. */
const OWN: readonly Own[] = [
  ['within', ({ ranks }, at) => ranks.scores[at] as number],
  ['bm25', ({ words }, at) => words[at] as number],
  ['words_most', ({ words, ranks }, at) => ((words[at] as number) > 0 ? ranks.mostWords : 0)],
  ['before', near(-1)],
  ['after', near(1)],
  ['two_before', near(-2)],
  ['two_after', near(2)],
  ['cosine', ({ cosines }, at) => cosines.values[at] ?? Number.NaN],
  ['block', ({ blockOf }, at) => blockOf?.(at) ?? Number.NaN],
  ['speaker', raisedBy('speaker')],
  ['when', raisedBy('when')],
  ['user', raisedBy('user')],
]

function near(distance: number): (of: ConversationScores, at: number) => number {
  return ({ moment, ranks }, at) => neighbour(moment.sessions, ranks.fused, at, distance)
}

function raisedBy(name: Factor['name']): (of: ConversationScores, at: number) => number {
  return ({ factors }, at) => {
    for (const factor of factors) if (factor.name === name && factor.holds(at)) return factor.by
    return Number.NaN
  }
}

function sharedSignals(found: ConversationScores, isAlone: boolean): Signals {
  const { ranks, ingredients, cosines, blockOf, most, possible } = found
  return {
    words_weight: ingredients.words,
    meaning_weight: ingredients.meaning,
    cosine_least: cosines.least,
    cosine_most: ranks.mostCosine,
    ...(blockOf !== null && {
      smoothed_most: ranks.mostSmoothed,
      block_weight: ingredients.block,
      block_most: ranks.mostBlock,
    }),
    ...(!isAlone && {
      most,
      conversation_words: ranks.mostWords,
      conversation_possible: possible,
      conversation_cosine: Math.max(0, ranks.mostCosine),
    }),
  }
}

function pack(of: ConversationScores, at: number, numbers: Float64Array, start: number): void {
  let next = start
  for (let own = 0; own < OWN.length; own++) numbers[next++] = (OWN[own] as Own)[1](of, at)
  const { texts, words, unitOf } = of
  const unit = (words[at] as number) > 0 ? unitOf(at) : -1
  for (let word = 0; word < texts.order.length; word++) {
    numbers[next++] = unit < 0 ? Number.NaN : texts.partOf(word, unit)
  }
}

function unpacked(own: Float64Array, shared: Signals, words: readonly string[]): Signals {
  const signals: Record<string, number> = { ...shared }
  for (let at = 0; at < OWN.length + words.length; at++) {
    const value = own[at] as number
    if (Number.isNaN(value)) continue
    signals[OWN[at]?.[0] ?? (words[at - OWN.length] as string)] = value
  }
  return signals
}
