/** A page that was worked out, and not yet shown. */
import type { Instant } from '../../../base/clock.ts'
import type { EntryKey } from '../../../model/entry.ts'
import type { ShowView } from '../access/show.ts'
import type { ExplanationWorld } from '../explain/explained.ts'
import type { Coverage, QueryResult } from '../model.ts'
import type { Picked } from '../ranking/scored.ts'
import { type TrustFound, type TrustWorld, trustFound } from '../ranking/trust-found.ts'
import type { CheckedWarning } from '../schema/context.ts'
import type { Front, SettledConflict } from './front.ts'
import type { Verdict } from './verdict.ts'

export interface Draft {
  readonly picked: readonly Picked[]
  /** Results that stand before it. */
  readonly passed: number
  /** All that match. */
  readonly total: number
  /** Whether more are near enough to the text than may be candidates. */
  readonly isCut: boolean
  /** Null in list mode. */
  readonly verdict: Verdict | null
  readonly asOf: Instant
  readonly world: ExplanationWorld
  /** What explanations rest on, by entry; empty where none are wanted. */
  readonly grounds: ReadonlyMap<EntryKey, Ground>
  readonly warnings: readonly CheckedWarning[]
  readonly federations: readonly string[]
  /** Of the whole answer; empty where conflicts are not settled. */
  readonly settled: readonly SettledConflict[]
  /** Where other nodes were asked. */
  readonly nodes?: NodesTold | undefined
}

/** What an answer tells of the nodes that were asked for it. */
export interface NodesTold {
  readonly coverage: Coverage
  readonly errors: QueryResult['errors']
  /** Whether they were asked longer ago than they should have been. */
  readonly isStale: boolean
  /** Whether no more can match than what was counted. */
  readonly isExact: boolean
}

interface DraftParts extends Pick<Draft, 'picked' | 'passed' | 'total' | 'isCut' | 'verdict' | 'warnings'> {
  /** What was scored, as of the moment of the order. */
  readonly scoredBy: ExplanationWorld & Omit<TrustWorld, 'view'>
  readonly front: Pick<Front, 'leftOut' | 'ranks' | 'conflicts'> | null
  readonly nodes?: NodesTold
  readonly isExplained: boolean
}

/** `view`: that of the page, which may be later than the order's. */
export function draftOf(
  view: ShowView,
  { picked, passed, total, isCut, verdict, warnings, scoredBy, front, isExplained, nodes }: DraftParts,
): Draft {
  const { question, understood, asOf, state, trust, requester } = scoredBy
  const places = { passed: passed + (front?.leftOut ?? 0), ranks: front?.ranks ?? null }
  return {
    ...{ picked, passed, total, isCut, verdict, asOf, warnings },
    // No more of it than explanations need: a draft may outlive its evaluation.
    world: { question, understood, asOf, state },
    grounds: isExplained ? groundsOf({ trust, requester, view }, picked, places) : new Map(),
    federations: view.requester.federations,
    settled: front?.conflicts ?? [],
    nodes,
  }
}

export interface Ground {
  /** From 1, in the total order. */
  readonly rank: number
  readonly trust: TrustFound
}

/**
 * By entry. `ranks`: places in the total order of those that were chosen from its front; `passed`: what stands before the
 * page of that order.
 */
export function groundsOf(
  world: TrustWorld,
  picked: readonly Picked[],
  { passed, ranks }: { readonly passed: number; readonly ranks: ReadonlyMap<EntryKey, number> | null },
): ReadonlyMap<EntryKey, Ground> {
  return new Map(
    picked.map(({ scored }, at) => {
      const rank = ranks?.get(scored.entry) ?? passed + at + 1
      return [scored.entry, { rank, trust: trustFound(world, scored) }]
    }),
  )
}
