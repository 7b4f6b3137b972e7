/** Brings together what the legs found: each entry with the score of every leg, whichever leg brought it. */
import type { Steps } from '../base/turns.ts'
import type { Hit, SearchScope } from '../index/contract.ts'
import type { Candidate } from '../model/candidate.ts'
import type { ChunkKey, EntryKey } from '../model/entry.ts'
import type { QueryContext } from './context.ts'
import { formulaOf, mostOf, mostWithUse, scoreOf } from './formula.ts'
import { pageBar } from './page-bounds.ts'
import { KEPT_BY_WORDS, withExpected } from './partly-embedded.ts'
import { LOCAL_SOURCE } from './source.ts'
import type { Plan, Retrieval } from './stage.ts'

export interface Legs {
  readonly words: readonly Hit[]
  /** Null: not asked. */
  readonly meaning: readonly Hit[] | null
  /** What the legs brought by entry, also what was left out of the lists since. */
  readonly byWords: ReadonlyMap<EntryKey, Hit>
  readonly byMeaning: ReadonlyMap<EntryKey, Hit>
}

export function legsOf(words: readonly Hit[], meaning: readonly Hit[] | null): Legs {
  return { words, meaning, byWords: byEntry(words), byMeaning: byEntry(meaning ?? []) }
}

/** The score that a leg did not give is computed, so that an entry's score does not depend on how deep the legs went. */
export function* unite(
  legs: Legs,
  statistics: Retrieval['statistics'],
  plan: Plan,
  scope: SearchScope,
  context: QueryContext,
): Steps<readonly Candidate[]> {
  const { words, meaning, byWords, byMeaning } = legs
  if (meaning === null) return words.map(hit => candidate(hit, undefined))
  const onlyByWords = words.map(hit => hit.entry).filter(entry => !byMeaning.has(entry))
  const onlyByMeaning = meaning.map(hit => hit.entry).filter(entry => !byWords.has(entry))
  const moreWords = plan.mode === 'meaning' ? [] : yield* context.words.scoreInSteps(plan.terms, onlyByMeaning, scope)
  const { vectors } = context
  // As exact as the search was: else an entry's score would tell which leg brought it.
  const { approximate } = plan.query
  const moreMeaning =
    vectors === null || plan.vector === null ? [] : vectors.score(plan.vector, onlyByWords, scope, approximate)
  const [alsoByWords, alsoByMeaning] = [byEntry(moreWords), byEntry(moreMeaning)]
  const entries = [...meaning.map(hit => hit.entry), ...onlyByWords]
  const candidates = entries.map(entry =>
    candidate(byWords.get(entry) ?? alsoByWords.get(entry), byMeaning.get(entry) ?? alsoByMeaning.get(entry)),
  )
  return withExpected(candidates, statistics, scope, context)
}

/**
 * The hits that may reach the page under the default formula. What only one leg brought has at most the other leg's last
 * score there (`floor`: the last cosine of the usual depth), and at most a tenth more by use. While not all is embedded, what may be among the first by words stays too.
 */
export function nearThePage(
  legs: Legs,
  statistics: Retrieval['statistics'],
  plan: Plan,
  depth: number,
  context: QueryContext,
): Legs {
  const { words, meaning, byWords, byMeaning } = legs
  if (meaning === null) return legs
  const formula = formulaOf(statistics, plan, context)
  const surely = meaning.map(hit => scoreOf(byWords.get(hit.entry)?.score ?? 0, hit.score, formula))
  const bar = pageBar(surely, plan.query, depth)
  const { wordsLast = 0, floor = 0 } = statistics
  const mayReach = (bm: number, cosine: number) => mostOf(bm, cosine, formula) >= bar
  const third = words[KEPT_BY_WORDS - 1]?.score ?? 0
  const isKept = (bm: number) => formula.expectedBase !== null && mostWithUse(bm) >= third
  return {
    ...legs,
    words: words.filter(({ entry, score }) => byMeaning.has(entry) || mayReach(score, floor) || isKept(score)),
    meaning: meaning.filter(hit => byWords.has(hit.entry) || mayReach(wordsLast, hit.score)),
  }
}

function byEntry(hits: readonly Hit[]): Map<EntryKey, Hit> {
  const found = new Map<EntryKey, Hit>()
  for (const hit of hits) found.set(hit.entry, hit)
  return found
}

/** Has at least one hit. An entry without a vector has no signal `meaning`; one without any of the words has 0. */
function candidate(words: Hit | undefined, meaning: Hit | undefined): Candidate {
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
  return { entry: (words ?? (meaning as Hit)).entry, source: LOCAL_SOURCE, signals, chunks }
}
