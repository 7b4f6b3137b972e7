/** What a standing question remembers of its last answer: enough to tell what news cannot change it. Some kilobytes. */
import type { Instant } from '../../../base/clock.ts'
import type { EntryKey } from '../../../model/entry.ts'
import type { Requester } from '../access/requester.ts'
import type { ShowView } from '../access/show.ts'
import { LOCAL } from '../access/source-numbers.ts'
import type { BeliefColumns } from '../columns/columns.ts'
import type { Matches } from '../matching/matches.ts'
import { DAY_MS } from '../measures/decay.ts'
import type { Evaluation } from '../query/evaluation.ts'
import type { Picked } from '../ranking/scored.ts'
import { trustFound } from '../ranking/trust-found.ts'

export interface Remembered {
  readonly asOf: Instant
  /** In the feed: later changes are news. */
  readonly position: number
  readonly sight: number
  readonly trust: number
  /** Of all that was picked. */
  readonly entries: ReadonlySet<EntryKey>
  /** Matches without which another may come up that they kept out, although they are not picked; null: too many to name. */
  readonly copies: ReadonlySet<EntryKey> | null
  /** Whether as many were picked as were wanted: then a newcomer must beat the last. */
  readonly isFull: boolean
  /** The least that was picked, and the least that it can be later, but for what time takes evenly. */
  readonly floor: number
  readonly laterFloor: number
  /** A day: the fastest that any of them ages. */
  readonly ageing: number
  /** Until then time does no more to trust than let it fade. */
  readonly trustHoldsUntil: Instant
}

/** How much of one's own trust fades a day, at most (BQ-070). */
const FADING = 0.001

/** What scores of the picked can be made of. */
export function scoresOf(
  evaluation: Evaluation,
  picked: readonly Picked[],
): Pick<Remembered, 'floor' | 'laterFloor' | 'ageing' | 'trustHoldsUntil'> {
  const { scorer, state, trust } = evaluation
  const { weights } = evaluation.question
  const { newAgentCap, sybilCap } = state.settings
  let floor = Number.POSITIVE_INFINITY
  let laterFloor = Number.POSITIVE_INFINITY
  let ageing = 0
  for (const { scored } of picked) {
    const { kind, value } = trustFound(evaluation, scored).trust
    // A route that fades below what counts as a source may bring what rests on it under the cap.
    const atRisk = newAgentCap ? value : kind === 'transitive' ? Math.max(0, value - sybilCap) : 0
    floor = Math.min(floor, scored.final)
    laterFloor = Math.min(laterFloor, scored.final - weights.trust * atRisk)
    ageing = Math.max(ageing, scorer.rate(scored.row))
  }
  return { floor, laterFloor, ageing, trustHoldsUntil: trust.holdsUntil }
}

const MOST_COPIES = 2000

/**
 * Of copies one stands for the others: the first, or the requester's own, however low it stands. What was left out may
 * have kept out others with its id.
 */
export function copiesOf({ matches, view }: Evaluation): ReadonlySet<EntryKey> | null {
  const known = COPIES.get(matches)
  if (known !== undefined) return known
  const found = copiesAmong(matches, view)
  COPIES.set(matches, found)
  return found
}

/** Matches are made anew when anything in sight has changed. */
const COPIES = new WeakMap<Matches, ReadonlySet<EntryKey> | null>()

function copiesAmong(matches: Matches, { columns, requester }: ShowView): ReadonlySet<EntryKey> | null {
  const found = new Set(matches.frozen().less)
  const { entries } = columns.arrays
  const { rows, sources } = matches
  for (let place = 0; place < rows.length; place++) {
    const row = rows[place] as number
    if (sources[place] === LOCAL && hasTwin(columns, requester, row)) found.add(entries[row] as EntryKey)
  }
  return found.size > MOST_COPIES ? null : found
}

/** Whether another visible belief has the row's id or its content. */
export function hasTwin(columns: BeliefColumns, requester: Requester, row: number): boolean {
  const { ids, partitions } = columns.arrays
  const isSeen = (other: number) => other !== row && requester.sees(partitions[other] as number)
  for (let other = columns.firstOfId(ids[row] as number); other !== -1; other = columns.nextOfId(other)) {
    if (isSeen(other)) return true
  }
  for (let other = columns.firstCopy(row); other !== -1; other = columns.nextCopy(other)) {
    if (isSeen(other)) return true
  }
  return false
}

/** Less than this no place of the last answer can be worth by now. */
export function floorAt(
  { asOf, floor, laterFloor, ageing, trustHoldsUntil }: Remembered,
  weights: { readonly trust: number; readonly recency: number },
  now: Instant,
): number {
  if (now <= asOf) return floor
  const days = (now - asOf) / DAY_MS
  const trust = now < trustHoldsUntil ? 1 - Math.exp(-FADING * days) : 1
  return laterFloor - weights.trust * trust - weights.recency * (1 - Math.exp(-ageing * days))
}
