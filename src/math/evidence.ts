/**
 * Evidence that something on a query's subject is stored, and the thresholds (bars) for it. Bars rise with the number of rows, since the
 * best of many unrelated passages looks better than the best of few. How they were chosen: docs/decisions/015. Example (Cranfield query 1,
 * weights .25, .1 and .01): best cosine 0.73844, of a passage that contains 5 of the 10 words; best BM25 22.111 of at most 67.122: evidence
 * 0.9586. At 2,048 rows, a bar of base .325 and slope .1 is 0.6561.
 */

/** A threshold for evidence that depends on the number of rows searched: base + slope · log10(rows). */
export interface Bar {
  readonly base: number
  readonly slope: number
}

/** Thresholds of the verdict. Evidence below `refused`: nothing relevant; from `answered` on: answered; in between: weak. */
export interface Bars {
  readonly refused: Bar
  readonly answered: Bar
}

/** Number of rows below which thresholds for evidence do not fall further. */
const MIN_ROWS = 10

export function barAt(rows: number, { base, slope }: Bar): number {
  return base + slope * Math.log10(Math.max(rows, MIN_ROWS))
}

/** Amount by which the refusal threshold is raised where no query word occurs in any visible passage, as a cosine on MiniLM's scale. */
const NO_WORD = 0.1

/**
 * Thresholds for a query whose words all occur in no visible passage: the threshold for refusing is higher. In small stores this applies to
 * a third of the unrelated queries, and to one in a hundred related ones.
 */
export function withoutWords({ refused, answered }: Bars, cosineScale = 1): Bars {
  return { answered, refused: { ...refused, base: refused.base + NO_WORD / cosineScale } }
}

/** What the words of a query, without stop words, say about whether something relevant is stored. */
export interface WordEvidence {
  /** The best BM25 of a passage as a share of the score if each word occurred arbitrarily often in it, from 0 to 1. */
  readonly coverage: number
  /** How many of the query's words are in the passage with the largest cosine. */
  readonly held: number
  readonly asked: number
}

/** Weights of the terms that are added to the cosine of the nearest passage to get the evidence. */
export interface WordWeights {
  /** Weight of `coverage`, the best BM25 score as a share of the possible one. */
  readonly wordShare: number
  /**
   * Weight of log10(1 + h), where h is how many of the query's words the nearest passage contains: then meaning and words agree on one
   * passage. Absent: 0.
   */
  readonly heldShare?: number | undefined
  /** Weight of each word of the query, up to six: a short query is near some passage by chance more often. Absent: 0. */
  readonly askedShare?: number | undefined
}

const MAX_ASKED = 6

/**
 * Evidence by meaning and words together, about 0 to 1.5: bestCosine + wordShare · coverage + heldShare · log10(1 + held) + askedShare ·
 * min(asked, 6).
 */
export function evidence(bestCosine: number, { coverage, held, asked }: WordEvidence, weights: WordWeights): number {
  const { wordShare, heldShare = 0, askedShare = 0 } = weights
  return bestCosine + wordShare * coverage + heldShare * Math.log10(1 + held) + askedShare * Math.min(asked, MAX_ASKED)
}

/** Thresholds for evidence by words alone. They hold for every language, since that evidence uses no statistics of a language. */
export const WORD_BARS: Bars = { refused: { base: 0.15, slope: 0.045 }, answered: { base: 0.255, slope: 0.105 } }

const HELD_WEIGHT = 0.5

/**
 * Evidence from words alone, about 0 to 1.5. `coverage`: the best passage's share of the words' possible score, 0 to 1; `held`: how many of
 * the words it contains. Two words in one passage are stronger evidence than one word that makes up much of the query.
 */
export function evidenceByWords(coverage: number, held: number): number {
  return coverage + HELD_WEIGHT * Math.log10(1 + held)
}
