/** The messages of several conversations that score most. */
import { TopK } from '../../../base/top-k.ts'
import type { Steps } from '../../../base/turns.ts'
import type { EntryKey } from '../../../model/entry.ts'
import type { Query } from '../../../model/query.ts'
import { pageBar } from '../../../pipeline/page-depth.ts'
import type { ConversationScores, Weighed } from './conversation-scores.ts'

/** A message of a conversation that was scored. */
export interface Place {
  readonly of: ConversationScores
  readonly at: number
  readonly score: number
}

/**
 * So many of all conversations together, with all that are as good as the last of them. `isCut`: others have a score too,
 * whether or not they may be answers; conversations of which nothing can be among the best are not scored. `kept`: messages that
 * are among them in any case, if anything speaks for them.
 */
export function* bestOf(
  conversations: readonly Weighed[],
  depth: number,
  isAnswer: (entry: EntryKey) => boolean,
  kept: ReadonlyMap<EntryKey, unknown> = NONE_KEPT,
): Steps<{ readonly best: readonly Place[]; readonly isCut: boolean }> {
  const isAlone = conversations.length === 1
  const top = new TopK<number>(depth, (a, b) => b - a)
  const scored: ConversationScores[] = []
  let answers = 0
  let least = 0
  let isCut = false
  for (const { bound, holds, scores: scoresOf } of conversations.toSorted((a, b) => b.bound - a.bound)) {
    if (!isAlone && bound < least) {
      isCut = true
      if (!holds(kept)) continue
    }
    const of = yield* scoresOf()
    scored.push(of)
    yield
    for (let i = 0; i < of.places.length; i++) {
      const at = of.places[i] as number
      const score = scoreAmong(of, at, isAlone)
      if (score === NONE) continue
      if (score < least) isCut = true
      if (score < least || !isAnswer(entryOf(of, at))) continue
      answers++
      if (top.full && score === least) continue
      top.push(score)
      if (top.full) least = top.worst as number
    }
  }
  const best = scored.flatMap(of => placesFrom(of, isAlone, least, isAnswer, kept))
  return { best, isCut: isCut || best.length < answers }
}

const NONE_KEPT: ReadonlyMap<EntryKey, unknown> = new Map()

/** In place of a score: nothing speaks for the message. */
const NONE = -1

/** Of a message among those of all conversations. */
function scoreAmong({ ranks, most, weight }: ConversationScores, at: number, isAlone: boolean): number {
  const within = ranks.scores[at] as number
  if (!(within > 0)) return NONE
  return isAlone ? within : (within / most) * weight
}

function entryOf({ moment }: ConversationScores, at: number): EntryKey {
  return (moment.said[at] as { entry: EntryKey }).entry
}

function placesFrom(
  of: ConversationScores,
  isAlone: boolean,
  least: number,
  isAnswer: (entry: EntryKey) => boolean,
  kept: ReadonlyMap<EntryKey, unknown>,
): readonly Place[] {
  const found: Place[] = []
  for (let i = 0; i < of.places.length; i++) {
    const at = of.places[i] as number
    const score = scoreAmong(of, at, isAlone)
    const entry = entryOf(of, at)
    if ((score >= least || (score !== NONE && kept.has(entry))) && isAnswer(entry)) found.push({ of, at, score })
  }
  return found
}

/** Which of them the page may show. */
export function nearThePage(
  best: readonly Place[],
  query: Query,
  depth: number,
  kept: ReadonlyMap<EntryKey, unknown>,
): readonly number[] {
  const scores = best.map(({ score }) => score)
  const bar = pageBar(scores, query, depth)
  const near: number[] = []
  for (const [place, { of, at, score }] of best.entries()) {
    if (score >= bar || kept.has(entryOf(of, at))) near.push(place)
  }
  return near
}
