/** What of a page may be seen now: checked once more against the matrix, shown, and its results set beside each other (BQ-094 to BQ-098). */
import type { EntryKey } from '../../../model/entry.ts'
import { isSeen } from '../access/is-seen.ts'
import { throughFederation } from '../access/member-count.ts'
import { type ShownBelief, type ShowView, showCurrent } from '../access/show.ts'
import type { CheckedQuery, CheckedScope } from '../check/checked.ts'
import type { Belief, Conflict, RankedBelief } from '../model.ts'
import { detectorOf } from '../opposition/installed.ts'
import type { Picked } from '../ranking/scored.ts'
import { derivationChain } from '../record/chain.ts'
import { vectorsOf } from '../record/vectors.ts'
import { conflictOf, findConflicts, MOST_COMPARED } from './conflicts.ts'
import type { Draft } from './draft.ts'

interface Shown {
  readonly belief: ShownBelief
  readonly picked: Picked
  readonly more: Partial<RankedBelief>
}

/** What others are compared with. */
export type Compared = Pick<ShownBelief, 'entry' | 'belief'>

export interface ShownPage {
  readonly results: readonly Shown[]
  readonly conflicts: readonly Conflict[]
  readonly compared: readonly Compared[]
}

/** What of a draft may be seen now; `before`: what was read in the same answer before it. */
export function showPage(
  view: ShowView,
  { options }: CheckedQuery,
  draft: Draft,
  before: readonly Compared[] = [],
): ShownPage {
  const byEntry = new Map(draft.picked.map(each => [each.scored.entry, each]))
  const found = showCurrent(view, [...byEntry.keys()], options.scope)
  const compared = [...before, ...found.slice(0, MOST_COMPARED - before.length)]
  return {
    results: resultsOf(view, options, found, byEntry),
    conflicts: conflictsIn(view, options.scope, draft, { compared, from: before.length, found }),
    compared,
  }
}

function resultsOf(
  view: ShowView,
  options: CheckedQuery['options'],
  found: readonly ShownBelief[],
  byEntry: ReadonlyMap<EntryKey, Picked>,
): readonly Shown[] {
  const { columns } = view
  return found.map(belief => {
    const { source, entry } = belief
    return {
      belief,
      picked: byEntry.get(entry) as Picked,
      more: {
        ...throughFederation(view, columns.rowOf(entry), source),
        ...(options.includeDerivation ? chainInTime(view, belief, options.maxDerivationDepth) : {}),
      },
    }
  })
}

function chainInTime(
  view: ShowView,
  { version }: ShownBelief,
  maxDepth: number,
): Pick<RankedBelief, 'derivation_chain'> | Record<string, never> {
  const { time } = view
  const hasTime = () => time?.allows() !== false
  if (!hasTime()) return {}
  try {
    return { derivation_chain: derivationChain(view, version, maxDepth, () => time?.check()) }
  } catch (thrown) {
    // A part of a chain would look like all of it.
    if (hasTime()) throw thrown
    return {}
  }
}

interface Comparing {
  /** From the top of the answer. */
  readonly compared: readonly Compared[]
  /** Those before it were told of, and may have gone since. */
  readonly from: number
  readonly found: readonly ShownBelief[]
}

/** Between what is shown now and what may be seen still: both of a conflict are named, and what they say. */
function conflictsIn(
  view: ShowView,
  scope: CheckedScope,
  { settled, world: { state } }: Draft,
  { compared, from, found }: Comparing,
): readonly Conflict[] {
  const { host, settings } = state
  if (settings.conflicts !== 'both_shown') {
    const shown = new Set(found.map(({ entry }) => entry))
    return settled
      .filter(one => shown.has(one.with) && one.of.every(({ entry }) => isSeen(view, entry, scope)))
      .map(({ of: [first, second], opposition }) => conflictOf([first.id, second.id], opposition, settings.conflicts))
  }
  const there = compared.filter(({ entry }, at) => at >= from || isSeen(view, entry, scope))
  if (there.length < 2) return []
  const beliefs = there.map(({ belief }) => belief)
  const news = there.length - (compared.length - from)
  const goesOn = () => view.time?.allows() !== false
  return findConflicts(detectorOf(host), beliefs, vectorsOf(view, there), { from: news, goesOn }).map(
    ({ first, second, opposition }) => {
      const ids = [beliefs[first], beliefs[second]].map(one => (one as Belief).id) as [string, string]
      return conflictOf(ids, opposition, settings.conflicts)
    },
  )
}
