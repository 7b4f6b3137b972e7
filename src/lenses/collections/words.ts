/** Fuses the order by meaning with an order by words, over title and content with accents and case folded. */
import { fold } from '../../text/normalise.ts'
import { tokenise } from '../../text/tokenise.ts'
import type { DetailedResult } from './result.ts'

/** How much less a lower rank counts; the usual constant of reciprocal rank fusion. */
const RANK_OFFSET = 60
/** A word of the title counts so often. */
const TITLE_FACTOR = 2

/** Best first. Every result was found by meaning; those with a word of the question say so. */
export function fuseWithWords(byMeaning: readonly DetailedResult[], query: string): readonly DetailedResult[] {
  const wanted = new Set(termsOf(query))
  const weights = rarity(byMeaning, wanted)
  const scores = byMeaning.map(result => wordScore(result, weights))
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

function rarity(results: readonly DetailedResult[], wanted: ReadonlySet<string>): ReadonlyMap<string, number> {
  const holders = results.map(({ title, content }) => new Set([...termsOf(title), ...termsOf(content)]))
  return new Map(
    [...wanted].map(term => {
      const count = holders.filter(terms => terms.has(term)).length
      return [term, Math.log(1 + results.length / (count + 0.5))]
    }),
  )
}

function wordScore({ title, content }: DetailedResult, weights: ReadonlyMap<string, number>): number {
  const [inTitle, inContent] = [termsOf(title), termsOf(content)]
  let score = 0
  for (const [term, weight] of weights) {
    const count =
      inTitle.filter(one => one === term).length * TITLE_FACTOR + inContent.filter(one => one === term).length
    // Saturates: the tenth occurrence says little that the third did not.
    score += (weight * count) / (count + 1.2)
  }
  return score
}

function termsOf(text: string): readonly string[] {
  return tokenise(fold(text)).map(({ term }) => term)
}
