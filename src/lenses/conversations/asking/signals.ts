/** What the score of a message is made of: numbers by name, and the formula that makes the score of them (docs/decisions/036). */
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
import { FAR, NEAR } from './ranking.ts'

export type Signals = Readonly<Record<string, number>>

/** Before the place of a word in the question: what it adds to the words of the message. */
const WORD = 'word '

export function wordSignal(place: number): string {
  return WORD + place
}

/** What each word of the question adds. `words`: of the question, by place. */
export function wordsTree(signals: Signals, words: readonly string[]): Explanation {
  const matched = Object.entries(signals).filter(([name]) => name.startsWith(WORD))
  return node(
    'BM25',
    'sum',
    matched.map(([name, score]) => leaf(words[Number(name.slice(WORD.length))] as string, score)),
  )
}

const WORDS = product(
  'words',
  [
    number('weight', 'words_weight'),
    quotient('of the greatest', number('BM25', 'bm25'), number('greatest BM25', 'words_most')),
  ],
  { component: 'words', detail: (_, { bm25 }) => wordsIn(bm25) },
)

const LEAST_COSINE = number('least cosine', 'cosine_least', { negative: true })
const MEANING = product(
  'meaning',
  [
    number('weight', 'meaning_weight'),
    quotient(
      'of the greatest',
      max('above the least', [
        sum('above the least', [number('cosine', 'cosine'), LEAST_COSINE]),
        constant('none', 0, { shown: ({ cosine = 0, cosine_least: least = 0 }) => cosine < least }),
      ]),
      sum('greatest above the least', [number('greatest cosine', 'cosine_most'), LEAST_COSINE]),
    ),
  ],
  { component: 'meaning', when: 'cosine', detail: ({ cosine = 0 }) => `cosine ${cosine.toFixed(2)}` },
)

/** Of a message that has no vector yet: as much as its words. */
const EXPECTED = product(
  'meaning expected',
  [
    number('weight', 'meaning_weight'),
    quotient('of the greatest', number('BM25', 'bm25'), number('greatest BM25', 'words_most')),
  ],
  { component: 'meaning', when: 'expected', detail: () => 'not embedded yet' },
)

function neighbour(label: string, name: string, weight: number): Formula {
  return product(label, [constant('weight', weight), number('score', name)], { component: 'neighbours' })
}

const WITH_NEIGHBOURS = sum('with neighbours', [
  sum('message', [WORDS, MEANING, EXPECTED]),
  neighbour('message before', 'before', NEAR),
  neighbour('message after', 'after', NEAR),
  neighbour('two messages before', 'two_before', FAR),
  neighbour('two messages after', 'two_after', FAR),
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
  number('speaker', 'speaker', { when: 'speaker', note: 'the question names who says it' }),
  number('when', 'when', { when: 'when', note: 'the question asks for a time, and the message says one' }),
  number('user', 'user', { when: 'user', note: 'said by the user' }),
  number('phrase', 'phrase', { when: 'phrase', note: 'it holds phrases of the question' }),
])

/** How much speaks for the conversation as a whole. */
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

/** Where several conversations are asked, there is a number `most`, and the conversation counts too. */
export const MESSAGE_SCORE = product('score', [
  { ...IN_CONVERSATION, unless: 'most' },
  quotient('of the most in its conversation', IN_CONVERSATION, number('most', 'most'), { when: 'most' }),
  product('conversation, cubed', [CONVERSATION, CONVERSATION, CONVERSATION], {
    when: 'most',
    detail: row => `conversation ${scoreBy(CONVERSATION, row, NO_NUMBERS).toFixed(2)}`,
  }),
])
