/** What this node's own store gives to an answer that others are asked for too. */
import type { Instant } from '../../../../base/clock.ts'
import type { EntryKey } from '../../../../model/entry.ts'
import type { Evaluation } from '../../query/evaluation.ts'
import type { ScoredBelief } from '../../ranking/scored.ts'
import type { CheckedOptions } from '../../schema/query.ts'

export interface OwnResults {
  readonly keys: readonly EntryKey[]
  /** Matches that are not among them. */
  readonly left: number
  /** The last of each list that goes on. */
  readonly ends: readonly EntryKey[]
  /** Where there is no match, what came closest to the text. */
  readonly nearest: readonly EntryKey[]
  /** Whether more were near enough to the text than may be matches. */
  readonly isCut: boolean
  /** Federations that the requester may query, ascending. */
  readonly federations: readonly string[]
}

/** At most so many; where sources are not put in one order, of each source (BQ-127 to BQ-129). Of what there was at a moment. */
export function ownResults(
  evaluation: Evaluation,
  { mergeStrategy }: Pick<CheckedOptions, 'mergeStrategy'>,
  most: number,
  asOf: Instant,
): OwnResults {
  const { matches, view } = evaluation
  const { federations } = view.requester
  const lists = mergeStrategy === 'rerank' ? [evaluation.best(most + 1)] : evaluation.bestOfEach(most + 1)
  const kept = lists.map(list => keysOf(list.slice(0, most).filter(({ createdAt }) => createdAt <= asOf)))
  const ends = kept.flatMap((keys, at) => ((lists[at]?.length ?? 0) > most ? keys.slice(-1) : []))
  const keys = kept.flat()
  const { isCut } = evaluation
  return { keys, left: matches.count - keys.length, ends, nearest: keysOf(evaluation.nearest()), isCut, federations }
}

function keysOf(list: readonly ScoredBelief[]): readonly EntryKey[] {
  return list.map(({ entry }) => entry)
}
