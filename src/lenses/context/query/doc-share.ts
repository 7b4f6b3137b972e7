/** How much of a question's words a doc comment has. */
import type { TermWeight } from '../../../index/contract.ts'
import { covers, foldName, wordsOf } from '../names.ts'

/** 0 to 1, of the weight of all words. */
export function docShare(weights: readonly TermWeight[], doc: string): number {
  if (doc === '' || weights.length === 0) return 0
  const words = new Set(wordsOf(doc))
  let all = 0
  let found = 0
  for (const { term, idf, boost } of weights) {
    const folded = foldName(term)
    all += boost * idf
    if (words.has(folded) || some(words, word => covers(folded, word))) found += boost * idf
  }
  return all > 0 ? found / all : 0
}

function some(words: ReadonlySet<string>, test: (word: string) => boolean): boolean {
  for (const word of words) if (test(word)) return true
  return false
}
