/** The excerpt of a result: the part of its chunk where the question's words stand, marked. */
import type { Chunk, Entry } from '../model/entry.ts'
import type { Excerpt } from '../model/page.ts'
import { excerpt } from '../text/excerpt.ts'
import { language, SAMPLE } from '../text/language.ts'
import { questionMatcher } from '../text/question-matcher.ts'
import type { Plan } from './stage.ts'

/** An entry without chunks has nothing to show. */
export function excerptOf(entry: Entry, chunk: Chunk | undefined, plan: Plan): Excerpt {
  if (chunk === undefined) return { text: '', start_line: 1, end_line: 1, highlights: [] }
  const words = plan.terms.map(term => term.text)
  const match = questionMatcher(words, language(`${entry.title}\n${entry.content.slice(0, SAMPLE)}`))
  const { text, startLine, endLine, highlights } = excerpt(entry.content, chunk, match, plan.query.excerptLength)
  return { text, start_line: startLine, end_line: endLine, highlights }
}
