/** Fuses the order by meaning with an order by words, over title and content with accents and case folded. */
import type { Steps } from '../../base/turns.ts'
import { fold } from '../../text/normalise.ts'
import { tokenise } from '../../text/tokenise.ts'
import type { DetailedResult } from './result.ts'

/** How much less a lower rank counts; the usual constant of reciprocal rank fusion. */
const RANK_OFFSET = 60
/** A word of the title counts so often. */
const TITLE_FACTOR = 2

/** Best first, a step for each result. Every result was found by meaning; those with a word of the question say so. */
export function* fuseWithWords(byMeaning: readonly DetailedResult[], query: string): Steps<readonly DetailedResult[]> {
  const wanted = new Set(termsOf(query))
  const counts: Counts[] = []
  for (const result of byMeaning) {
    counts.push(countsOf(result, wanted))
    yield
  }
  const weights = rarity(counts, wanted)
  const scores: number[] = []
  for (const one of counts) {
    scores.push(wordScore(one, weights))
    yield
  }
  const byWords = scores.map((score, at) => ({ score, at })).filter(({ score }) => score > 0)
  byWords.sort((a, b) => b.score - a.score || a.at - b.at)
  const wordRank = new Map(byWords.map(({ at }, rank) => [at, rank]))
  const fused = byMeaning.map((result, at) => {
    const rank = wordRank.get(at)
    const worth = 1 / (RANK_OFFSET + at) + (rank === undefined ? 0 : 1 / (RANK_OFFSET + rank))
    return { worth, at, result: rank === undefined ? result : { ...result, why: ['vector', 'words'] as const } }
  })
  return fused.sort((a, b) => b.worth - a.worth || a.at - b.at).map(({ result }) => result)
}

/** How often a result has the terms that are wanted. */
type Counts = ReadonlyMap<string, number>

function countsOf({ title, content }: DetailedResult, wanted: ReadonlySet<string>): Counts {
  const counts = new Map<string, number>()
  const count = (text: string, by: number) => {
    for (const term of termsOf(text)) if (wanted.has(term)) counts.set(term, (counts.get(term) ?? 0) + by)
  }
  count(title, TITLE_FACTOR)
  count(content, 1)
  return counts
}

function rarity(results: readonly Counts[], wanted: ReadonlySet<string>): ReadonlyMap<string, number> {
  const holders = new Map<string, number>()
  for (const counts of results) for (const term of counts.keys()) holders.set(term, (holders.get(term) ?? 0) + 1)
  return new Map([...wanted].map(term => [term, Math.log(1 + results.length / ((holders.get(term) ?? 0) + 0.5))]))
}

function wordScore(counts: Counts, weights: ReadonlyMap<string, number>): number {
  let score = 0
  // In the order of the question, whatever the order of the text: then equal sums are equal numbers.
  for (const [term, weight] of weights) {
    const count = counts.get(term) ?? 0
    // Saturates: the tenth occurrence says little that the third did not.
    score += (weight * count) / (count + 1.2)
  }
  return score
}

function termsOf(text: string): readonly string[] {
  return tokenise(fold(text)).map(({ term }) => term)
}
