/**
 * The default formula, and what a stage makes of any formula.
 *
 *     relevance = words·(bm / bmTop) + meaning·cosine + 0.3·score of the best result that it is linked with / √its links
 *     score = relevance · (1 + 0.5·share of the phrases held) · (1 + 0.1·memory)
 *
 * Phrases that are required are held by all results, and lift none.
 */
import type { TermMatch } from '../index/contract.ts'
import type { Candidate, Scored } from '../model/candidate.ts'
import { type Explanation, leaf, node } from '../model/explanation.ts'
import {
  type BoundFormula,
  componentsBy,
  constant,
  type Expansions,
  explainBy,
  type Formula,
  lift,
  max,
  NO_NUMBERS,
  type Numbers,
  number,
  product,
  quotient,
  reasonsBy,
  scoreBy,
  scorerOf,
  sum,
} from '../model/formula.ts'
import { MEMORY_BOOST, timesUsed } from './memory.ts'
import { expectedCosine } from './partly-embedded.ts'
import type { Measure, Scoring, Weights } from './stage.ts'

/** How far phrases that are not required lift what holds all of them: enough to pass what has the same words apart. */
const PHRASE_LIFT = 0.5
/** Of the relevance of the best result, for what it is linked with (`link-leg.ts`). */
const LINK_SHARE = 0.3
const MOST_WORDS = 3

const WORDS = product(
  'words',
  [
    number('weight of words', 'weight_words'),
    quotient(
      'share of the best',
      number('BM25', 'words', { note: ({ words = 0 }) => (words === 0 ? 'none of the words' : undefined) }),
      number('best BM25 here', 'bmTop'),
    ),
  ],
  {
    component: 'words',
    shown: (_, { weight_words: weight = 0 }) => weight > 0,
    detail: (_, { words }) => wordsIn(words),
  },
)

/** A passage without a vector has an expected cosine (`partly-embedded.ts`). */
const COSINE = max(
  'cosine',
  [
    number('of its passages with a vector', 'meaning', { when: 'meaning' }),
    number('of one without', 'expected', {
      when: 'expected',
      note: 'no vector yet: what passages with as much of the words have',
    }),
  ],
  { note: ({ meaning, expected }) => (meaning === undefined && expected === undefined ? 'no vector yet' : undefined) },
)

const LINKS = product(
  'links',
  [constant('share of the best result', LINK_SHARE), number('its relevance / √its links', 'linked')],
  { component: 'links', when: 'linked', detail: () => 'with the best result' },
)

const PHRASE = sum(
  'phrase',
  [
    constant('base', 1),
    product('lift', [
      constant('most that phrases can add', PHRASE_LIFT),
      number('share of the phrases held', 'phrase'),
    ]),
  ],
  { component: 'phrase', when: 'phrase', shown: ({ phrase = 0 }) => phrase > 0 },
)

const MEMORY = sum(
  'memory boost',
  [constant('base', 1), product('use', [constant('most that use can add', MEMORY_BOOST), number('memory', 'memory')])],
  {
    component: 'memory',
    shown: ({ memory = 0 }) => memory > 0,
    detail: ({ uses }) => (uses === undefined ? undefined : timesUsed(uses)),
  },
)

/** Numbers of a row: `words` (BM25), `meaning` and `expected` (cosines), `linked`, `phrase`, `memory` (0 to 1), `uses`. `isScaled`: see `cosineScale`. */
function defaultFormula(isScaled: boolean): Formula {
  const cosine = isScaled ? product('scaled cosine', [COSINE, number('scale', 'cosineScale')]) : COSINE
  const meaning = product('meaning', [number('weight of meaning', 'weight_meaning'), cosine], {
    component: 'meaning',
    shown: (_, { weight_meaning: weight = 0 }) => weight > 0,
    detail: row => `cosine ${scoreBy(COSINE, row, NO_NUMBERS).toFixed(2)}`,
  })
  return lift('score', [sum('relevance', [WORDS, meaning, LINKS]), PHRASE, MEMORY])
}

const PLAIN = defaultFormula(false)
const SCALED = defaultFormula(true)

/** `cosineScale` brings another embedder's cosines to the spread of MiniLM's. Without a match there is no best BM25: nothing is divided then. */
export function boundDefault(weights: Weights, bmTop: number, cosineScale: number): BoundFormula {
  return {
    formula: cosineScale === 1 ? PLAIN : SCALED,
    numbers: { ...weightNumbers(weights), bmTop: bmTop > 0 ? bmTop : 1, cosineScale },
  }
}

/** As a formula names them. A comparison looks for the share of meaning at which two results change places where a formula has these. */
export function weightNumbers({ words, meaning }: Weights): Numbers {
  return { weight_words: words, weight_meaning: meaning }
}

/** What a score stage gives from a formula: scores, explanations, reasons, and what comparisons need. */
export function byFormula(
  candidates: readonly Candidate[],
  measure: Measure,
): Pick<Scoring, 'scored' | 'explain' | 'components' | 'why' | 'measure'> {
  const { formula, numbers, remarks = () => [] } = measure
  // Both the reasons and the explanation of a result name them.
  const made = new WeakMap<Scored, Expansions>()
  const expansions = (scored: Scored): Expansions => {
    const known = made.get(scored) ?? measure.expansions?.(scored) ?? {}
    made.set(scored, known)
    return known
  }
  return {
    scored: candidates.map(scoredBy(measure)),
    components: ({ signals, lifted }) => {
      const components = componentsBy(formula, signals, numbers)
      return lifted === undefined ? components : { ...components, partly_embedded: lifted }
    },
    explain: scored => explainBy(formula, scored.signals, numbers, expansions(scored)),
    why: scored => [reasonsBy(formula, scored.signals, numbers, expansions(scored)), ...remarks(scored)].join(', '),
    measure,
  }
}

export function scoredBy({ formula, numbers }: BoundFormula): (candidate: Candidate) => Scored {
  const scoreOf = scorerOf(formula, numbers)
  return candidate => ({ ...candidate, score: scoreOf(candidate.signals), lifted: undefined })
}

/** The most that an entry with at most these signals scores under the default formula, used or not, with a vector or without. */
export function mostOf(
  bm: number,
  cosine: number,
  { expectedBase }: Numbers,
  { formula, numbers }: BoundFormula,
): number {
  const { bmTop = 1, cosineScale = 1 } = numbers
  const expected = expectedBase === undefined ? cosine : expectedCosine(bm, bmTop, expectedBase) / cosineScale
  return scoreBy(formula, { words: bm, meaning: Math.max(cosine, expected), memory: 1 }, numbers)
}

/** The words of the query in a result's best chunk for words, as what its BM25 is made of. */
export function bm25Tree(terms: readonly TermMatch[]): Explanation {
  return node('BM25', 'sum', terms.filter(term => term.score > 0).map(termLeaf))
}

function termLeaf({ term, score, tf, df, idf, boost, length, meanLength }: TermMatch): Explanation {
  const stressed = boost === 1 ? '' : `, counted ${boost} times`
  const note = `tf ${tf}, in ${df} passages (idf ${short(idf)}), ${length} of mean ${short(meanLength)} tokens${stressed}`
  return leaf(term, score, note)
}

/** The words that give most, best first. */
export function wordsIn(bm25: Explanation | undefined): string {
  const matched = [...(bm25?.children ?? [])].sort((a, b) => b.value - a.value).map(({ label }) => label)
  return matched.length > MOST_WORDS ? `${matched.slice(0, MOST_WORDS).join(', ')} …` : matched.join(', ')
}

function short(value: number): string {
  return String(Number(value.toFixed(2)))
}
