/** How much of a question's words doc comments have. */
import type { TermWeight } from '../../../index/contract.ts'
import { covers, foldName, wordsOf } from '../names.ts'

/** Of a doc comment, 0 to 1: of the weight of all words. */
export function docShares(weights: readonly TermWeight[]): (doc: string) => number {
  const asked = weights.map(({ term, idf, boost }) => ({ word: foldName(term), weight: boost * idf }))
  const all = asked.reduce((sum, { weight }) => sum + weight, 0)
  return doc => {
    if (doc === '' || all === 0) return 0
    const words = wordsOf(doc)
    const isThere = (asked: string) => words.some(word => covers(asked, word))
    return asked.reduce((sum, { word, weight }) => sum + (isThere(word) ? weight : 0), 0) / all
  }
}
