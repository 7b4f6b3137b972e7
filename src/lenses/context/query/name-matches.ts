/** What names say to a question, as a number: the whole name, a part of it, or words in common. */
import type { Concept, VisibleConcepts } from '../concepts.ts'
import { foldName } from '../names.ts'
import { type Cover, coversOf } from './cover.ts'

export interface NameMatch {
  readonly concept: Concept
  /** `whole`: it is the question; `name`: it holds the question as it is; `words`: it shares words with it. */
  readonly match: 'whole' | 'name' | 'words'
  /** 0 to 1: how much of the question the name has, and how much of the name the question has, as their harmonic mean. */
  readonly share: number
}

/** In no order. */
export function nameMatches(
  concepts: VisibleConcepts,
  query: string,
  questionWords: readonly string[],
): readonly NameMatch[] {
  const wanted = foldName(query)
  const covers = coversOf(questionWords, { byWord: concepts.byWord, total: concepts.all.length, countOf: () => 1 })
  const matches: NameMatch[] = []
  for (const concept of concepts.all) {
    const byWords = wordShare(concept, covers.get(concept))
    if (concept.folded === wanted) matches.push({ concept, match: 'whole', share: 1 })
    else if (concept.folded.includes(wanted)) {
      const share = Math.max(byWords, harmonic(1, wanted.length / concept.folded.length))
      matches.push({ concept, match: 'name', share })
    } else if (byWords > 0) matches.push({ concept, match: 'words', share: byWords })
  }
  return matches
}

function wordShare({ words }: Concept, cover: Cover | undefined): number {
  return cover === undefined ? 0 : harmonic(cover.share, cover.words / words.length)
}

function harmonic(a: number, b: number): number {
  return (2 * a * b) / (a + b)
}
