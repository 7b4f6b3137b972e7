/** What programs give the lens, as it goes over the wire. Everything is checked as if it came from afar. */
import type { Confidence, DerivationType, Dimension, MergeStrategy, Visibility } from './model.ts'

export type FilterPreset = 'high_confidence' | 'recent' | 'verified' | 'from_trusted'

/** A belief must meet every member that is given. */
export interface BeliefFilter {
  readonly preset?: FilterPreset | readonly FilterPreset[]
  /** A number bounds the overall confidence. */
  readonly min_confidence?: number | Readonly<Partial<Record<Dimension | 'overall', number | null>>> | null
  readonly valid_at?: string | null
  readonly created_after?: string | null
  readonly created_before?: string | null
  readonly domains_include?: readonly string[]
  readonly domains_exclude?: readonly string[]
  readonly holder_ids?: readonly string[] | null
  readonly exclude_holders?: readonly string[]
  readonly min_holder_reputation?: number | null
  readonly derivation_types?: readonly DerivationType[] | null
  readonly max_derivation_depth?: number | null
  readonly visibility_levels?: readonly Visibility[] | null
}

export interface BeliefContext {
  readonly requester_id?: string
  readonly trust_graph?: string | null
  /** 0 to 1; default 0.5. */
  readonly trust_weight?: number
  readonly query_domains?: readonly string[]
  readonly domain_trust_weight?: number
  readonly max_trust_hops?: number
  readonly transitive_damping?: number
  readonly confidence_weights?: Readonly<Partial<Record<Dimension, number>>>
  readonly ranking_weights?: Readonly<Partial<Record<'semantic' | 'confidence' | 'trust' | 'recency', number>>>
}

/** What is left out is off; without a scope: local alone. */
export interface BeliefScope {
  readonly local?: boolean
  readonly federated?: boolean
  readonly network?: boolean
}

export interface BeliefOptions {
  readonly scope?: BeliefScope
  /** 1 to 1,000; default 20. */
  readonly limit?: number
  readonly offset?: number
  /** `next_cursor` of an answer to this query: what stands behind it. */
  readonly cursor?: string | null
  /** Of a stream: results in a piece, 1 to 100; default 20. */
  readonly chunk_size?: number
  readonly include_derivation?: boolean
  readonly include_explanation?: boolean
  readonly max_derivation_depth?: number
  readonly timeout_ms?: number
  readonly approximate?: boolean
  /** Of each other node: at most so many, of 1,000; default three times what is wanted. */
  readonly max_results_per_node?: number
  /** Default eight tenths of the whole time. */
  readonly timeout_per_node_ms?: number
  /** How the results of several nodes become one list; default `rerank`. */
  readonly merge_strategy?: MergeStrategy
  readonly diversity?: {
    readonly enabled: boolean
    readonly min_semantic_distance?: number
    readonly max_per_holder?: number
    readonly max_per_domain?: number
    readonly lambda?: number
  }
  readonly temporal_intent?: boolean
  /** Counts as no use of trust. */
  readonly dry_run?: boolean
}

export interface BeliefQuery {
  /** Empty only beside a filter: then what it lets through is listed. */
  readonly semantic: string
  readonly filters?: BeliefFilter | FilterPreset | readonly (BeliefFilter | FilterPreset)[]
  readonly context?: BeliefContext
  readonly options?: BeliefOptions
}

export interface NewBelief {
  readonly id?: string
  /** 1 to 65,536 bytes of UTF-8. */
  readonly content: string
  readonly confidence?: Partial<Confidence>
  readonly valid_from?: string
  readonly valid_until?: string | null
  readonly derivation?: {
    readonly type?: DerivationType
    readonly sources?: readonly {
      readonly belief_id?: string
      readonly external_ref?: string
      readonly contribution_type?: 'primary' | 'supporting' | 'contradicting' | 'context'
      readonly weight?: number
    }[]
    readonly method_description?: string | null
    readonly confidence_rationale?: string | null
  }
  readonly domains?: readonly string[]
  /** Default private. */
  readonly visibility?: Visibility
  readonly federation_ids?: readonly string[]
}

/** Whom, and how far; level 0 is distrust. */
export interface TrustStatement {
  readonly target: string
  readonly trust_level: number
  readonly domain_trust?: Readonly<Record<string, number>>
  readonly basis?: readonly { readonly type: string; readonly confidence: number }[]
  readonly persistent?: boolean
  readonly exposure?: 'private' | 'exposed'
}

export interface NewAgent {
  readonly id: string
  readonly label?: string | null
  readonly did?: string | null
  readonly reputation?: number | null
  readonly reputation_by_domain?: Readonly<Record<string, number>> | null
  readonly trust_graph?: string | null
}

export interface NewFederation {
  readonly id: string
  readonly label?: string | null
  readonly did?: string | null
  readonly joining?: 'open' | 'invited'
  readonly results?: 'individual' | 'aggregate'
  /** With aggregates: ten members must hold something of a topic before it is told of, not five. */
  readonly sensitive?: boolean
  /** With aggregates: epsilon of an answer, 0.1 to 5 (default 1), and of a member's day, up to 50 (default 10). */
  readonly query_epsilon?: number
  readonly daily_epsilon?: number
  readonly anonymity?: 'pseudonyms' | 'strict'
  readonly reputation?: number | null
}

export interface NewMember {
  readonly federation: string
  readonly agent: string
  readonly status?: 'active' | 'suspended' | 'departed'
  readonly role?: 'founder' | 'admin' | 'moderator' | 'member' | 'observer'
  readonly permissions?: readonly ('query_beliefs' | 'share_beliefs' | 'view_aggregates')[] | null
}
