/** From the terms of a question to what the word index looks up: words, their stems by language, stop words dropped. */
import { invalidArgument } from '../../model/errors.ts'
import { languagesOfQuestion } from '../../text/language.ts'
import { stem } from '../../text/stem.ts'
import { isStopWord, type Language } from '../../text/stopwords.ts'
import { tokenise } from '../../text/tokenise.ts'
import type { TermWeight, WordTerm } from '../contract.ts'

export interface QuestionWord {
  /** Folded, as shown in explanations. */
  readonly term: string
  readonly boost: number
  /** It is looked for even where it is a stop word. */
  readonly always: boolean
}

/**
 * The words of all terms in order, each once with its boosts summed, identifiers with their parts. Stop words of the
 * question's language are dropped unless there is nothing else; stop words of other languages do not match there.
 */
export function questionWords(terms: readonly WordTerm[]): readonly QuestionWord[] {
  const boosts = boostsByWord(terms)
  const asked = languagesOfQuestion([...boosts.keys()])
  const kept = [...boosts].filter(([term]) => !asked.some(language => isStopWord(term, language)))
  const always = kept.length === 0
  return (always ? [...boosts] : kept).map(([term, boost]) => ({ term, boost, always }))
}

/**
 * What stands for the word in entries of a language; null where it is a stop word. An entry has one language, so the
 * chunks that have the word are the disjoint union over the languages.
 */
export function stemOf({ term, always }: QuestionWord, language: Language): string | null {
  return !always && isStopWord(term, language) ? null : stem(term, language)
}

/** The order in which scores are added up, everywhere: then equal sums are equal numbers. */
export function heaviestFirst(a: TermWeight, b: TermWeight): number {
  return b.boost * b.idf - a.boost * a.idf || (a.term < b.term ? -1 : 1)
}

/** The words of a phrase in order, none dropped. */
export function phraseWords(phrase: string): readonly string[] {
  return tokenise(phrase)
    .filter(token => !token.alias)
    .map(token => token.term)
}

function boostsByWord(terms: readonly WordTerm[]): Map<string, number> {
  const boosts = new Map<string, number>()
  for (const { text, boost } of terms) {
    if (!Number.isFinite(boost) || boost < 0) throw invalidArgument('boost', boost, 'a number of 0 or more')
    for (const { term } of tokenise(text)) boosts.set(term, (boosts.get(term) ?? 0) + boost)
  }
  return boosts
}
