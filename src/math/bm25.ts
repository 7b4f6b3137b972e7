/**
 * BM25 as this engine weighs words: k1 1.2, b 0.75, a word of the title counts twice, the logarithm that is never
 * negative. Every number in it is taken over visible chunks only. Worked: 3 of 10 chunks have the word, twice, in a chunk
 * of 8 tokens where 10 are the mean: idf 1.1451, score 1.1451 · 2 · 2.2 / (2 + 1.2 · 0.85) = 1.6684.
 */

export const K1 = 1.2
export const B = 0.75
export const TITLE_WEIGHT = 2

/** What having a term is worth: ≥ 0, more the rarer. `count` chunks, `df` of them with the term. */
export function idf(count: number, df: number): number {
  return Math.log(1 + (count - df + 0.5) / (df + 0.5))
}

/** The part of the denominator that a chunk's length decides. */
export function lengthPart(length: number, meanLength: number): number {
  return K1 * (1 - B + (B * length) / meanLength)
}

/** From 0 to below 2.2 (K1 + 1), growing with `tf` and falling with length. */
export function saturation(tf: number, lengthPartOf: number): number {
  return (tf * (K1 + 1)) / (tf + lengthPartOf)
}

/** `weight` is boost · idf. */
export function termScore(weight: number, tf: number, length: number, meanLength: number): number {
  return tf === 0 ? 0 : weight * saturation(tf, lengthPart(length, meanLength))
}
