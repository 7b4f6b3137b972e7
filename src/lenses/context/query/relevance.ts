/**
 * What speaks for a concept, as one formula: its name, path, doc comment, code and passages by words, its vector by meaning. How the
 * numbers were chosen, and what they are worth: docs/decisions/024.
 *
 *     evidence  = words·(name + path + doc + bm/bmTop + passage) / 5 + meaning·max(0, cosine)
 *     relevance = evidence, of a whole file times 0.8
 *
 * A neighbour has nothing of these: it scores what links give it, and is ranked by the order of retrieval.
 */
import type { EmbeddingModel } from '../../../embed/embedder.ts'
import {
  type BoundFormula,
  constant,
  type Formula,
  max,
  NO_NUMBERS,
  type Numbers,
  number,
  product,
  quotient,
  scoreBy,
  sum,
} from '../../../model/formula.ts'
import { weightNumbers } from '../../../pipeline/formula.ts'
import type { OtherScores } from '../../../pipeline/partly-embedded.ts'
import type { Plan } from '../../../pipeline/stage.ts'

/** How a concept was found first; the signal `match` is the place in this list. */
export const MATCHES = ['whole', 'name', 'words', 'meaning', 'text'] as const
export type Match = (typeof MATCHES)[number]

/** Share of meaning, where there is a vector; words have the rest. */
export const MEANING = 0.7
const WORD_PARTS = 5
/** What a concept that is a whole file keeps: what stands in the file says more, and the file is returned anyway. */
const WHOLE_FILE = 0.8
const WHOLE_FILES: ReadonlySet<string> = new Set(['Module', 'Document', 'Package'])

export function isWholeFile(type: string): boolean {
  return WHOLE_FILES.has(type)
}

/** In a sum nothing is said of what is 0. */
function part(label: string, name: string): Formula {
  return number(label, name, { component: name, shown: row => (row[name] ?? 0) > 0 })
}

const TEXT = quotient('share of the best text', number('BM25', 'words'), number('best BM25 here', 'bmTop'), {
  component: 'text',
  shown: ({ words = 0 }) => words > 0,
})

const COSINE = max('cosine', [
  number('cosine', 'meaning', { when: 'meaning' }),
  number('expected cosine', 'expected', {
    when: 'expected',
    note: 'no vector yet: what passages with as much of the words have',
  }),
  constant('least', 0, { shown: ({ meaning = 0, expected = 0 }) => meaning <= 0 && expected <= 0 }),
])

const EVIDENCE = sum('evidence', [
  product('words', [
    sum('parts', [
      part('words in its name', 'name'),
      part('words in its path', 'path'),
      part('words in its comment', 'doc'),
      TEXT,
      part('words in one passage', 'passage'),
    ]),
    number('weight of words', 'weight_words'),
    constant('one of five parts', 1 / WORD_PARTS),
  ]),
  product('meaning', [COSINE, number('weight of meaning', 'weight_meaning'), number('scale', 'cosineScale')], {
    component: 'meaning',
    shown: (_, { weight_meaning: weight = 0 }) => weight > 0,
    detail: row => `cosine ${scoreBy(COSINE, row, NO_NUMBERS).toFixed(2)}`,
  }),
])

const SCORE = sum(
  'score',
  [
    product('relevance', [EVIDENCE, constant('of a whole file', WHOLE_FILE, { when: 'whole' })], { when: 'match' }),
    number('by links from what was found', 'link', { component: 'links', when: 'link' }),
  ],
  { note: ({ hops }) => (hops === undefined ? undefined : `reached over links, ${hops} in a row`) },
)

/**
 * Numbers of a row: `match` of what was found, with `name`, `path`, `doc`, `passage` (shares, 0 to 1), `words` (BM25), `meaning` and
 * `expected` (cosines), `whole`; `hops` of a neighbour, with `link`.
 */
export function boundRelevance(
  { weights }: Pick<Plan, 'weights'>,
  bmTop: number,
  model: EmbeddingModel | null,
): BoundFormula {
  const numbers = { ...weightNumbers(weights), bmTop, cosineScale: model?.cosineScale ?? 1 }
  return { formula: SCORE, numbers }
}

export function otherScores({ formula, numbers }: BoundFormula): OtherScores {
  const wordsAlone: Numbers = { ...numbers, ...weightNumbers({ words: 1, meaning: 0 }) }
  return {
    byWords: ({ signals }) => {
      const score = scoreBy(formula, signals, wordsAlone)
      return score > 0 ? score : null
    },
    byKnown: ({ signals: { expected: _, ...known } }) =>
      known['meaning'] === undefined ? null : scoreBy(formula, known, numbers),
  }
}
