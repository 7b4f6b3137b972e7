/** Excerpts of the results of one question: the part of a chunk where the question's words stand, marked. */
import type { Chunk, Entry } from '../model/entry.ts'
import type { Excerpt } from '../model/page.ts'
import { excerpt, type WordMatcher } from '../text/excerpt.ts'
import { language, SAMPLE } from '../text/language.ts'
import { questionMatcher } from '../text/question-matcher.ts'
import type { Language } from '../text/stopwords.ts'
import type { QueryContext } from './context.ts'
import type { Plan } from './stage.ts'

export type Excerpter = (entry: Entry, chunk: Chunk | undefined) => Excerpt

/** An entry without chunks has nothing to show. */
export function excerpter(plan: Plan, context: QueryContext): Excerpter {
  const words = plan.terms.map(term => term.text)
  const matchers = new Map<Language, WordMatcher>()
  const matcherFor = (of: Language): WordMatcher => {
    const matcher = matchers.get(of) ?? questionMatcher(words, of)
    matchers.set(of, matcher)
    return matcher
  }
  return (entry, chunk) => {
    if (chunk === undefined) return { text: '', start_line: 1, end_line: 1, highlights: [] }
    const of = context.memo.language(entry, () => language(`${entry.title}\n${entry.content.slice(0, SAMPLE)}`))
    const shown = excerpt(entry.content, chunk, matcherFor(of), plan.query.excerptLength)
    const { text, startLine, endLine, highlights } = shown
    return { text, start_line: startLine, end_line: endLine, highlights }
  }
}
