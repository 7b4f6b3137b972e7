/** The words of the lens: what its parts pass to each other. Times are Unix seconds (CQ-009), colours CIELAB doubles. */
import type { Json, JsonObject } from '../../base/canonical.ts'

export type Zone = 'Core' | 'Mid' | 'Outer'
export const ZONES: readonly Zone[] = ['Core', 'Mid', 'Outer']

/** One of the 10,000 places a hashtag can sit on. L 0..100, a and b -128..127, whole; mass has two decimals. */
export interface Anchor {
  /** 1..10000, by distance from (50, 0, 0). */
  readonly id: number
  readonly zone: Zone
  readonly L: number
  readonly a: number
  readonly b: number
  readonly mass: number
}

/** A hashtag on its anchor; also the wire shape (CQ-026). */
export interface Binding {
  /** Normalised, with its `#`. */
  readonly hashtag: string
  readonly anchor_id: number
  readonly zone: Zone
  readonly L: number
  readonly a: number
  readonly b: number
  readonly mass: number
}

/** L, a, b. */
export type Color = readonly [number, number, number]

export type ModeName = 'Sparse' | 'Adaptive' | 'Spacey' | 'Eidetic'
export const MODE_NAMES: readonly ModeName[] = ['Sparse', 'Adaptive', 'Spacey', 'Eidetic']

export interface ScoreWeights {
  readonly relevance: number
  readonly recency: number
  readonly strength: number
}

/** What one viewer's use has made of one node (DESIGN: memory is kept per viewer). */
export interface NodeMemory {
  readonly last_accessed: number
  readonly access_count: number
  /** ≥ 0. */
  readonly strength_raw: number
  /** 0..1. */
  readonly decay_health: number
  readonly ascension: boolean
  readonly rotten: boolean
  /** Changes of this memory so far; a row's version is this plus the node's own. */
  readonly version: number
}

export type Scalar = string | number | boolean | null

/** CQ-061: all operators given must hold. */
export interface ConditionOperators {
  readonly $eq?: Scalar | undefined
  readonly $ne?: Scalar | undefined
  readonly $in?: readonly Scalar[] | undefined
  readonly $nin?: readonly Scalar[] | undefined
  readonly $gt?: number | string | undefined
  readonly $gte?: number | string | undefined
  readonly $lt?: number | string | undefined
  readonly $lte?: number | string | undefined
  readonly $contains?: string | undefined
  readonly $exists?: boolean | undefined
}

export type Condition = Scalar | readonly Scalar[] | ConditionOperators
export type MetadataFilters = Readonly<Record<string, Condition>>

/**
 * Options of a query as the TypeScript API takes them (CQ-001, CQ-003 to CQ-005). Absent falls through to the profile,
 * the configuration, the built-in value; null for `maxDistance`, `temporalRange`, `metadataFilters`, `scoreWeights`
 * means "none" and beats what is configured.
 */
export interface QueryOptions {
  readonly k?: number | null | undefined
  readonly maxDistance?: number | null | undefined
  readonly temporalRange?: readonly [number, number] | null | undefined
  readonly metadataFilters?: MetadataFilters | null | undefined
  readonly includeRotten?: boolean | null | undefined
  readonly scoreWeights?: ScoreWeights | null | undefined
  readonly profile?: string | null | undefined
  /** False: no access update (CQ-011). */
  readonly updateAccess?: boolean | undefined
  /** Whether text that names too few tags is completed (CQ-090). */
  readonly completeHashtags?: boolean | undefined
  /** A profile that cannot parse the text is replaced by the built-in one (CQ-092). */
  readonly fallbackToDefault?: boolean | undefined
}

/** What a profile makes of a text (CQ-079). */
export interface QueryParams
  extends Pick<
    QueryOptions,
    'k' | 'maxDistance' | 'temporalRange' | 'metadataFilters' | 'includeRotten' | 'scoreWeights'
  > {
  readonly hashtags: readonly string[]
  /** Passed to the post-process hook of this query alone. */
  readonly state?: unknown
}

/** Every parameter settled and checked. */
export interface EffectiveQuery {
  /** Normalised, distinct, by ascending anchor. */
  readonly hashtags: readonly string[]
  readonly k: number
  readonly max_distance: number | null
  readonly temporal_range: readonly [number, number] | null
  readonly metadata_filters: MetadataFilters | null
  readonly include_rotten: boolean
  readonly score_weights: ScoreWeights | null
  readonly profile: string
  readonly update_access: boolean
  readonly color: Color
  /** Tags that completion added (CQ-090). */
  readonly completed_hashtags: readonly string[]
  /** What the profile noted of a text, where that is JSON data (CQ-111); else null. */
  readonly profile_state: Json
  /** The one clock reading of the query. */
  readonly now: number
}

export interface Warning {
  /** snake_case. */
  readonly code: string
  readonly message: string
  readonly details?: JsonObject | undefined
}

/** A node without what only a query knows (CQ-074, CQ-075). Plug-in columns stand beside these (CQ-077). */
export interface NodeRow {
  readonly entry_id: string
  readonly node_id: string
  readonly color_L: number
  readonly color_a: number
  readonly color_b: number
  readonly hashtags: readonly string[]
  readonly label: string
  readonly content: string
  readonly metadata: JsonObject | null
  readonly created_at: number
  readonly last_accessed: number
  readonly strength_raw: number
  readonly decay_health: number
  readonly ascension: boolean
  readonly rotten: boolean
  readonly mode_name: ModeName
  readonly access_count: number
  readonly decay_enabled: boolean
  readonly state: 'ASCENDED' | 'ROTTEN' | 'ACTIVE'
  readonly [column: string]: Json
}

/** A hit (CQ-076). */
export interface ResultRow extends NodeRow {
  readonly distance: number
  readonly relevance: number
  readonly recency: number
  readonly strength_norm: number
  readonly score: number
}

export interface DetailedAnswer {
  readonly results: readonly ResultRow[]
  readonly query: EffectiveQuery
  readonly warnings: readonly Warning[]
}
