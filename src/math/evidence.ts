/**
 * How much speaks for anything on the subject of a query being stored, and how much there must be. Bars grow with the number
 * of rows, since the best of many unrelated passages looks better than the best of few. How they were chosen:
 * docs/decisions/015. Worked (Cranfield question 1, weights .25, .1 and .01): best cosine 0.73844, of a passage that holds 5 of the 10
 * words; best BM25 22.111 of at most 67.122: evidence 0.9586. At 2,048 rows a bar of base .325 and slope .1 is 0.6561.
 */

/** A bar at so many rows is base + slope · log10(rows). */
export interface Bar {
  readonly base: number
  readonly slope: number
}

/** Evidence below `refused`: nothing relevant. From `answered` on: an answer. Between them: weak. */
export interface Bars {
  readonly refused: Bar
  readonly answered: Bar
}

/** Bars do not fall further below so many rows. */
const MIN_ROWS = 10

export function barAt(rows: number, { base, slope }: Bar): number {
  return base + slope * Math.log10(Math.max(rows, MIN_ROWS))
}

/** How much higher the bar for refusing is where no word of the query occurs in any visible passage: a cosine at MiniLM's spread. */
const NO_WORD = 0.1

/** In small stores a third of the foreign queries share no word with them, and one own query in a hundred. */
export function withoutWords({ refused, answered }: Bars, cosineScale = 1): Bars {
  return { answered, refused: { ...refused, base: refused.base + NO_WORD / cosineScale } }
}

/** The words of a query, without stop words. */
export interface WordEvidence {
  /** The best BM25 of a passage as a share of what the words score in one that has each as often as one likes, 0 to 1. */
  readonly coverage: number
  /** How many of the words the passage that is nearest in meaning holds. */
  readonly held: number
  readonly asked: number
}

/** What adds to the cosine of the nearest passage. */
export interface WordWeights {
  /** Of the coverage. */
  readonly wordShare: number
  /** Of log10(1 + words held): meaning and words agree on one passage. Absent: 0. */
  readonly heldShare?: number | undefined
  /** Of each word of the query, up to six: a short one is near to some passage by chance more often. Absent: 0. */
  readonly askedShare?: number | undefined
}

const MAX_ASKED = 6

/** About 0 to 1.5. */
export function evidence(bestCosine: number, { coverage, held, asked }: WordEvidence, weights: WordWeights): number {
  const { wordShare, heldShare = 0, askedShare = 0 } = weights
  return bestCosine + wordShare * coverage + heldShare * Math.log10(1 + held) + askedShare * Math.min(asked, MAX_ASKED)
}

/** Bars of `evidenceByWords`. They hold for words of any language: no statistic of a language is in them. */
export const WORD_BARS: Bars = { refused: { base: 0.15, slope: 0.045 }, answered: { base: 0.255, slope: 0.105 } }

const HELD_WEIGHT = 0.5

/**
 * By words alone, about 0 to 1.5. `coverage`: the best passage's share of what the words can score, 0 to 1; `held`: how many
 * of the words it holds. Two words in one passage say more than one word that is a large share of the query.
 */
export function evidenceByWords(coverage: number, held: number): number {
  return coverage + HELD_WEIGHT * Math.log10(1 + held)
}
