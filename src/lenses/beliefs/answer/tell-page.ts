/** A page as its requester is told it (BQ-094 to BQ-099). */
import { toIso } from '../../../model/instant.ts'
import type { ShownBelief } from '../access/show.ts'
import type { BeliefsError } from '../errors.ts'
import { concentrationWarnings } from '../explain/concentration.ts'
import { explain } from '../explain/explanation.ts'
import { twelveDecimals } from '../measures/rounding.ts'
import type { Coverage, EffectiveWeights, QueryResult, RankedBelief, ScoreComponents } from '../model.ts'
import type { ScoredBelief } from '../ranking/scored.ts'
import type { CheckedQuery, CheckedScope } from '../schema/query.ts'
import type { TimeLimit } from '../time-limit.ts'
import { federationTarget } from '../trust/trust-in.ts'
import type { Draft } from './draft.ts'
import type { Compared, Shown, ShownPage } from './show-page.ts'

/** What is told of a query, and whose edges that uses (BQ-072). */
export interface Answer {
  readonly result: QueryResult
  readonly used: readonly string[]
  /** What was read up to here, of that which results that follow are compared with. */
  readonly compared: readonly Compared[]
}

/** What there was no time for is left out, and the answer says that it is a part. */
export function tellPage(
  query: CheckedQuery,
  requester: string,
  draft: Draft,
  { results, conflicts, compared, nearest }: ShownPage,
  time: TimeLimit,
): Answer {
  const { options } = query
  const { world, passed, nodes } = draft
  const total = draft.total - (draft.picked.length - results.length)
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
    count_exact: nodes?.isExact ?? !draft.isCut,
    ...(nodes?.isStale && { stale: true }),
    query_time_ms: 0,
    partial,
    coverage: nodes?.coverage ?? coverageOf(options.scope, draft.federations),
    errors: [...(time.isCut ? [asPart(time.error())] : []), ...(nodes?.errors ?? [])],
    conflicts,
    effective_weights: effectiveWeights(query),
    as_of: toIso(draft.asOf),
    ...(draft.verdict !== null && {
      verdict: draft.verdict.verdict,
      verdict_reason: draft.verdict.reason,
      verdict_by: draft.verdict.by,
      nearest: nearest.map((shown, at) => ranked(shown, at + 1)),
    }),
    warnings: [...draft.warnings, ...concentration].map(warning => ({ ...warning })),
  }
  return { result, used: [...new Set(results.map(({ belief }) => usedOf(belief)))], compared }
}

function ranked({ belief: { belief, source }, picked, more }: Shown, rank: number): RankedBelief {
  const { scored, penalty } = picked
  return { belief, score: { final: scored.final, components: componentsOf(scored, penalty) }, rank, source, ...more }
}

/** An error in an answer that is a part. */
export function asPart({ code, message, details, retryable }: BeliefsError): QueryResult['errors'][number] {
  return { code, message, details, retryable }
}

/** Of what came through a federation that: a fresher edge to the holder would name the holder (BQ-072). */
function usedOf({ version, source, trustedAs }: ShownBelief): string {
  if (trustedAs !== undefined) return trustedAs.target
  return source.kind === 'federated' && source.id !== null ? federationTarget(source.id) : version.holder
}

/** `penalty`: 0, or below it where diversity counted against the belief. */
export function componentsOf({ parts }: ScoredBelief, penalty: number): ScoreComponents {
  return {
    semantic_similarity: parts.semantic,
    confidence_score: parts.confidence,
    trust_score: parts.trust,
    recency_score: parts.recency,
    diversity_penalty: penalty,
  }
}

/** BQ-134, on one node: what is asked answers. */
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

/** What an answer was computed with, as it is told. */
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
