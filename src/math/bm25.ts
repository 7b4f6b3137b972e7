/**
 * BM25 with this engine's parameters: k1 1.2, b 0.75, a word in the title counts twice, and the variant of the logarithm that is never
 * negative. All statistics are taken over visible chunks only. Example: 3 of 10 chunks have the word, twice, in a chunk of 8 tokens where
 * the mean is 10: idf 1.1451, score 1.1451 · 2 · 2.2 / (2 + 1.2 · 0.85) = 1.6684.
 */

export const K1 = 1.2
export const B = 0.75
export const TITLE_WEIGHT = 2

/**
 * Inverse document frequency: the weight of a term, at least 0, higher for rarer terms. `count`: number of chunks; `df`: number of those
 * with the term.
 */
export function idf(count: number, df: number): number {
  return Math.log(1 + (count - df + 0.5) / (df + 0.5))
}

/** The part of BM25's denominator that depends on a chunk's length. */
export function lengthPart(length: number, meanLength: number): number {
  return K1 * (1 - B + (B * length) / meanLength)
}

/** Contribution of the term frequency: from 0 to below 2.2 (K1 + 1), growing with `tf` and falling with length. */
export function saturation(tf: number, lengthPartOf: number): number {
  return (tf * (K1 + 1)) / (tf + lengthPartOf)
}

/** BM25 score of one term in a chunk. `weight` is boost · idf. */
export function termScore(weight: number, tf: number, length: number, meanLength: number): number {
  return tf === 0 ? 0 : weight * saturation(tf, lengthPart(length, meanLength))
}
