/** Beliefs with their scores as answers list them, where a list is no page of a query. */
import type { EntryKey } from '../../../model/entry.ts'
import { throughFederation } from '../access/member-count.ts'
import { type ShownBelief, showCurrent } from '../access/show.ts'
import type { RankedBelief } from '../model.ts'
import type { Evaluation } from '../query/evaluation.ts'
import type { ScoredBelief } from '../ranking/scored.ts'
import { componentsOf } from './tell-page.ts'

/** Beliefs that are read and shown between two looks at the clock. */
const SHOWN_AT_ONCE = 50

/** In the order given, ranks from 1. */
export function listed(evaluation: Evaluation, scored: readonly ScoredBelief[]): readonly RankedBelief[] {
  const { view, question } = evaluation
  const shown = new Map<EntryKey, ShownBelief>()
  for (let from = 0; from < scored.length; from += SHOWN_AT_ONCE) {
    view.time?.check()
    const keys = scored.slice(from, from + SHOWN_AT_ONCE).map(({ entry }) => entry)
    for (const belief of showCurrent(view, keys, question.scope)) shown.set(belief.entry, belief)
  }
  return scored.flatMap((each, at) => {
    const belief = shown.get(each.entry)
    return belief === undefined ? [] : [ranked(evaluation, each, belief, at + 1)]
  })
}

function ranked(
  { view }: Evaluation,
  scored: ScoredBelief,
  { belief, source }: ShownBelief,
  rank: number,
): RankedBelief {
  return {
    belief,
    score: { final: scored.final, components: componentsOf(scored, 0) },
    rank,
    source,
    ...throughFederation(view, scored.row, source),
  }
}
