/**
 * BM25, the usual score of a text for words, with this engine's parameters: k1 1.2, b 0.75, a word in the title counts twice, and an idf
 * that is never negative. Statistics are taken over chunks visible to the viewer only. Example: 3 of 10 chunks contain the word, and one of
 * 8 tokens contains it twice, where the mean is 10 tokens: idf 1.1451, score 1.1451 · 2 · 2.2 / (2 + 1.2 · 0.85) = 1.6684.
 */

export const K1 = 1.2
export const B = 0.75
export const TITLE_WEIGHT = 2

/**
 * Inverse document frequency: ln(1 + (count − df + 0.5) / (df + 0.5)), the weight of a term; at least 0, higher for rarer terms. `count`:
 * number of chunks; `df`: number of chunks that contain the term.
 */
export function idf(count: number, df: number): number {
  return Math.log(1 + (count - df + 0.5) / (df + 0.5))
}

/** The part of BM25's denominator that depends on a chunk's length: k1 · (1 − b + b · length / meanLength). */
export function lengthPart(length: number, meanLength: number): number {
  return K1 * (1 - B + (B * length) / meanLength)
}

/**
 * How much the number of occurrences of a term in a chunk, `tf`, counts in BM25: from 0 to below 2.2 (k1 + 1), growing with `tf` and
 * smaller for longer chunks.
 */
export function saturation(tf: number, lengthPartOf: number): number {
  return (tf * (K1 + 1)) / (tf + lengthPartOf)
}

/** BM25 score of one term in a chunk: `weight` (the term's boost times its idf) times the saturated number of occurrences. */
export function termScore(weight: number, tf: number, length: number, meanLength: number): number {
  return tf === 0 ? 0 : weight * saturation(tf, lengthPart(length, meanLength))
}
