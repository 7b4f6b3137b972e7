/**
 * Evidence, a number that tells how likely something on a query's subject is stored, and the thresholds (bars) to which it is compared.
 * Thresholds rise with the number of stored rows, since the best of many unrelated passages looks better than the best of few. Choice of
 * the numbers: docs/decisions/015. Example (query 1 of the Cranfield collection, weights .25, .1 and .01): best cosine 0.73844, of a
 * passage with 5 of the query's 10 words, and best BM25 22.111 of at most 67.122 give evidence 0.9586; at 2,048 rows, a bar of base .325
 * and slope .1 is 0.6561.
 */

/** A threshold for evidence that depends on the number of rows searched: base + slope · log10(rows). */
export interface Bar {
  readonly base: number
  readonly slope: number
}

/**
 * Thresholds for the verdict on an answer: evidence below `refused` means that nothing is relevant, evidence from `answered` on that the
 * query is answered, and evidence in between that the answer is weak.
 */
export interface Bars {
  readonly refused: Bar
  readonly answered: Bar
}

/** Number of rows below which thresholds for evidence do not fall further. */
const MIN_ROWS = 10

export function barAt(rows: number, { base, slope }: Bar): number {
  return base + slope * Math.log10(Math.max(rows, MIN_ROWS))
}

/**
 * Amount, as a cosine on the scale of the model MiniLM, by which the threshold for refusing an answer is raised where no visible passage
 * contains a word of the query.
 */
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
  /**
   * The best BM25 score of a passage, as a share (0 to 1) of the score that a passage would have if it contained each word of the query
   * arbitrarily often.
   */
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
  /**
   * Weight of the number of words in the query, of which at most six count: a shorter query is more often near some passage by chance.
   * Absent: 0.
   */
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
 * Evidence by words alone, about 0 to 1.5: coverage + 0.5 · log10(1 + held). `coverage`: the best passage's BM25 score as a share of the
 * possible one, 0 to 1; `held`: how many of the query's words the passage contains. Two words in one passage are stronger evidence than a
 * single rare word that makes up much of the possible score.
 */
export function evidenceByWords(coverage: number, held: number): number {
  return coverage + HELD_WEIGHT * Math.log10(1 + held)
}
