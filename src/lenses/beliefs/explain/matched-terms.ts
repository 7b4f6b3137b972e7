/** Which words of a question stand in a belief as they were written (BQ-106). */
import { contentWords, foldContent, hasPhrase, hasTokens, tokensOf } from '../matching/literal.ts'
import type { CheckedText } from '../schema/text.ts'

/** Each once: phrases and included terms first, then the words of the text, in its order. Words that say nothing are left out. */
export function matchedTerms({ base, include, phrases }: CheckedText, content: string): readonly string[] {
  const folded = foldContent(content)
  return [
    ...new Set([
      ...phrases.filter(phrase => hasPhrase(folded, foldContent(phrase).trim())),
      ...include.filter(term => hasTokens(folded, tokensOf(term))),
      ...contentWords(base).filter(word => hasTokens(folded, [word])),
    ]),
  ]
}
