/** The score of one message with all that it is made of, as numbers by name, and the tree that makes it of them again. */
import { type Explanation, leaf, node } from '../../../model/explanation.ts'
import { amongOthers, FAR, NEAR } from './ranking.ts'

export type Signals = Readonly<Record<string, number>>

/** Before the place of a word in the question: what it adds to the words of the message. */
export const WORD = 'word '

export function wordSignal(place: number): string {
  return WORD + place
}

/** What the tree of `explanationOf` makes, to the last digit. */
export function scoreOf(signals: Signals): number {
  const { within = 0, most } = signals
  if (most === undefined) return within
  return over(within, most) * amongOthers(conversationShare(signals))
}

/** How much speaks for the conversation as a whole. */
export function conversationShare(signals: Signals): number {
  const {
    conversation_words: words = 0,
    conversation_possible: possible = 0,
    conversation_cosine: cosine = 0,
  } = signals
  return (signals['words_weight'] ?? 0) * over(words, possible) + (signals['meaning_weight'] ?? 0) * cosine
}

/** Its value is the score. `words`: of the question, by place. */
export function explanationOf(signals: Signals, words: readonly string[]): Explanation {
  const within = withinConversation(signals, words)
  if (signals['most'] === undefined) return { ...within, label: 'score' }
  const conversation = conversationOf(signals)
  return node('score', 'product', [
    quotient('of the most in its conversation', within, leaf('most', signals['most'])),
    node('conversation, cubed', 'product', [conversation, conversation, conversation]),
  ])
}

/** The score among the messages of its conversation. */
function withinConversation(signals: Signals, words: readonly string[]): Explanation {
  const of = (name: string): number => signals[name] ?? 0
  const fused = node('message', 'sum', [wordsOf(signals, words), meaningOf(signals)])
  const smoothed = node('with neighbours', 'sum', [
    fused,
    ...NEIGHBOURS.map(([name, label, weight]) =>
      node(label, 'product', [leaf('weight', weight), leaf('score', of(name))]),
    ),
  ])
  const primed =
    signals['block'] === undefined
      ? smoothed
      : node('with block', 'sum', [
          quotient('with neighbours, of the greatest', smoothed, leaf('greatest', of('smoothed_most'))),
          node('block', 'product', [
            leaf('weight', of('block_weight')),
            quotient(
              'words of the block, of the greatest',
              leaf('BM25 of the block', of('block')),
              leaf('greatest', of('block_most')),
            ),
          ]),
        ])
  const factors = FACTORS.flatMap(([name, note]) => (signals[name] === undefined ? [] : [leaf(name, of(name), note)]))
  return factors.length === 0 ? primed : node('in its conversation', 'product', [primed, ...factors])
}

export type Components = Readonly<Record<'words' | 'meaning' | 'neighbours' | 'block', number>>

/** What the parts give to a score, which is their sum as far as rounding allows. */
export function componentsOf(signals: Signals, score: number): Components {
  const {
    before = 0,
    after = 0,
    two_before: twoBefore = 0,
    two_after: twoAfter = 0,
    smoothed_most: smoothed = 0,
  } = signals
  const words = (signals['words_weight'] ?? 0) * over(signals['bm25'] ?? 0, signals['words_most'] ?? 0)
  const meaning = meaningIn(signals)
  const near = NEAR * before + NEAR * after + FAR * twoBefore + FAR * twoAfter
  const scale = signals['block'] === undefined ? 1 : over(1, smoothed)
  const block = over((signals['block_weight'] ?? 0) * (signals['block'] ?? 0), signals['block_most'] ?? 0)
  const factor = over(score, scale * (words + meaning + near) + block)
  return {
    words: factor * (scale * words),
    meaning: factor * (scale * meaning),
    neighbours: factor * (scale * near),
    block: factor * block,
  }
}

function meaningIn(signals: Signals): number {
  const { cosine, cosine_least: least = 0, cosine_most: most = 0, meaning_weight: weight = 0 } = signals
  return cosine === undefined || cosine <= least ? 0 : weight * ((cosine - least) / (most - least))
}

const NEIGHBOURS = [
  ['before', 'message before', NEAR],
  ['after', 'message after', NEAR],
  ['two_before', 'two messages before', FAR],
  ['two_after', 'two messages after', FAR],
] as const

const FACTORS = [
  ['speaker', 'the question names who says it'],
  ['when', 'the question asks for a time, and the message says one'],
  ['user', 'said by the user'],
  ['phrase', 'it holds phrases of the question'],
] as const

function wordsOf(signals: Signals, words: readonly string[]): Explanation {
  const matched = Object.entries(signals).filter(([name]) => name.startsWith(WORD))
  const bm25 = node(
    'BM25',
    'sum',
    matched.map(([name, score]) => leaf(words[Number(name.slice(WORD.length))] as string, score)),
  )
  return node('words', 'product', [
    leaf('weight', signals['words_weight'] ?? 0),
    quotient('of the greatest', bm25, leaf('greatest BM25', signals['words_most'] ?? 0)),
  ])
}

function meaningOf(signals: Signals): Explanation {
  const { cosine, cosine_least: least = 0, cosine_most: most = 0 } = signals
  const weight = leaf('weight', signals['meaning_weight'] ?? 0)
  if (cosine === undefined) return node('meaning', 'product', [weight, leaf('no vector', 0)])
  const aboveLeast = (label: string, value: Explanation) => node(label, 'sum', [value, leaf('least cosine', -least)])
  const above = aboveLeast('above the least', leaf('cosine', cosine))
  const span = aboveLeast('greatest above the least', leaf('greatest cosine', most))
  return node('meaning', 'product', [
    weight,
    above.value > 0 ? quotient('of the greatest', above, span) : leaf('least', 0),
  ])
}

/** As `conversationShare`. */
function conversationOf(signals: Signals): Explanation {
  const of = (name: string): number => signals[name] ?? 0
  return node('conversation', 'sum', [
    node('words', 'product', [
      leaf('weight', of('words_weight')),
      quotient(
        'of what they can score',
        leaf('greatest BM25', of('conversation_words')),
        leaf('possible', of('conversation_possible')),
      ),
    ]),
    node('meaning', 'product', [
      leaf('weight', of('meaning_weight')),
      leaf('greatest cosine', of('conversation_cosine')),
    ]),
  ])
}

/** 0 where nothing is to be divided by. */
function over(value: number, by: number): number {
  return by > 0 ? value / by : 0
}

/** The same as a tree. */
function quotient(label: string, value: Explanation, by: Explanation): Explanation {
  return by.value > 0 ? node(label, 'quotient', [value, by]) : leaf(label, 0)
}
