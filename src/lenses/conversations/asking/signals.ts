/** The score of one message with all that it is made of, as numbers by name, and the tree that makes it of them again. */
import { type Explanation, leaf, node } from '../../../model/explanation.ts'
import type { ConversationScores } from './conversation-scores.ts'
import { FAR, NEAR, neighbour } from './ranking.ts'

export type Signals = Readonly<Record<string, number>>

/** Before a word of the question: what it adds to the words of the message. */
const WORD = 'word '

/** `isAlone`: no other conversation is asked, so the score need not be held against theirs. */
export function signalsOf(found: ConversationScores, at: number, isAlone: boolean): Signals {
  const { moment, ranks, ingredients, cosines, blocks, named } = found
  const near = (distance: number) => neighbour(moment.sessions, ranks.fused, at, distance)
  const cosine = cosines.values[at] as number
  const signals: Record<string, number> = {
    words_weight: ingredients.words,
    words_most: (found.words[at] as number) > 0 ? ranks.mostWords : 0,
    meaning_weight: ingredients.meaning,
    ...(!Number.isNaN(cosine) && { cosine, cosine_least: cosines.least, cosine_most: ranks.mostCosine }),
    ...{ before: near(-1), after: near(1), two_before: near(-2), two_after: near(2) },
    ...(blocks !== null && {
      smoothed_most: ranks.mostSmoothed,
      block_weight: ingredients.block,
      block: blocks[at] as number,
      block_most: ranks.mostBlock,
    }),
    ...(named !== null && moment.said[at]?.speaker === named && { speaker: ingredients.speaker }),
    ...(found.isTimed(at) && { when: ingredients.when }),
    ...(found.isUser(at) && { user: ingredients.user }),
    ...(!isAlone && {
      most: found.most,
      conversation_words: ranks.mostWords,
      conversation_possible: found.possible,
      conversation_cosine: Math.max(0, ranks.mostCosine),
    }),
  }
  for (const { word, score } of partsOf(found, at)) signals[`${WORD}${word}`] = score
  return signals
}

function partsOf({ words, bestUnit, texts }: ConversationScores, at: number): ReturnType<typeof texts.partsOf> {
  return (words[at] as number) > 0 ? texts.partsOf(bestUnit[at] as number) : []
}

/** Its value is the score. */
export function explanationOf(signals: Signals): Explanation {
  const within = withinConversation(signals)
  if (signals['most'] === undefined) return { ...within, label: 'score' }
  const conversation = conversationOf(signals)
  return node('score', 'product', [
    quotient('of the most in its conversation', within, leaf('most', signals['most'])),
    node('conversation, cubed', 'product', [conversation, conversation, conversation]),
  ])
}

/** The score among the messages of its conversation. */
export function withinConversation(signals: Signals): Explanation {
  const of = (name: string): number => signals[name] ?? 0
  const fused = node('message', 'sum', [wordsOf(signals), meaningOf(signals)])
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

/** What the parts give to the score, which is their sum as far as rounding allows. */
export function componentsOf(signals: Signals, score: number): Readonly<Record<string, number>> {
  const words = wordsOf(signals).value
  const meaning = meaningOf(signals).value
  const near = NEIGHBOURS.reduce((sum, [name, , weight]) => sum + weight * (signals[name] ?? 0), 0)
  const smoothed = signals['smoothed_most'] ?? 0
  const scale = signals['block'] === undefined ? 1 : smoothed > 0 ? 1 / smoothed : 0
  const most = signals['block_most'] ?? 0
  const block = most > 0 ? ((signals['block_weight'] ?? 0) * (signals['block'] ?? 0)) / most : 0
  const raw = scale * (words + meaning + near) + block
  const factor = raw > 0 ? score / raw : 0
  const parts = { words: scale * words, meaning: scale * meaning, neighbours: scale * near, block }
  return Object.fromEntries(Object.entries(parts).map(([name, value]) => [name, factor * value]))
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
] as const

function wordsOf(signals: Signals): Explanation {
  const matched = Object.entries(signals).filter(([name]) => name.startsWith(WORD))
  const bm25 = node(
    'BM25',
    'sum',
    matched.map(([name, score]) => leaf(name.slice(WORD.length), score)),
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
  const above = (label: string, value: Explanation) => node(label, 'sum', [value, leaf('least cosine', -least)])
  const over = above('above the least', leaf('cosine', cosine))
  const span = above('greatest above the least', leaf('greatest cosine', most))
  return node('meaning', 'product', [
    weight,
    over.value > 0 ? quotient('of the greatest', over, span) : leaf('least', 0),
  ])
}

/** How much speaks for the conversation as a whole. */
export function conversationOf(signals: Signals): Explanation {
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
function quotient(label: string, value: Explanation, by: Explanation): Explanation {
  return by.value > 0 ? node(label, 'quotient', [value, by]) : leaf(label, 0)
}
