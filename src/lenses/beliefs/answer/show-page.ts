/** What of a page may be seen now: checked once more against the matrix, shown, and its results set beside each other (BQ-094 to BQ-098). */
import type { EntryKey } from '../../../model/entry.ts'
import { isSeen } from '../access/is-seen.ts'
import { throughFederation } from '../access/member-count.ts'
import { type ShownBelief, type ShowView, showCurrent } from '../access/show.ts'
import type { Belief, Conflict, RankedBelief } from '../model.ts'
import { detectorOf } from '../opposition/installed.ts'
import { type Picked, unspread } from '../ranking/scored.ts'
import { derivationChain } from '../record/chain.ts'
import { vectorsOf } from '../record/vectors.ts'
import type { CheckedQuery } from '../schema/query.ts'
import { conflictOf, findConflicts, MOST_COMPARED } from './conflicts.ts'
import type { Draft } from './draft.ts'

export interface Shown {
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
  /** Of the verdict. */
  readonly nearest: readonly Shown[]
}

/** How what stands in a draft is shown, as of the moment of showing it. */
export interface Showing {
  /** Whose columns and vectors the draft's entries are of. */
  readonly view: ShowView
  /** Those that may be seen still, in the order asked for. */
  current(keys: readonly EntryKey[]): readonly ShownBelief[]
  isSeen(entry: EntryKey): boolean
  /** What is told beside it. */
  more(belief: ShownBelief): Partial<RankedBelief>
}

/** Of beliefs of one store, from there. */
export function showingOf(view: ShowView, options: CheckedQuery['options']): Showing {
  return {
    view,
    current: keys => showCurrent(view, keys, options.scope),
    isSeen: entry => isSeen(view, entry, options.scope),
    more: belief => ({
      ...throughFederation(view, view.columns.rowOf(belief.entry), belief.source),
      ...(options.includeDerivation ? chainInTime(view, belief, options.maxDerivationDepth) : {}),
    }),
  }
}

/** What of a draft may be seen now; `before`: what was read in the same answer before it. */
export function showPage(showing: Showing, draft: Draft, before: readonly Compared[] = []): ShownPage {
  const results = shownOf(showing, draft.picked)
  const found = results.map(({ belief }) => belief)
  const compared = [...before, ...found.slice(0, MOST_COMPARED - before.length)]
  const conflicts = conflictsIn(showing, draft, { compared, from: before.length, found })
  const closest = draft.verdict?.nearest ?? []
  return { results, conflicts, compared, nearest: closest.length === 0 ? [] : shownOf(showing, closest.map(unspread)) }
}

function shownOf(showing: Showing, picked: readonly Picked[]): readonly Shown[] {
  const byEntry = new Map(picked.map(each => [each.scored.entry, each]))
  return showing.current([...byEntry.keys()]).map(belief => {
    return { belief, picked: byEntry.get(belief.entry) as Picked, more: showing.more(belief) }
  })
}

export function chainInTime(
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
  { view, isSeen }: Showing,
  { settled, world: { state } }: Draft,
  { compared, from, found }: Comparing,
): readonly Conflict[] {
  const { host, settings } = state
  if (settings.conflicts !== 'both_shown') {
    const shown = new Set(found.map(({ entry }) => entry))
    return settled
      .filter(one => shown.has(one.with) && one.of.every(({ entry }) => isSeen(entry)))
      .map(({ of: [first, second], opposition }) => conflictOf([first.id, second.id], opposition, settings.conflicts))
  }
  const there = compared.filter(({ entry }, at) => at >= from || isSeen(entry))
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
