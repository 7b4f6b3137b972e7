/** Which words of a question stand in a belief as they were written (BQ-106). */
import { languagesOfQuestion } from '../../../text/language.ts'
import { isStopWord } from '../../../text/stopwords.ts'
import { foldContent, hasPhrase, hasTokens, tokensOf } from '../matching/literal.ts'
import type { CheckedText } from '../schema/text.ts'

/** Each once: phrases and included terms first, then the words of the text, in its order. Words that say nothing are left out. */
export function matchedTerms({ base, include, phrases }: CheckedText, content: string): readonly string[] {
  const folded = foldContent(content)
  const words = tokensOf(base)
  const languages = languagesOfQuestion(words)
  const telling = words.filter(word => !languages.some(language => isStopWord(word, language)))
  return [
    ...new Set([
      ...phrases.filter(phrase => hasPhrase(folded, foldContent(phrase).trim())),
      ...include.filter(term => hasTokens(folded, tokensOf(term))),
      ...telling.filter(word => hasTokens(folded, [word])),
    ]),
  ]
}
