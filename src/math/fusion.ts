/**
 * Makes one number of what words and meaning say of an entry: a weighted sum of scores, not of ranks, so that it depends
 * neither on how deep retrieval went nor on the page. Worked (Cranfield question 1, document 486, weights .3 and .7): BM25
 * 20.980 of at best 21.897 is a share of 0.95812; with cosine 0.70217 that makes 0.3·0.95812 + 0.7·0.70217 = 0.77896.
 */

/** An entry's BM25 as a share of the best one, 0 to 1; all shares are 0 where no term matches. */
export function wordShare(bm: number, bmTop: number): number {
  return bmTop > 0 ? bm / bmTop : 0
}

/** `share` in 0 to 1, `cosine` in -1 to 1. The weights are meant to add up to 1. */
export function fuse(share: number, cosine: number, wordsWeight: number, meaningWeight: number): number {
  return wordsWeight * share + meaningWeight * cosine
}

/**
 * The share of meaning in the score at which two entries change places: each scores
 * `boost · ((1 - x)·share + x·cosine)`. Null where no x makes them equal.
 */
export function crossing(a: Line, b: Line): number | null {
  const start = a.boost * a.share - b.boost * b.share
  const end = a.boost * a.cosine - b.boost * b.cosine
  if (start === end) return null
  const x = start / (start - end)
  return x >= 0 && x <= 1 ? x : null
}

export interface Line {
  readonly share: number
  readonly cosine: number
  readonly boost: number
}
