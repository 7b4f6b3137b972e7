/**
 * The default formula for scores, and what is computed from any formula.
 *
 *     relevance = words·(bm / bmTop) + meaning·cosine + 0.3·score of the best result that it is linked with / √its links
 *     score     = relevance · (1 + 0.5·share of the phrases held) · (1 + 0.1·memory)
 *
 * `words` and `meaning` are the weights, `bm` is the BM25 score, and `bmTop` the best BM25 score for the query. Required phrases occur in
 * all results, so they are not counted among the phrases.
 */

import type { Instant } from '../base/clock.ts'
import type { TermMatch } from '../index/contract.ts'
import { decay, saturate } from '../math/decay.ts'
import type { Candidate, Scored } from '../model/candidate.ts'
import type { AccessState } from '../model/entry.ts'
import { type Explanation, leaf, node } from '../model/explanation.ts'
import type { Filter } from '../model/filter.ts'
import {
  type BoundFormula,
  componentsOf,
  constant,
  evaluate,
  explain,
  type Formula,
  lift,
  max,
  NO_NUMBERS,
  type Numbers,
  number,
  product,
  quotient,
  reasonsFor,
  scoreBy,
  scorerOf,
  sum,
} from '../model/formula.ts'
import { filtered } from './conditions.ts'
import type { QueryContext } from './context.ts'
import { expectedCosine } from './partly-embedded.ts'
import type { Measure, Plan, Scoring, Weights } from './stage.ts'

// How much the use of an entry raises its score for the viewer who used it: by at most a tenth, more for frequent and recent use.
//     memory = strength / (strength + 4) · 2^(-age / 30 days)          boost = 1 + 0.1·memory
// Example: used 4 times, last 30 days ago: 0.5 · 0.5 = 0.25, so a relevance of 0.8 becomes 0.8 · 1.025 = 0.82.

/** Largest share by which use can raise an entry's relevance. */
export const MEMORY_BOOST = 0.1
/** Amount by which one use of an entry raises the strength of its memory. */
export const ACCESS_GAIN = 1

const HALF_STRENGTH = 4
const DAY_MS = 86_400_000
const HALF_LIFE_DAYS = 30

export interface Remembered {
  readonly state: AccessState
  readonly ageDays: number
  readonly recency: number
  /** How much the entry's use counts, from 0 to 1: strength / (strength + 4) · 2^(-age / 30 days). */
  readonly value: number
}

export function remember(state: AccessState, asOf: Instant): Remembered {
  const ageDays = Math.max(0, asOf - state.lastAccessed) / DAY_MS
  const recency = decay(ageDays, HALF_LIFE_DAYS)
  return { state, ageDays, recency, value: saturate(state.strength, HALF_STRENGTH) * recency }
}

export function memoryTree({ state, ageDays, recency }: Remembered): Explanation {
  const strength = leaf('strength', state.strength, timesUsed(state.count))
  const use = node('use', 'quotient', [strength, node('saturation', 'sum', [strength, leaf('half at', HALF_STRENGTH)])])
  const last = `last used ${Math.floor(ageDays)} days ago, half-life ${HALF_LIFE_DAYS} days`
  return node('memory', 'product', [use, leaf('recency', recency, last)])
}

export function timesUsed(count: number): string {
  return count === 1 ? 'used once' : `used ${count} times`
}

// The default formula, and functions that compute scores and explanations from any formula.

/**
 * Share by which a score is raised where an entry contains all phrases that are not required: enough to pass an entry with the same words,
 * but not adjacent.
 */
const PHRASE_LIFT = 0.5
/**
 * Share of the best result's relevance that is added to the relevance of entries linked with that result, divided by the square root of its
 * number of links.
 */
const LINK_SHARE = 0.3
const MAX_WORDS = 3

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

/** Cosine of an entry's best passage. For a passage without a vector, the cosine that is expected from its words is used. */
const COSINE = max(
  'cosine',
  [
    number('of its passages with a vector', 'meaning', { when: 'meaning' }),
    number('of one without', 'expected', {
      when: 'expected',
      note: 'no vector yet: estimated from passages with the same share of the words',
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
      constant('the most that phrases can add', PHRASE_LIFT),
      number('share of the phrases held', 'phrase'),
    ]),
  ],
  { component: 'phrase', when: 'phrase', shown: ({ phrase = 0 }) => phrase > 0 },
)

const MEMORY = sum(
  'memory boost',
  [
    constant('base', 1),
    product('use', [constant('the most that use can add', MEMORY_BOOST), number('memory', 'memory')]),
  ],
  {
    component: 'memory',
    shown: ({ memory = 0 }) => memory > 0,
    detail: ({ uses }) => (uses === undefined ? undefined : timesUsed(uses)),
  },
)

/**
 * Builds the default formula. It reads these numbers of a row: `words` (BM25), `meaning` and `expected` (cosines), `linked` (relevance of
 * the best result that the entry is linked with, divided by the square root of that result's number of links), `phrase` (share of phrases),
 * `memory` (0 to 1), `uses` (count). `isScaled`: cosines are multiplied by `cosineScale`.
 */
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

/**
 * The default formula with the numbers of one query. `cosineScale`: factor that converts the embedder's cosines to the scale of the model
 * MiniLM. `bmTop`, the best BM25 score for the query, by which scores are divided, is taken as 1 where no word matches.
 */
export function boundDefault(weights: Weights, bmTop: number, cosineScale: number): BoundFormula {
  return {
    formula: cosineScale === 1 ? PLAIN : SCALED,
    numbers: { ...weightNumbers(weights), bmTop: bmTop > 0 ? bmTop : 1, cosineScale },
  }
}

/**
 * The weights of words and meaning under the names by which formulas read them. In a formula with these weights, a comparison can find the
 * weight of meaning at which two results change places.
 */
export function weightNumbers({ words, meaning }: Weights): Numbers {
  return { weight_words: words, weight_meaning: meaning }
}

/**
 * Scores candidates by a formula, and returns functions for their components, explanations and reasons, with the data for comparing two
 * results.
 */
export function byFormula(
  candidates: readonly Candidate[],
  measure: Measure,
): Pick<Scoring, 'scored' | 'explain' | 'components' | 'why' | 'measure'> {
  const { formula, numbers, remarks = () => [] } = measure
  const expansionsOf = oncePer((scored: Scored) => measure.expansions?.(scored) ?? {})
  const evaluated = oncePer(({ signals }: Scored) => evaluate(formula, signals, numbers))
  return {
    scored: candidates.map(scoredBy(measure)),
    components: scored => {
      const { lifted } = scored
      const components = componentsOf(evaluated(scored))
      return lifted === undefined ? components : { ...components, partly_embedded: lifted }
    },
    explain: scored => explain(evaluated(scored), expansionsOf(scored)),
    why: scored => [reasonsFor(evaluated(scored), expansionsOf(scored)), ...remarks(scored)].join(', '),
    measure,
  }
}

/** A function that computes its result once for each object. */
function oncePer<K extends object, V>(make: (key: K) => V): (key: K) => V {
  const known = new WeakMap<K, V>()
  return key => {
    const made = known.get(key) ?? make(key)
    known.set(key, made)
    return made
  }
}

export function scoredBy({ formula, numbers }: BoundFormula): (candidate: Candidate) => Scored {
  const scoreOf = scorerOf(formula, numbers)
  return candidate => ({ ...candidate, score: scoreOf(candidate.signals), lifted: undefined })
}

/**
 * Upper bound of the score by the default formula of an entry whose BM25 score is at most `bm` and whose cosine is at most `cosine`,
 * whether or not the entry was used before or has a vector; phrases and links are not included.
 */
export function maxBy(
  { expectedBase }: Numbers,
  { formula, numbers }: BoundFormula,
): (bm: number, cosine: number) => number {
  const { bmTop = 1, cosineScale = 1 } = numbers
  const scoreOf = scorerOf(formula, numbers)
  return (bm, cosine) => {
    const expected = expectedBase === undefined ? cosine : expectedCosine(bm, bmTop, expectedBase) / cosineScale
    return scoreOf({ words: bm, meaning: Math.max(cosine, expected), memory: 1 })
  }
}

/** Explains a BM25 score as the sum of the amounts that the query's words add in the result's best chunk. */
export function bm25Tree(terms: readonly TermMatch[]): Explanation {
  return node('BM25', 'sum', terms.filter(term => term.score > 0).map(termLeaf))
}

function termLeaf({ term, score, tf, df, idf, boost, length, meanLength }: TermMatch): Explanation {
  const stressed = boost === 1 ? '' : `, counted ${boost} times`
  const note = `tf ${tf}, in ${df} passages (idf ${short(idf)}), ${length} of mean ${short(meanLength)} tokens${stressed}`
  return leaf(term, score, note)
}

/** The words that add most to a BM25 score, as a text, best first; at most three. */
export function wordsIn(bm25: Explanation | undefined): string {
  const matched = [...(bm25?.children ?? [])].sort((a, b) => b.value - a.value).map(({ label }) => label)
  return matched.length > MAX_WORDS ? `${matched.slice(0, MAX_WORDS).join(', ')} …` : matched.join(', ')
}

function short(value: number): string {
  return String(Number(value.toFixed(2)))
}

// Weights of words and meaning in scores: 0.3 and 0.7 for prose, 0.15 and 0.85 for code (measured: docs/decisions/010), and in between by
// the share of code among the entries that the query searches. So a query about code has the same weights whether a filter excludes the
// prose or the store has none. A query with an identifier is weighted as for prose, since only words can match an identifier exactly.

const MEANING = 0.7
const MEANING_IN_CODE = 0.85

/** Filter for entries that are code: source files, and concepts read from source files. */
const CODE: Filter = { op: 'in', field: 'kind', values: ['code', 'concept'] }

/** Weights of words and meaning for a query that has a vector. */
export function weightsOf(plan: Plan, context: QueryContext): Weights {
  if (plan.mode === 'meaning') return weightsWith(1)
  return weightsWith(
    plan.query.meaningWeight ?? meaningIn(hasIdentifier(plan.parsed.residual) ? 0 : codeShare(plan, context)),
  )
}

/** Weight of meaning where `code` is the share of code among the searched entries, from 0 (0.7) to 1 (0.85). */
function meaningIn(code: number): number {
  return (1 - code) * MEANING + code * MEANING_IN_CODE
}

/**
 * Share of code among the visible entries that meet the query's conditions, 0 to 1, rounded to hundredths. Hidden entries do not affect it,
 * and in a large store a single write seldom does. Cost: two look-ups of cached sets.
 */
function codeShare(plan: Plan, context: QueryContext): number {
  const { memo, reader, accessScope } = context
  const code = memo.matching(reader, accessScope, CODE)
  if (code.size === 0) return 0
  const asked = filtered(plan, context) ?? memo.visible(reader, accessScope)
  return asked.size === 0 ? 0 : Math.round((100 * code.and(asked).size) / asked.size) / 100
}

/**
 * The weights of words and meaning for a given weight of meaning; words get the rest of 1. Rounded, because 1 - 0.7 is 0.30000000000000004
 * in floating point and users expect 0.3.
 */
export function weightsWith(meaning: number): Weights {
  return { words: Number((1 - meaning).toFixed(12)), meaning }
}

/** Whether a text contains an identifier: camelCase, snake_case, `a.b`, `f()`. */
export function hasIdentifier(text: string): boolean {
  return /\p{Ll}\p{Lu}|[\p{L}\d]_[\p{L}\d]|\p{L}[\p{L}\d]*\.\p{L}[\p{L}\d]*\p{L}|[\p{L}\d]\(\)/u.test(text)
}
