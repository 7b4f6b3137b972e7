/**
 * The words of the lens as they go over the wire (snake_case): a belief, a query and its answer. Times are ISO 8601 in
 * UTC with milliseconds; nothing is ever undefined, what is not known is null.
 */
import type { JsonObject } from '../../base/canonical.ts'

/** Order of the vector (BQ-012). */
export const DIMENSIONS = [
  'source_reliability',
  'method_quality',
  'internal_consistency',
  'temporal_freshness',
  'corroboration',
  'domain_applicability',
] as const
export type Dimension = (typeof DIMENSIONS)[number]
/** Each 0 to 1; null: not known, which is not 0. */
export type Confidence = Readonly<Record<Dimension, number | null>>
/** By dimension; 0 or more, together 1. */
export type DimensionWeights = Readonly<Record<Dimension, number>>

export const VISIBILITIES = ['private', 'federated', 'public'] as const
export type Visibility = (typeof VISIBILITIES)[number]

export const DERIVATION_TYPES = [
  'observation',
  'inference',
  'aggregation',
  'hearsay',
  'assumption',
  'correction',
  'synthesis',
] as const
export type DerivationType = (typeof DERIVATION_TYPES)[number]

export const CONTRIBUTIONS = ['primary', 'supporting', 'contradicting', 'context'] as const
export type Contribution = (typeof CONTRIBUTIONS)[number]

/** One of the two references is there. */
export interface DerivationSource {
  readonly belief_id: string | null
  readonly external_ref: string | null
  readonly contribution_type: Contribution
  /** 0 to 1. */
  readonly weight: number
}

export interface Derivation {
  readonly type: DerivationType
  readonly sources: readonly DerivationSource[]
  readonly method_description: string | null
  readonly confidence_rationale: string | null
  /** What was written instead of a type that we know, or null. */
  readonly note: string | null
}

/** One version, as a requester is shown it: ids that it may not see are left out, a holder may be a pseudonym. */
export interface Belief {
  readonly id: string
  /** From 1; one more with every version. */
  readonly version: number
  readonly content: string
  /** Hexadecimal SHA-256 of the content. */
  readonly content_hash: string
  readonly confidence: Confidence
  readonly valid_from: string
  /** Null: without end. */
  readonly valid_until: string | null
  readonly derivation: Derivation
  readonly domains: readonly string[]
  readonly visibility: Visibility
  /** Those through which the requester may see it; all of them for its holder. */
  readonly federation_ids: readonly string[]
  /** Null: its federation shows no holders (strict). */
  readonly holder_id: string | null
  /** Of this version. */
  readonly created_at: string
  readonly supersedes: string | null
  readonly superseded_by: string | null
  /** Key of the model of its vector; null: it has none yet. */
  readonly embedding_model: string | null
  readonly deleted_at: string | null
}

export const SCOPE_KINDS = ['local', 'federated', 'network'] as const
export type ScopeKind = (typeof SCOPE_KINDS)[number]

/** How results of several nodes become one list (BQ-127 to BQ-129). */
export const MERGE_STRATEGIES = ['rerank', 'interleave', 'waterfall'] as const
export type MergeStrategy = (typeof MERGE_STRATEGIES)[number]

export interface BeliefSource {
  readonly kind: ScopeKind
  /** Of the federation; of another node that public beliefs came from; else null. */
  readonly id: string | null
}

export interface ScoreComponents {
  /** (cosine + 1) / 2; null in list mode, which ranks without it. */
  readonly semantic_similarity: number | null
  readonly confidence_score: number
  readonly trust_score: number
  readonly recency_score: number
  /** 0, or below it where diversity counted against it. */
  readonly diversity_penalty: number
}

export interface RankedBelief {
  readonly belief: Belief
  readonly score: { readonly final: number; readonly components: ScoreComponents }
  /** From 1, over the whole order. */
  readonly rank: number
  readonly source: BeliefSource
  /** Present for beliefs that are reached through a federation. */
  /** Of another node: which one it came from. */
  readonly node?: string
  readonly federation_id?: string
  readonly member_count?: number
  readonly explanation?: JsonObject
  readonly derivation_chain?: DerivationChain
}

export interface ChainLink {
  readonly belief_id: string
  /** 0: the belief itself. */
  readonly depth: number
  /** What it is to the belief that it was first reached from; null for the belief itself. */
  readonly contribution_type: Contribution | null
  /** At most 200 characters. */
  readonly content_preview: string
  readonly derivation_type: DerivationType
  readonly overall: number | null
  readonly created_at: string
}

export interface DerivationChain {
  readonly belief_id: string
  /** Of the part that is shown. */
  readonly depth: number
  readonly chain: readonly ChainLink[]
}

export interface RankingWeights {
  readonly semantic: number
  readonly confidence: number
  readonly trust: number
  readonly recency: number
}

/** What the answer was computed with (BQ-061, BQ-064, BQ-017). */
export interface EffectiveWeights extends RankingWeights {
  readonly confidence_weights: DimensionWeights
  readonly max_trust_hops: number
  readonly transitive_damping: number
}

export interface Coverage {
  readonly local: boolean
  readonly federations_queried: readonly string[]
  readonly federations_responded: readonly string[]
  readonly network_queried: boolean
  readonly network_responded: boolean
  /** The seed's names: those that responded. */
  readonly federated: readonly string[]
  readonly network: boolean
  /** Where others were asked: each, and what it answered. */
  readonly nodes?: readonly NodeCoverage[]
}

export interface NodeCoverage {
  readonly node: string
  readonly kind: 'federated' | 'network'
  /** Null: public beliefs. */
  readonly federation: string | null
  readonly responded: boolean
  /** Verified beliefs that it gave, before filters, copies and paging. */
  readonly results: number
  /** It has more that match. */
  readonly more: boolean
  /** Before `as_of` where the answer is one that was kept; null: it did not answer. */
  readonly answered_at: string | null
  /** From when it was asked to when it had answered, or was given up. */
  readonly elapsed_ms: number
}

export interface Conflict {
  readonly belief_ids: readonly [string, string]
  readonly contradiction_type: 'direct' | 'implied' | 'temporal' | 'tension'
  readonly resolution: 'both_shown' | 'one_penalized' | 'one_excluded'
  readonly resolution_reason: string
}

export interface QueryResult {
  readonly beliefs: readonly RankedBelief[]
  /** Accessible matches, copies counted once; before diversity and paging. */
  readonly total_count: number
  readonly count_exact: boolean
  /** What other nodes say in it is older than it should be, and is asked for anew. */
  readonly stale?: true
  readonly next_cursor?: string
  readonly query_time_ms: number
  readonly partial: boolean
  readonly coverage: Coverage
  readonly errors: readonly JsonObject[]
  readonly conflicts: readonly Conflict[]
  readonly effective_weights: EffectiveWeights
  readonly as_of: string
  readonly warnings: readonly { readonly code: string; readonly message: string }[]
}
