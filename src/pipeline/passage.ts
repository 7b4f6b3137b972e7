/** Excerpts of the results of one question: the part of a chunk where the question's words are, marked. */
import type { Chunk, Entry } from '../model/entry.ts'
import type { Excerpt } from '../model/page.ts'
import { excerpt, sectionAt, type WordMatcher } from '../text/excerpt.ts'
import { language, SAMPLE } from '../text/language.ts'
import { questionMatcher } from '../text/question-matcher.ts'
import type { Language } from '../text/stopwords.ts'
import type { QueryContext } from './context.ts'
import type { Plan } from './stage.ts'

export type Excerpter = (entry: Entry, chunk: Chunk | undefined) => Excerpt

/** Kinds whose chunks have headings that are indexed and are no part of the content: domains, the question before. */
const INDEXED_ONLY: ReadonlySet<string> = new Set(['belief', 'message'])

/** An entry without chunks has nothing to show. */
export function excerpter(plan: Plan, context: QueryContext): Excerpter {
  const words = plan.terms.map(term => term.text)
  const weights = weightsOfWords(plan, context)
  const weightOf = (word: string): number => weights.get(word) ?? 1
  const matchers = new Map<Language, WordMatcher>()
  const matcherFor = (of: Language): WordMatcher => {
    const matcher = matchers.get(of) ?? questionMatcher(words, of)
    matchers.set(of, matcher)
    return matcher
  }
  return (entry, chunk) => {
    if (chunk === undefined) return { text: '', start_line: 1, end_line: 1, section: [], highlights: [] }
    const of = context.memo.language(entry, () => language(`${entry.title}\n${entry.content.slice(0, SAMPLE)}`))
    const shown = excerpt(entry.content, chunk, {
      match: matcherFor(of),
      weightOf,
      maxLength: plan.query.excerptLength,
      form: entry.kind === 'code' ? 'code' : 'prose',
    })
    return {
      text: shown.text,
      start_line: shown.startLine,
      end_line: shown.endLine,
      section: sectionOf(entry, chunk, shown.start),
      highlights: shown.highlights,
      ...(shown.isStartCut && { cut_start: true }),
      ...(shown.isEndCut && { cut_end: true }),
    }
  }
}

/** Headings are read in Markdown alone, which other texts with headings seldom look like. */
function sectionOf({ kind, content, origin }: Entry, chunk: Chunk, at: number): readonly string[] {
  if (INDEXED_ONLY.has(kind)) return []
  const isMarkdown = kind !== 'code' && (chunk.headings.length > 0 || /\.(md|mdx|markdown)$/i.test(origin ?? ''))
  return isMarkdown ? sectionAt(content, chunk, at) : chunk.headings
}

/**
 * Boost times idf of each word of the question among the visible passages: the statistics that ranking has read already,
 * and which say nothing of hidden ones.
 */
function weightsOfWords({ terms, mode }: Plan, { words, sight }: QueryContext): ReadonlyMap<string, number> {
  if (terms.length === 0 || mode === 'list') return new Map()
  return new Map(words.weigh(terms, sight).map(({ term, boost, idf }) => [term, boost * idf]))
}
