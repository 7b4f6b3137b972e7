/**
 * How much speaks for anything on the subject of a query being stored, and how much there must be. Bars grow with the number
 * of rows, since the best of many unrelated passages looks better than the best of few. How they were chosen:
 * docs/decisions/015. Worked (Cranfield question 1): best cosine 0.70217, best BM25 21.897 of at most 63.351, word share .25:
 * evidence 0.7886; at 1,400 rows a bar of base .207 and slope .1 is 0.5216.
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

/** About 0 to 1.25. `bmMax` is what a chunk would score that has every term as often as one likes. */
export function evidence(bestCosine: number, bmTop: number, bmMax: number, wordShare: number): number {
  return bestCosine + (bmMax > 0 ? (wordShare * bmTop) / bmMax : 0)
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
