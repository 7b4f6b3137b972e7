/** Brings together what the legs found: each entry with the score of every leg, whichever leg brought it. */
import type { Steps } from '../base/turns.ts'
import type { Hit, SearchScope } from '../index/contract.ts'
import type { Candidate } from '../model/candidate.ts'
import type { ChunkKey, EntryKey } from '../model/entry.ts'
import { scoreBy } from '../model/formula.ts'
import type { QueryContext } from './context.ts'
import { boundDefault, mostOf } from './formula.ts'
import { MEMORY_BOOST } from './memory.ts'
import { pageBar } from './page-bounds.ts'
import { KEPT_BY_WORDS, withExpected } from './partly-embedded.ts'
import { LOCAL_SOURCE } from './source.ts'
import type { Plan, Retrieval } from './stage.ts'

/** An entry that a leg brought. Without a hit: that leg did not bring it, which says nothing of its score there. */
interface Found {
  readonly entry: EntryKey
  readonly words: Hit | undefined
  readonly meaning: Hit | undefined
}

export interface Legs {
  /** Each entry once: those by meaning in their order, then those by words alone in theirs. */
  readonly found: readonly Found[]
  readonly isByMeaning: boolean
}

/** `meaning` null: that leg was not asked. */
export function legsOf(words: readonly Hit[], meaning: readonly Hit[] | null): Legs {
  const byWords = new Map(words.map(hit => [hit.entry, hit]))
  const found: Found[] = []
  for (const hit of meaning ?? []) {
    const { entry } = hit
    found.push({ entry, words: byWords.get(entry), meaning: hit })
    byWords.delete(entry)
  }
  for (const [entry, hit] of byWords) found.push({ entry, words: hit, meaning: undefined })
  return { found, isByMeaning: meaning !== null }
}

/** The score that a leg did not give is computed, so that an entry's score does not depend on how deep the legs went. */
export function* unite(
  { found, isByMeaning }: Legs,
  statistics: Retrieval['statistics'],
  plan: Plan,
  scope: SearchScope,
  context: QueryContext,
): Steps<readonly Candidate[]> {
  if (!isByMeaning) return found.map(candidate)
  const without = (leg: 'words' | 'meaning') => found.filter(one => one[leg] === undefined).map(({ entry }) => entry)
  const moreWords =
    plan.mode === 'meaning' ? [] : yield* context.words.scoreInSteps(plan.terms, without('words'), scope)
  const { vectors } = context
  // As exact as the search was: else an entry's score would tell which leg brought it.
  const { approximate } = plan.query
  const moreMeaning =
    vectors === null || plan.vector === null ? [] : vectors.score(plan.vector, without('meaning'), scope, approximate)
  // Both are in the order that they were asked for in.
  let [words, meaning] = [0, 0]
  const candidates = found.map(one => {
    const { entry } = one
    const also = { words: one.words, meaning: one.meaning }
    if (also.words === undefined && moreWords[words]?.entry === entry) also.words = moreWords[words++]
    if (also.meaning === undefined && moreMeaning[meaning]?.entry === entry) also.meaning = moreMeaning[meaning++]
    return candidate({ entry, ...also })
  })
  return withExpected(candidates, statistics, scope, context)
}

/**
 * What may reach the page under the default formula. What only one leg brought has at most the other leg's last
 * score there (`floor`: the last cosine of the usual depth), and at most a tenth more by use. While not all is embedded, what may be among the first by words stays too.
 */
export function nearThePage(
  legs: Legs,
  statistics: Retrieval['statistics'],
  plan: Plan,
  depth: number,
  context: QueryContext,
): Legs {
  const { found, isByMeaning } = legs
  if (!isByMeaning) return legs
  const { bmTop = 0, wordsLast = 0, floor = 0, expectedBase } = statistics
  const bound = boundDefault(plan.weights, bmTop, context.model?.cosineScale ?? 1)
  const surely: number[] = []
  const byWords: number[] = []
  for (const { words, meaning } of found) {
    if (meaning !== undefined) {
      surely.push(scoreBy(bound.formula, { words: words?.score ?? 0, meaning: meaning.score }, bound.numbers))
    }
    if (words !== undefined) byWords.push(words.score)
  }
  const bar = pageBar(surely, plan.query, depth)
  const mayReach = (bm: number, cosine: number) => mostOf(bm, cosine, statistics, bound) >= bar
  const third = expectedBase === undefined ? 0 : (byWords.sort((a, b) => b - a)[KEPT_BY_WORDS - 1] ?? 0)
  const isKept = (bm: number) => expectedBase !== undefined && bm * (1 + MEMORY_BOOST) >= third
  const isNear = ({ words, meaning }: Found) => {
    if (words === undefined) return mayReach(wordsLast, meaning?.score ?? 0)
    return meaning !== undefined || mayReach(words.score, floor) || isKept(words.score)
  }
  return { ...legs, found: found.filter(isNear) }
}

/** Has at least one hit. An entry without a vector has no signal `meaning`; one without any of the words has 0. */
function candidate({ entry, words, meaning }: Found): Candidate {
  const signals: Record<string, number> = {}
  const chunks: Record<string, ChunkKey> = {}
  if (words !== undefined) {
    signals['words'] = words.score
    chunks['words'] = words.chunk
  }
  if (meaning !== undefined) {
    signals['meaning'] = meaning.score
    chunks['meaning'] = meaning.chunk
  }
  return { entry, source: LOCAL_SOURCE, signals, chunks }
}
