/**
 * How much speaks for anything on a question's subject being known, and how much there must be. The bar grows with the
 * number of rows, since the best of many strangers looks better than the best of few. Worked (Cranfield question 1): best
 * cosine 0.70217, best BM25 21.897 of at most 63.351, word share .25: evidence 0.7886; 1,400 rows, base .14, slope .10:
 * bar 0.4546.
 */

/** About 0 to 1.25. `bmMax` is what a chunk would score that has every term as often as one likes. */
export function evidence(bestCosine: number, bmTop: number, bmMax: number, wordShare: number): number {
  return bestCosine + (bmMax > 0 ? (wordShare * bmTop) / bmMax : 0)
}

export interface Bar {
  readonly base: number
  readonly slope: number
  /** Below this many rows the bar does not fall further. */
  readonly minRows: number
}

export function evidenceBar(rows: number, bar: Bar): number {
  return bar.base + bar.slope * Math.log10(Math.max(rows, bar.minRows))
}
