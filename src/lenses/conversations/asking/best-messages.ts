/** The messages of several conversations that score most. */
import { TopK } from '../../../base/top-k.ts'
import type { EntryKey } from '../../../model/entry.ts'
import type { Query } from '../../../model/query.ts'
import { pageBar } from '../../../pipeline/page-bounds.ts'
import type { ConversationScores, Weighed } from './conversation-scores.ts'

/** A message of a conversation that was scored. */
export interface Place {
  readonly of: ConversationScores
  readonly at: number
  readonly score: number
}

/**
 * So many of all conversations together, with all that are as good as the last of them. `isCut`: others have a score too,
 * whether or not they may be answers; conversations of which nothing can be among the best are not scored.
 */
export function bestOf(
  conversations: readonly Weighed[],
  depth: number,
  isAnswer: (entry: EntryKey) => boolean,
): { readonly best: readonly Place[]; readonly isCut: boolean } {
  const isAlone = conversations.length === 1
  const top = new TopK<number>(depth, (a, b) => b - a)
  const places: Place[] = []
  let least = 0
  let isCut = false
  for (const { bound, scores } of conversations.toSorted((a, b) => b.bound - a.bound)) {
    if (!isAlone && bound < least) {
      isCut = true
      break
    }
    const of = scores()
    const { moment, places: own, ranks, most, weight } = of
    for (const at of own) {
      const within = ranks.scores[at] as number
      if (!(within > 0)) continue
      const score = isAlone ? within : (within / most) * weight
      if (score < least) isCut = true
      if (score < least || !isAnswer((moment.said[at] as { entry: EntryKey }).entry)) continue
      places.push({ of, at, score })
      top.push(score)
      if (top.full) least = top.worst as number
    }
  }
  const best = places.filter(({ score }) => score >= least)
  return { best, isCut: isCut || best.length < places.length }
}

/** Which of them the page may show. */
export function nearThePage(best: readonly Place[], query: Query, depth: number): readonly number[] {
  const scores = best.map(({ score }) => score)
  const bar = pageBar(scores, query, depth)
  return [...best.keys()].filter(place => (best[place] as Place).score >= bar)
}
