/** What a profile's hooks are told besides the text and the rows. Everything is for reading: nothing here writes. */
import type { Binding, EffectiveQuery, MetadataFilters, ScoreWeights } from '../model.ts'

/** The parameters that apply unless the profile says otherwise: the call's own, the configured, the built-in (CQ-004). */
export interface ProfileDefaults {
  readonly k: number
  readonly maxDistance: number | null
  readonly temporalRange: readonly [number, number] | null
  readonly metadataFilters: MetadataFilters | null
  readonly includeRotten: boolean
  readonly scoreWeights: ScoreWeights | null
}

/** What the query core lends for one parse: the store as this viewer sees it. */
export interface ProfileView {
  /** The one clock reading of the query, Unix seconds. */
  readonly now: number
  readonly defaults: ProfileDefaults
  /** False: tags that break the zone rules are an error instead of being completed (CQ-089). */
  readonly completeHashtags: boolean
  /** The binding of a hashtag in any spelling, null when it is not assigned. */
  resolve(hashtag: string): Binding | null
  /** Assigned hashtags found in a text, in order of first appearance: what `suggestHashtags` gives (CQ-143, CQ-144). */
  tagsIn(text: string): readonly string[]
  /** The hashtags of every node that carries this one, is visible to the viewer and not rotten. Normalised. */
  nodesWith(hashtag: string): Iterable<readonly string[]>
}

export interface ParseContext extends ProfileView {
  /**
   * A set that keeps the zone rules: these tags, and where they break the rules those that occur together with them most
   * (CQ-090). Throws `ValidationError` when no set can be made, or when completion is switched off.
   */
  complete(hashtags: readonly string[]): readonly string[]
  /** Whether these tags keep the zone rules by themselves. */
  isValid(hashtags: readonly string[]): boolean
}

export interface PostContext {
  readonly query: EffectiveQuery
  /** `QueryParams.state` of this query's parse; undefined when there was none (CQ-081). */
  readonly state: unknown
  readonly now: number
}
