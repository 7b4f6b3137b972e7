/**
 * A page as its requester is told it: checked once more against the matrix, shown, and its results set beside each other
 * (BQ-094 to BQ-099).
 */
import type { Instant } from '../../../base/clock.ts'
import type { EntryKey } from '../../../model/entry.ts'
import { toIso } from '../../../model/instant.ts'
import { isSeen } from '../access/is-seen.ts'
import { memberCount } from '../access/member-count.ts'
import { type ShownBelief, type ShowView, showCurrent } from '../access/show.ts'
import type { CheckedQuery, CheckedScope, CheckedWarning } from '../check/checked.ts'
import type { BeliefsError } from '../errors.ts'
import { concentrationWarnings } from '../explain/concentration.ts'
import { explain } from '../explain/explanation.ts'
import type { Ground } from '../explain/grounds.ts'
import type { Explained } from '../explain/standing.ts'
import { twelveDecimals } from '../measures/confidence.ts'
import type { Belief, Conflict, Coverage, EffectiveWeights, QueryResult, RankedBelief } from '../model.ts'
import { conflictOf, findConflicts, MOST_COMPARED } from '../questions/conflicts.ts'
import { detectorOf } from '../questions/opposition/installed.ts'
import { derivationChain } from '../record/chain.ts'
import type { TimeLimit } from '../time-limit.ts'
import { federationTarget } from '../trust/agent-arrays.ts'
import { componentsOf } from './components.ts'
import type { SettledConflict } from './front.ts'
import { vectorsOf } from './page.ts'
import type { Picked } from './spread.ts'

/** A page that was worked out, and not yet shown. */
export interface Draft {
  readonly picked: readonly Picked[]
  /** Results that stand before it. */
  readonly passed: number
  /** All that match. */
  readonly total: number
  readonly asOf: Instant
  readonly explained: Explained
  /** What explanations rest on, by entry; empty where none are wanted. */
  readonly grounds: ReadonlyMap<EntryKey, Ground>
  readonly warnings: readonly CheckedWarning[]
  readonly federations: readonly string[]
  /** Of the whole answer; empty where conflicts are not settled. */
  readonly settled: readonly SettledConflict[]
}

/** What is told of a query, and whose edges that uses (BQ-072). */
export interface Answer {
  readonly result: QueryResult
  readonly used: readonly string[]
  /** What was read up to here, of that which results that follow are compared with. */
  readonly compared: readonly Compared[]
}

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
}

/** What of a draft may be seen now; `before`: what was read in the same answer before it. */
export function show(
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
  const { columns, requester } = view
  return found.map(belief => {
    const { source, entry } = belief
    const federation = source.kind === 'federated' ? source.id : null
    const row = columns.rowOf(entry)
    return {
      belief,
      picked: byEntry.get(entry) as Picked,
      more: {
        ...(federation === null
          ? {}
          : { federation_id: federation, member_count: memberCount(columns, requester, row, federation) }),
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

/** What there was no time for is left out, and the answer says that it is a part. */
export function told(
  query: CheckedQuery,
  requester: string,
  draft: Draft,
  { results, conflicts, compared }: ShownPage,
  time: TimeLimit,
): Answer {
  const { options } = query
  const { explained, passed } = draft
  const total = draft.total - (draft.picked.length - results.length)
  const beliefs = results.map(({ belief, picked, more }, at): RankedBelief => {
    const { final } = picked.scored
    const ground = draft.grounds.get(picked.scored.entry)
    return {
      belief: belief.belief,
      score: {
        final,
        components: componentsOf(picked.scored, picked.penalty),
      },
      rank: passed + at + 1,
      source: belief.source,
      ...more,
      ...(ground === undefined || !time.allows()
        ? {}
        : { explanation: explain(explained, { ...picked, ...ground, belief: belief.belief, total }) }),
    }
  })
  const concentration = options.includeExplanation ? concentrationWarnings(beliefs, requester) : []
  const partial = time.isCut || draft.warnings.some(({ code }) => code === 'meaning_late')
  const result: QueryResult = {
    beliefs,
    total_count: total,
    count_exact: true,
    query_time_ms: 0,
    partial,
    coverage: coverageOf(options.scope, draft.federations),
    errors: time.isCut ? [asPart(time.error())] : [],
    conflicts,
    effective_weights: effectiveWeights(query),
    as_of: toIso(draft.asOf),
    warnings: [...draft.warnings, ...concentration].map(warning => ({ ...warning })),
  }
  return { result, used: [...new Set(results.map(({ belief }) => usedOf(belief)))], compared }
}

/** An error in an answer that is a part. */
export function asPart({ code, message, details, retryable }: BeliefsError): QueryResult['errors'][number] {
  return { code, message, details, retryable }
}

/** Where a federation shows no holders, it is what was used: a fresher edge to the holder would name him (BQ-104). */
function usedOf({ belief, version, source }: ShownBelief): string {
  return belief.holder_id === null && source.id !== null ? federationTarget(source.id) : version.holder
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
  { settled, explained: { state } }: Draft,
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

/** BQ-134, on one node: what is asked answers. */
function coverageOf({ local, federated, network }: CheckedScope, federations: readonly string[]): Coverage {
  const asked = federated ? [...federations] : []
  return {
    local,
    federations_queried: asked,
    federations_responded: asked,
    network_queried: network,
    network_responded: network,
    federated: asked,
    network,
  }
}

export function effectiveWeights({ weights, context }: Pick<CheckedQuery, 'weights' | 'context'>): EffectiveWeights {
  const { semantic, confidence, trust, recency } = weights
  return {
    semantic: twelveDecimals(semantic),
    confidence: twelveDecimals(confidence),
    trust: twelveDecimals(trust),
    recency: twelveDecimals(recency),
    confidence_weights: context.confidenceWeights,
    max_trust_hops: context.maxTrustHops,
    transitive_damping: context.transitiveDamping,
  }
}
