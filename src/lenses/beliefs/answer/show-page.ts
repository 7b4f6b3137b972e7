/**
 * Turns one page of results into the answer that its requester receives (BQ-094 to BQ-099): checks once more that the requester may see
 * each belief, finds conflicts between the results, and writes the fields of the answer.
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

/**
 * Data shared by all pages of one answer. It contains only the necessary parts of the query's evaluation, because pages may outlive the
 * evaluation.
 */
export interface AnswerOrder {
  readonly source: AnswerSource
  /**
   * The query, its time, its requester and the trust with which the results were scored, all as of the moment when their order was fixed.
   */
  readonly world: ExplanationWorld & Omit<TrustWorld, 'view'>
  /** Number of all beliefs that match the query, on all pages. */
  readonly total: number
  /**
   * Whether more beliefs were near enough to the query's text than the maximum number of candidates, so that the farthest were left out.
   */
  readonly isCut: boolean
  /** Verdict on the answer (answered, weak or nothing relevant); null if the query has no text. */
  readonly verdict: Verdict | null
  /**
   * The front: results at the beginning of the answer that were selected by diversity or conflict rules. Null: all results are simply in
   * order of score.
   */
  readonly front: Front | null
}

/** A page whose results were selected, but not yet checked for visibility and written as an answer. */
export interface Draft {
  readonly order: AnswerOrder
  readonly picked: readonly Picked[]
  /** Number of results of the answer that precede this page. */
  readonly passed: number
  readonly warnings: readonly CheckedWarning[]
  /**
   * For each result, by entry key: its rank and the trust that counts for it, from which the explanation of its rank is made. Empty if the
   * query asks for no explanations.
   */
  readonly grounds: ReadonlyMap<EntryKey, Ground>
  readonly federations: readonly string[]
}

interface Ground {
  /** Rank of the result among all matches ordered by score, from 1. */
  readonly rank: number
  readonly trust: TrustFound
}

/**
 * Makes the draft of a page from its selected results. `view`: the view of the store for this page, which may be later than the view in
 * which the results were ordered.
 */
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

/** The part of an answer that says which other nodes were queried and what they returned. */
export interface NodesReport {
  readonly coverage: Coverage
  readonly errors: QueryResult['errors']
  /** Whether the other nodes' answers were taken from the cache although their lifetime is over. */
  readonly isStale: boolean
  /** Whether every queried node returned all of its matches, so that counts are exact. */
  readonly isExact: boolean
  /**
   * Warnings that name the nodes that had more matches than this node had requested from them, so that some are missing. Shown on the last
   * page of the answer.
   */
  readonly cut: readonly CheckedWarning[]
}

interface Shown {
  readonly belief: ShownBelief
  readonly picked: Picked
  readonly more: Partial<RankedBelief>
}

/** A result that was already shown, with which later results of the answer are compared to find conflicts. */
export type Compared = Pick<ShownBelief, 'entry' | 'belief'>

interface ShownPage {
  readonly results: readonly Shown[]
  readonly conflicts: readonly Conflict[]
  readonly compared: readonly Compared[]
  /** The beliefs nearest to the query's text, shown when the verdict is that nothing relevant was found. */
  readonly nearest: readonly Shown[]
}

/** How the results of a draft page are shown, with the permissions that the requester has at the moment of showing. */
export interface Showing {
  /** The view of the store to which the row numbers and vectors of the draft's results belong. */
  readonly view: ShowView
  /** The beliefs with these entry keys that the requester may still see, in the order of `keys`. */
  current(keys: readonly EntryKey[]): readonly ShownBelief[]
  isSeen(entry: EntryKey): boolean
  /** Fields of a result that are shown in addition to the belief's own fields. */
  more(belief: ShownBelief): Partial<RankedBelief>
}

/**
 * What all pages of one answer are computed from: the vectors of the query's text, the time of the query, and the results of other nodes.
 */
export interface AnswerSource {
  readonly embedded: Embedded
  readonly asOf: Instant
  /** Results of other nodes and the report about these nodes; null: no other node was queried. */
  readonly nodes: (NodesReport & { readonly leg: RemoteLeg }) | null
}

/**
 * How the results of an answer are shown at present. `home`: view of this node's own store; results of other nodes, if any, are added to
 * it.
 */
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

/** The part of a draft page that the requester may see at this moment. `before`: results that earlier pages of this answer have shown. */
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
    // If the time limit ended the reading of a belief's derivation, the derivation is left out: a reader could not tell an incomplete one
    // from a complete one.
    if (hasTime()) throw thrown
    return {}
  }
}

interface Comparing {
  /** Results from the beginning of the answer up to this page, to be searched for conflicts. */
  readonly compared: readonly Compared[]
  /**
   * Index in the list `compared` at which this page's results begin. Results at lower indexes were shown on earlier pages, and may have
   * been deleted since.
   */
  readonly from: number
  readonly found: readonly ShownBelief[]
}

/**
 * Conflicts between the results of this page, and with earlier results that the requester may still see: a conflict names both beliefs and
 * their contents.
 */
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

/** The answer to a query, and the agents or federations to which the requester's trust edges were used to compute it (BQ-072). */
export interface Answer {
  readonly result: QueryResult
  readonly used: readonly string[]
  /** All results shown so far, with which the results of later pages are compared to find conflicts. */
  readonly compared: readonly Compared[]
}

/** Writes a page as an answer. Optional parts for which no time was left are omitted, and the answer is marked as incomplete. */
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

/** Converts an error to an item of the answer's `errors` list, for an answer that is only partly available. */
export function asPart({ code, message, details, retryable }: BeliefsError): QueryResult['errors'][number] {
  return { code, message, details, retryable }
}

/**
 * Target of the trust edge whose use is recorded when a belief is shown to the requester: the belief's holder, or, for a belief that came
 * through a federation, the federation, because recording the use of an edge to the holder would reveal the holder (BQ-072).
 */
function usedOf({ version, source, trustedAs }: ShownBelief): string {
  if (trustedAs !== undefined) return trustedAs.target
  return source.kind === 'federated' && source.id !== null ? federationTarget(source.id) : version.holder
}

/**
 * The four components of a belief's score, as fields of the answer. `penalty`: 0, or a negative number by which similarity to earlier
 * results lowered the score.
 */
export function componentsOf({ parts }: ScoredBelief, penalty: number): ScoreComponents {
  return {
    semantic_similarity: parts.semantic,
    confidence_score: parts.confidence,
    trust_score: parts.trust,
    recency_score: parts.recency,
    diversity_penalty: penalty,
  }
}

/** Coverage report of a query that asks this node alone (BQ-134): every source in the query's scope counts as having responded. */
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

/** The ranking weights and trust parameters with which an answer was computed, as fields of the answer. */
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

/** Number of beliefs that are read from the store and converted to results between two checks of the time limit. */
const SHOWN_AT_ONCE = 50

/** Converts scored beliefs to results in the given order, with ranks counted from 1. */
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
