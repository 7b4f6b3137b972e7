/** The words of a question that messages are ranked by. */
import { languagesOfQuestion } from '../../../text/language.ts'
import { isStopWord } from '../../../text/stopwords.ts'
import { tokenise } from '../../../text/tokenise.ts'
import { type AskedWord, WordStems } from './bm25.ts'

/** Each once, its boosts added up; stop words of the question's language are left out. */
export function askedWords(terms: readonly { readonly text: string; readonly boost: number }[]): readonly AskedWord[] {
  const boosts = new Map<string, number>()
  for (const { text, boost } of terms) {
    for (const { term } of tokenise(text)) boosts.set(term, (boosts.get(term) ?? 0) + boost)
  }
  const languages = languagesOfQuestion([...boosts.keys()])
  return [...boosts].flatMap(([word, boost]) =>
    languages.some(language => isStopWord(word, language)) ? [] : [{ word, boost, stems: new WordStems(word) }],
  )
}
