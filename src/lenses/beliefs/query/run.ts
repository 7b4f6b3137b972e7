/**
 * A query from its checked form to its answer: embed, fix the moment, match, rank, spread, check again, show
 * (BQ-024 to BQ-029, BQ-094 to BQ-099).
 */
import type { Instant } from '../../../base/clock.ts'
import type { EntryKey } from '../../../model/entry.ts'
import { toIso } from '../../../model/instant.ts'
import { memberCount } from '../access/member-count.ts'
import { type ShownBelief, type ShowView, showCurrent } from '../access/show.ts'
import type { CheckedQuery, CheckedScope, CheckedWarning } from '../check/checked.ts'
import { countersOf } from '../counters.ts'
import { type Fault, faulty } from '../errors.ts'
import { concentrationWarnings } from '../explain/concentration.ts'
import { explain } from '../explain/explanation.ts'
import { type Ground, groundsOf } from '../explain/grounds.ts'
import { twelveDecimals } from '../measures/confidence.ts'
import type { Coverage, EffectiveWeights, QueryResult, RankedBelief } from '../model.ts'
import { findConflicts, MOST_COMPARED, type Settled, settleConflicts } from '../questions/conflicts.ts'
import { detectorOf } from '../questions/opposition/installed.ts'
import { derivationChain } from '../record/chain.ts'
import type { BeliefsState } from '../state.ts'
import { federationTarget } from '../trust/agent-arrays.ts'
import { noteUse } from '../trust/operations.ts'
import { componentsOf } from './components.ts'
import { Evaluation } from './evaluation.ts'
import { pickPage, vectorsOf } from './page.ts'
import type { Picked } from './spread.ts'
import { type Embedded, embedText, understand } from './understand.ts'

export interface Call {
  /** Id of the agent that asks. */
  readonly requester: string
  readonly signal: AbortSignal
}

/** How often a page is made anew when something of it went out of sight while it was made. */
const ATTEMPTS = 3

export async function runQuery(state: BeliefsState, query: CheckedQuery, call: Call): Promise<QueryResult> {
  if (query.options.cursor !== null) throw faulty([NOT_OUR_CURSOR])
  const embedded = await embedText(state, query.semantic, call.signal)
  const started = performance.now()
  const asOf = state.host.clock.now()
  const { result, used } = answer(state, query, { embedded, asOf, requester: call.requester })
  if (!query.options.dryRun) noteUse({ store: state.host.store, now: asOf }, state.trust, call.requester, used)
  const elapsedMs = Math.round((performance.now() - started) * 1000) / 1000
  countersOf(state.host).countQuery(elapsedMs, result.beliefs.length)
  return { ...result, query_time_ms: elapsedMs }
}

const NOT_OUR_CURSOR: Fault = {
  code: 'INVALID_QUERY',
  path: 'options.cursor',
  constraint: 'a cursor that came with an answer to this query',
  reason: 'cursor_invalid',
  value: null,
}

interface Moment {
  readonly embedded: Embedded
  readonly asOf: Instant
  readonly requester: string
}

/** What is told of a query, and whose edges that uses (BQ-072). */
interface Answer {
  readonly result: QueryResult
  readonly used: readonly string[]
}

function answer(state: BeliefsState, query: CheckedQuery, moment: Moment): Answer {
  for (let attempt = 1; ; attempt++) {
    const draft = state.look(moment.requester, view => draftOf(state, view, query, moment))
    // The second point of the matrix: as memberships and beliefs stand now.
    const shown = state.look(moment.requester, view => show(view, query, draft))
    if (shown.length === draft.picked.length || attempt === ATTEMPTS) return told(query, moment, draft, shown)
  }
}

interface Draft {
  readonly evaluation: Evaluation
  readonly picked: readonly Picked[]
  /** What explanations rest on, by entry; empty where none are wanted. */
  readonly grounds: ReadonlyMap<EntryKey, Ground>
  readonly warnings: readonly CheckedWarning[]
  readonly federations: readonly string[]
}

function draftOf(state: BeliefsState, view: ShowView, query: CheckedQuery, { embedded, asOf }: Moment): Draft {
  const understood = understand(state, embedded, query.semantic, view.requester.sight)
  const evaluation = new Evaluation(state, view, { ...query, scope: query.options.scope }, understood, asOf)
  const picked = pickPage(evaluation, query.options)
  return {
    evaluation,
    picked,
    grounds: query.options.includeExplanation ? groundsOf(evaluation, picked, query.options) : new Map(),
    warnings: [...query.warnings, ...embedded.warnings, ...pending(evaluation)],
    federations: view.requester.federations,
  }
}

interface Shown {
  readonly belief: ShownBelief
  readonly picked: Picked
  readonly more: Partial<RankedBelief>
  /** Undefined: there is none, or none is needed. */
  readonly vector: Float32Array | undefined
}

function show(view: ShowView, { options }: CheckedQuery, { picked }: Draft): readonly Shown[] {
  const { columns, requester } = view
  const byEntry = new Map(picked.map(each => [each.scored.entry, each]))
  const found = showCurrent(view, [...byEntry.keys()], options.scope)
  // Of what is compared with others of the page.
  const vectors = found.length < 2 ? [] : vectorsOf(view, found.slice(0, MOST_COMPARED))
  return found.map((belief, at) => {
    const { source, entry } = belief
    const federation = source.kind === 'federated' ? source.id : null
    const row = columns.rowOf(entry)
    return {
      belief,
      picked: byEntry.get(entry) as Picked,
      vector: vectors[at],
      more: {
        ...(federation === null
          ? {}
          : { federation_id: federation, member_count: memberCount(columns, requester, row, federation) }),
        ...(options.includeDerivation
          ? { derivation_chain: derivationChain(view, belief.version, options.maxDerivationDepth) }
          : {}),
      },
    }
  })
}

function told(query: CheckedQuery, { asOf, requester }: Moment, draft: Draft, shown: readonly Shown[]): Answer {
  const { options } = query
  const total = draft.evaluation.matches.count - (draft.picked.length - shown.length)
  const { order, conflicts } = conflictsOf(draft.evaluation.state, shown)
  const page = order.map(place => shown[place] as Shown)
  const beliefs = page.map(({ belief, picked, more }, at): RankedBelief => {
    const { final } = picked.scored
    const ground = draft.grounds.get(picked.scored.entry)
    return {
      belief: belief.belief,
      score: {
        final,
        components: componentsOf(picked.scored, picked.penalty),
      },
      rank: options.offset + at + 1,
      source: belief.source,
      ...more,
      ...(ground === undefined
        ? {}
        : { explanation: explain(draft.evaluation, { ...picked, ...ground, belief: belief.belief, total }) }),
    }
  })
  const concentration = options.includeExplanation ? concentrationWarnings(beliefs, requester) : []
  const result: QueryResult = {
    beliefs,
    total_count: total,
    count_exact: true,
    query_time_ms: 0,
    partial: false,
    coverage: coverageOf(options.scope, draft.federations),
    errors: [],
    conflicts,
    effective_weights: effectiveWeights(query),
    as_of: toIso(asOf),
    warnings: [...draft.warnings, ...concentration].map(warning => ({ ...warning })),
  }
  return { result, used: [...new Set(shown.map(({ belief }) => usedOf(belief)))] }
}

/** Where a federation shows no holders, it is what was used: a fresher edge to the holder would name him (BQ-104). */
function usedOf({ belief, version, source }: ShownBelief): string {
  return belief.holder_id === null && source.id !== null ? federationTarget(source.id) : version.holder
}

function conflictsOf({ host, settings }: BeliefsState, shown: readonly Shown[]): Settled {
  const page = shown.map(({ belief }) => belief.belief)
  const vectors = shown.map(({ vector }) => vector)
  return settleConflicts(page, findConflicts(detectorOf(host), page, vectors), settings.conflicts)
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

function pending(evaluation: Evaluation): readonly CheckedWarning[] {
  const count = evaluation.withoutVector(evaluation.matches).length
  if (count === 0) return []
  const message = `${count} of the beliefs that match have no vector yet: they rank as if they had nothing to do with the text.`
  return [{ code: 'vectors_pending', message }]
}
