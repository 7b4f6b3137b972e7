/**
 * A page in the form for its requester (BQ-094 to BQ-099): checked once more against the visibility matrix, its results compared with each
 * other, and written in the form of the answer.
 */
import type { Instant } from '../../../base/clock.ts'
import type { EntryKey } from '../../../model/entry.ts'
import { toIso } from '../../../model/instant.ts'
import { cameThrough, isSeen, type ShownBelief, type ShowView, showCurrent } from '../access/show.ts'
import { detectorOf } from '../contradiction/heuristic.ts'
import type { BeliefsError } from '../errors.ts'
import { concentrationWarnings, type ExplanationWorld, explain } from '../explain/belief-explanation.ts'
import { twelveDecimals } from '../measures/confidence.ts'
import type {
  Belief,
  Conflict,
  Coverage,
  EffectiveWeights,
  QueryResult,
  RankedBelief,
  ScoreComponents,
} from '../model.ts'
import type { Evaluation } from '../query/evaluation.ts'
import type { Embedded } from '../query/understand.ts'
import {
  type Picked,
  type RemoteLeg,
  type ScoredBelief,
  type TrustFound,
  type TrustWorld,
  trustFound,
  unspread,
} from '../ranking/scored.ts'
import { derivationChain } from '../record/read.ts'
import type { CheckedWarning } from '../schema/filters.ts'
import type { CheckedQuery, CheckedScope } from '../schema/query.ts'
import { vectorsOf } from '../state.ts'
import type { TimeLimit } from '../time-limit.ts'
import { federationTarget } from '../trust/edge.ts'
import { conflictOf, findConflicts, MAX_COMPARED } from './diversity.ts'
import type { Front, Verdict } from './front.ts'

/** What all pages of an answer share: only the necessary parts of its evaluation, because pages may outlive it. */
export interface AnswerOrder {
  readonly source: AnswerSource
  /** The state that was scored, as of the time of the order. */
  readonly world: ExplanationWorld & Omit<TrustWorld, 'view'>
  /** Number of all matches. */
  readonly total: number
  /** Whether more beliefs are near enough to the text than the maximum number of candidates. */
  readonly isCut: boolean
  /** Verdict of the answer; null in list mode. */
  readonly verdict: Verdict | null
  /** Front of the answer; null: results are in the total order. */
  readonly front: Front | null
}

/** A page that was computed, but not shown yet. */
export interface Draft {
  readonly order: AnswerOrder
  readonly picked: readonly Picked[]
  /** Number of results before this page. */
  readonly passed: number
  readonly warnings: readonly CheckedWarning[]
  /** What explanations are based on, by entry; empty if none are requested. */
  readonly grounds: ReadonlyMap<EntryKey, Ground>
  readonly federations: readonly string[]
}

interface Ground {
  /** Rank of the result in the total order, from 1. */
  readonly rank: number
  readonly trust: TrustFound
}

/** `view`: the view of the page, which may be later than that of the order. */
export function draftOf(
  view: ShowView,
  order: AnswerOrder,
  page: Pick<Draft, 'picked' | 'passed' | 'warnings'>,
  isExplained: boolean,
): Draft {
  const { front, world } = order
  const { trust, requester } = world
  const before = page.passed + (front?.leftOut ?? 0)
  const explained = isExplained ? page.picked : []
  const grounds = explained.map(({ scored }, at): [EntryKey, Ground] => {
    const rank = front?.ranks.get(scored.entry) ?? before + at + 1
    return [scored.entry, { rank, trust: trustFound({ trust, requester, view }, scored) }]
  })
  return { order, ...page, grounds: new Map(grounds), federations: view.requester.federations }
}

/** What an answer reports about the other nodes that it queried. */
export interface NodesReport {
  readonly coverage: Coverage
  readonly errors: QueryResult['errors']
  /** Whether answers come from the cache and have expired. */
  readonly isStale: boolean
  /** Whether no node has further matches. */
  readonly isExact: boolean
  /** Warnings for nodes that have more results than were requested; added to the last page. */
  readonly cut: readonly CheckedWarning[]
}

interface Shown {
  readonly belief: ShownBelief
  readonly picked: Picked
  readonly more: Partial<RankedBelief>
}

/** A shown result with which later ones are compared. */
export type Compared = Pick<ShownBelief, 'entry' | 'belief'>

interface ShownPage {
  readonly results: readonly Shown[]
  readonly conflicts: readonly Conflict[]
  readonly compared: readonly Compared[]
  /** Nearest beliefs of the verdict. */
  readonly nearest: readonly Shown[]
}

/** How the results of a draft are shown, with the permissions of the moment of showing. */
export interface Showing {
  /** The view to which the columns and vectors of the draft's entries belong. */
  readonly view: ShowView
  /** Those of these entries that may still be seen, in the order of `keys`. */
  current(keys: readonly EntryKey[]): readonly ShownBelief[]
  isSeen(entry: EntryKey): boolean
  /** Fields that are shown in addition to those of the belief. */
  more(belief: ShownBelief): Partial<RankedBelief>
}

/** The sources of all pages of one answer: this node's own store, and the results of other nodes. */
export interface AnswerSource {
  readonly embedded: Embedded
  readonly asOf: Instant
  /** Results of other nodes; null: no other node was asked. */
  readonly nodes: (NodesReport & { readonly leg: RemoteLeg }) | null
}

/** `home`: view of this node's own store in its present state. */
export function showingOf(home: ShowView, { nodes }: AnswerSource, options: CheckedQuery['options']): Showing {
  const view = nodes === null ? home : { ...home, remotes: nodes.leg.remotes }
  return {
    view,
    current: keys => showCurrent(view, keys, options.scope),
    isSeen: entry => isSeen(view, entry, options.scope),
    more: belief => ({
      ...cameThrough(view, belief.entry, belief.source),
      ...(options.includeDerivation ? chainInTime(view, belief, options.maxDerivationDepth) : {}),
    }),
  }
}

/** The visible part of a draft at this moment; `before`: results of the same answer that were read earlier. */
export function showPage(showing: Showing, draft: Draft, before: readonly Compared[] = []): ShownPage {
  const results = shownOf(showing, draft.picked)
  const found = results.map(({ belief }) => belief)
  const compared = [...before, ...found.slice(0, MAX_COMPARED - before.length)]
  const conflicts = conflictsIn(showing, draft, { compared, from: before.length, found })
  const closest = draft.order.verdict?.nearest ?? []
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
    // An incomplete chain would look like a complete one, so it is left out.
    if (hasTime()) throw thrown
    return {}
  }
}

interface Comparing {
  /** Results from the top of the answer. */
  readonly compared: readonly Compared[]
  /** Results before this position were shown in earlier pieces, and may have been deleted since. */
  readonly from: number
  readonly found: readonly ShownBelief[]
}

/** Conflicts between results shown now and results that may still be seen: a conflict names both beliefs and what they say. */
function conflictsIn(
  { view, isSeen }: Showing,
  { order: { front, world } }: Draft,
  { compared, from, found }: Comparing,
): readonly Conflict[] {
  const { host, settings } = world.state
  if (settings.conflicts !== 'both_shown') {
    const shown = new Set(found.map(({ entry }) => entry))
    return (front?.conflicts ?? [])
      .filter(one => shown.has(one.with) && one.of.every(({ entry }) => isSeen(entry)))
      .map(({ of: [first, second], contradiction }) =>
        conflictOf([first.id, second.id], contradiction, settings.conflicts),
      )
  }
  const there = compared.filter(({ entry }, at) => at >= from || isSeen(entry))
  if (there.length < 2) return []
  const beliefs = there.map(({ belief }) => belief)
  const news = there.length - (compared.length - from)
  const goesOn = () => view.time?.allows() !== false
  return findConflicts(detectorOf(host), beliefs, vectorsOf(view, there), { from: news, goesOn }).map(
    ({ first, second, contradiction }) => {
      const ids = [beliefs[first], beliefs[second]].map(one => (one as Belief).id) as [string, string]
      return conflictOf(ids, contradiction, settings.conflicts)
    },
  )
}

/** The answer to a query, and the targets of the trust edges that it uses (BQ-072). */
export interface Answer {
  readonly result: QueryResult
  readonly used: readonly string[]
  /** Results shown so far with which the following ones are compared. */
  readonly compared: readonly Compared[]
}

/** Writes a page. Parts for which there was no time are left out, and the answer says that it is incomplete. */
export function emitPage(
  query: CheckedQuery,
  requester: string,
  draft: Draft,
  { results, conflicts, compared, nearest }: ShownPage,
  time: TimeLimit,
): Answer {
  const { options } = query
  const { order, passed, picked } = draft
  const { world, verdict, source } = order
  const { nodes } = source
  const total = order.total - (picked.length - results.length)
  const beliefs = results.map((shown, at): RankedBelief => {
    const { belief, picked } = shown
    const ground = draft.grounds.get(picked.scored.entry)
    return {
      ...ranked(shown, passed + at + 1),
      ...(ground === undefined || !time.allows()
        ? {}
        : { explanation: explain(world, { ...picked, ...ground, belief: belief.belief, total }) }),
    }
  })
  const concentration = options.includeExplanation ? concentrationWarnings(beliefs, requester) : []
  const partial =
    time.isCut || (nodes?.errors ?? []).length > 0 || draft.warnings.some(({ code }) => code === 'meaning_late')
  const result: QueryResult = {
    beliefs,
    total_count: total,
    count_exact: !order.isCut && nodes?.isExact !== false,
    ...(nodes?.isStale && { stale: true }),
    query_time_ms: 0,
    partial,
    coverage: nodes?.coverage ?? coverageOf(options.scope, draft.federations),
    errors: [...(time.isCut ? [asPart(time.error())] : []), ...(nodes?.errors ?? [])],
    conflicts,
    effective_weights: effectiveWeights(query),
    as_of: toIso(source.asOf),
    ...(verdict !== null && {
      verdict: verdict.verdict,
      verdict_reason: verdict.reason,
      verdict_by: verdict.by,
      nearest: nearest.map((shown, at) => ranked(shown, at + 1)),
    }),
    warnings: [...draft.warnings, ...concentration],
  }
  return { result, used: [...new Set(results.map(({ belief }) => usedOf(belief)))], compared }
}

function ranked({ belief: { belief, source }, picked, more }: Shown, rank: number): RankedBelief {
  const { scored, penalty } = picked
  return { belief, score: { final: scored.final, components: componentsOf(scored, penalty) }, rank, source, ...more }
}

/** An error in the form for an incomplete answer. */
export function asPart({ code, message, details, retryable }: BeliefsError): QueryResult['errors'][number] {
  return { code, message, details, retryable }
}

/**
 * Target of the trust edge that a belief uses. For beliefs that came through a federation it is the federation: refreshing an edge to the
 * holder would reveal the holder (BQ-072).
 */
function usedOf({ version, source, trustedAs }: ShownBelief): string {
  if (trustedAs !== undefined) return trustedAs.target
  return source.kind === 'federated' && source.id !== null ? federationTarget(source.id) : version.holder
}

/** Components of a score. `penalty`: 0, or negative if diversity counted against the belief. */
export function componentsOf({ parts }: ScoredBelief, penalty: number): ScoreComponents {
  return {
    semantic_similarity: parts.semantic,
    confidence_score: parts.confidence,
    trust_score: parts.trust,
    recency_score: parts.recency,
    diversity_penalty: penalty,
  }
}

/** Coverage of a query that asks this node alone (BQ-134): every source in its scope has responded. */
export function coverageOf({ local, federated, network }: CheckedScope, federations: readonly string[]): Coverage {
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

/** The weights and trust parameters that an answer was computed with, in the form of the report. */
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

/** Number of beliefs that are read and shown between two checks of the time limit. */
const SHOWN_AT_ONCE = 50

/** Ranked beliefs in the given order, ranks from 1. */
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
    return belief === undefined ? [] : [listedBelief(evaluation, each, belief, at + 1)]
  })
}

function listedBelief(
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
    ...cameThrough(view, scored.entry, source),
  }
}
