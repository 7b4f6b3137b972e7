/** What names say to a question, as a number: the whole name, a part of it, or words in common. */
import { TopK } from '../../../base/top-k.ts'
import type { Concept, VisibleConcepts } from '../concepts.ts'
import { foldName } from '../names.ts'
import { type Covers, coversOf } from './cover.ts'

export interface NameMatch {
  readonly concept: Concept
  /** `whole`: it is the question; `name`: it holds the question as it is; `words`: it shares words with it. */
  readonly match: 'whole' | 'name' | 'words'
  /** 0 to 1: how much of the question the name has, and how much of the name the question has, as their harmonic mean. */
  readonly share: number
}

/** The best, by share, then id; only those that hold the question as it is unless `inWords`. */
export function bestNames(
  concepts: VisibleConcepts,
  query: string,
  questionWords: readonly string[],
  { most, inWords }: { readonly most: number; readonly inWords: boolean },
): readonly NameMatch[] {
  const wanted = foldName(query)
  const { all, byWord } = concepts
  const covers = coversOf(questionWords, { byWord, length: all.length, total: all.length, countOf: () => 1 })
  const best = new TopK<NameMatch>(most, (a, b) => b.share - a.share || a.concept.id - b.concept.id)
  // By id ascending: of equal shares the first stays.
  const offer = (concept: Concept, match: NameMatch['match'], share: number) => {
    if (!best.full || share > (best.worst?.share ?? 0)) best.push({ concept, match, share })
  }
  for (let place = 0; place < all.length; place++) {
    const concept = all[place] as Concept
    const byWords = wordShare(concept, covers, place)
    if (concept.folded.includes(wanted)) {
      const ofName = wanted.length / concept.folded.length
      offer(concept, ofName === 1 ? 'whole' : 'name', Math.max(byWords, harmonic(1, ofName)))
    } else if (inWords && byWords > 0) offer(concept, 'words', byWords)
  }
  return best.sorted()
}

function wordShare({ words }: Concept, covers: Covers, place: number): number {
  const covered = covers.wordsOf(place)
  return covered === 0 ? 0 : harmonic(covers.shareOf(place), covered / words.length)
}

function harmonic(a: number, b: number): number {
  return (2 * a * b) / (a + b)
}
