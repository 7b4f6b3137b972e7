/** A small world for profiles: bindings by zone, and nodes that are lists of hashtags. */
import { tagsInText } from '../../../../../src/lenses/chroma/colour/stack.ts'
import type { Binding, EffectiveQuery, ResultRow, Zone } from '../../../../../src/lenses/chroma/model.ts'
import type { ProfileView } from '../../../../../src/lenses/chroma/profiles/query-profile.ts'

/** 2026-01-01T00:00:00Z */
export const NEW_YEAR = 1_767_225_600

export interface World {
  readonly core?: readonly string[]
  readonly mid?: readonly string[]
  readonly outer?: readonly string[]
  /** Hashtags of each node, without `#`. */
  readonly nodes?: readonly (readonly string[])[]
}

const ZONES: readonly (readonly [keyof World, Zone, number])[] = [
  ['core', 'Core', 1],
  ['mid', 'Mid', 1_001],
  ['outer', 'Outer', 7_501],
]

/** Anchors are given in the order of the words, from the first of their zone. */
export function bindingsOf(world: World): ReadonlyMap<string, Binding> {
  const bindings = ZONES.flatMap(([key, zone, first]) =>
    ((world[key] ?? []) as readonly string[]).map((word, at) => {
      const hashtag = `#${word}`
      return { hashtag, anchor_id: first + at, zone, L: 50, a: 0, b: 0, mass: 1 }
    }),
  )
  return new Map(bindings.map(binding => [binding.hashtag, binding]))
}

export function viewOf(world: World, options: Partial<ProfileView> = {}): ProfileView {
  const bindings = bindingsOf(world)
  const resolve = (hashtag: string): Binding | null => bindings.get(hashtag.toLowerCase()) ?? null
  return {
    now: NEW_YEAR,
    defaults: {
      k: 5,
      maxDistance: null,
      temporalRange: null,
      metadataFilters: null,
      includeRotten: false,
      scoreWeights: null,
    },
    completeHashtags: true,
    resolve,
    tagsIn: text => tagsInText(text, resolve),
    ...options,
  }
}

export const words = (prefix: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, at) => `${prefix}${at}`)

export const QUERY: EffectiveQuery = {
  hashtags: ['#a'],
  k: 5,
  max_distance: null,
  temporal_range: null,
  metadata_filters: null,
  include_rotten: false,
  score_weights: null,
  profile: 'mine',
  update_access: true,
  color: [50, 0, 0],
  completed_hashtags: [],
  profile_state: null,
  now: NEW_YEAR,
}

export function row(fields: Partial<ResultRow> & { readonly [column: string]: unknown } = {}): ResultRow {
  return {
    entry_id: 'e1',
    node_id: 'node_0',
    color_L: 50,
    color_a: 0,
    color_b: 0,
    hashtags: ['#a'],
    label: 'A',
    content: 'text',
    metadata: null,
    created_at: 1,
    last_accessed: 1,
    strength_raw: 0,
    decay_health: 1,
    ascension: false,
    rotten: false,
    mode_name: 'Adaptive',
    access_count: 0,
    decay_enabled: true,
    state: 'ACTIVE',
    distance: 0,
    relevance: 1,
    recency: 1,
    strength_norm: 0,
    score: 0.8,
    ...fields,
  } as ResultRow
}
