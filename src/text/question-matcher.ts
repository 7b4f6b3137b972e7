/** Which words of a text stand for words of a question: the same stem, as the word index sees it. */
import type { WordMatcher } from './excerpt.ts'
import { languagesOfQuestion } from './language.ts'
import { beginningOf, stem } from './stem.ts'
import { isStopWord, type Language } from './stopwords.ts'
import { tokenise } from './tokenise.ts'

/**
 * `of` is the language of the text. Stop words of the question's language, and of the text's, stand for nothing, unless
 * the question has nothing else.
 */
export function questionMatcher(question: readonly string[], of: Language): WordMatcher {
  const words = [...new Set(question.flatMap(text => tokenise(text).map(token => token.term)))]
  const asked = languagesOfQuestion(words)
  const telling = words.filter(word => !asked.some(language => isStopWord(word, language)))
  const stems = new Map((telling.length > 0 ? telling : words).map(word => [stem(word, of), word]))
  // Stemming changes endings only, so most words of a text are recognised by how they begin.
  const beginnings = [...stems.keys()].map(stem => beginningOf(stem, of))
  const isAnyWord = beginnings.includes('')
  const initials = new Set(beginnings.map(beginning => beginning.charCodeAt(0)))
  const beginsAsOne = (term: string): boolean => {
    if (isAnyWord) return true
    if (!initials.has(term.charCodeAt(0))) return false
    for (const beginning of beginnings) if (term.startsWith(beginning)) return true
    return false
  }
  return term => {
    if (!beginsAsOne(term)) return null
    if (telling.length > 0 && isStopWord(term, of)) return null
    return stems.get(stem(term, of)) ?? null
  }
}
