/** How much the words of a question could weigh at best: what a passage's BM25 is a share of. */
import type { SearchScope, WordIndex, WordTerm } from '../index/contract.ts'
import { K1 } from '../math/bm25.ts'

/** Approached by a passage that is nothing but these words; above 0 where one of them occurs among the visible. */
export function mostByWords(words: WordIndex, terms: readonly WordTerm[], scope: SearchScope): number {
  return words.weigh(terms, scope).reduce((sum, { boost, idf }) => sum + boost * idf * (K1 + 1), 0)
}
