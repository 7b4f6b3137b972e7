/** Phases 1 to 3 of a query: input, tags, coordinate, before anything is looked for (CQ-040). */
import type { Viewer } from '../../../model/viewer.ts'
import { checkCamel } from '../camel.ts'
import { tagsInText } from '../colour/suggest.ts'
import { invalidParameter } from '../errors.ts'
import { type EffectiveQuery, type QueryOptions, queryParams, type Warning } from '../model.ts'
import { readAspect } from '../nodes/stored.ts'
import type { ProfileView } from '../profiles/context.ts'
import type { ParsedText } from '../profiles/registry.ts'
import type { ChromaState } from '../state.ts'
import { POINTS } from './look.ts'
import { type ParamDefaults, settle } from './params.ts'

export interface Prepared {
  readonly query: EffectiveQuery
  /** What the parse hook keeps for the post-process hook. */
  readonly state: unknown
  readonly warnings: readonly Warning[]
}

/** `input`: hashtags as a list, or a text for a profile. `options` are checked. `now`: the one clock reading, Unix seconds. */
export async function prepare(
  state: ChromaState,
  viewer: Viewer,
  input: unknown,
  options: QueryOptions,
  now: number,
): Promise<Prepared> {
  await state.host.ready?.([POINTS])
  const profile = state.profiles.select(options.profile)
  const parsed = await parse(state, viewer, input, options, profile, now)
  const { bindings, hashtags } = state.coordinates.check(parsed.params.hashtags)
  const settled = settle(options, parsed.params, defaultsOf(state))
  const query: EffectiveQuery = {
    hashtags,
    k: settled.k,
    max_distance: settled.maxDistance,
    temporal_range: copy(settled.temporalRange),
    metadata_filters: copy(settled.metadataFilters),
    include_rotten: settled.includeRotten,
    score_weights: copy(settled.scoreWeights),
    profile: parsed.profile,
    update_access: options.updateAccess ?? true,
    color: state.coordinates.color({ bindings }),
    completed_hashtags: parsed.completed,
    profile_state: parsed.reported,
    now,
  }
  return { query, state: parsed.params.state, warnings: parsed.warnings }
}

export function defaultsOf({ settings }: ChromaState): ParamDefaults {
  const { defaultK, defaultMaxDistance, includeRotten, defaultScoreWeights } = settings.query
  return { k: defaultK, maxDistance: defaultMaxDistance, includeRotten, scoreWeights: defaultScoreWeights }
}

async function parse(
  state: ChromaState,
  viewer: Viewer,
  input: unknown,
  options: QueryOptions,
  profile: string,
  now: number,
): Promise<ParsedText> {
  if (Array.isArray(input)) {
    return { params: { hashtags: input }, profile, completed: [], reported: null, warnings: [] }
  }
  if (typeof input !== 'string') throw invalidParameter('hashtags', input, 'a list of hashtags, or a text')
  const view = viewFor(state, viewer, options, now)
  const { fallbackToDefault } = options
  const parsed = await state.profiles.parse(profile, input, view, { fallbackToDefault: fallbackToDefault ?? false })
  const { hashtags: _, state: __, ...params } = parsed.params
  checkCamel(queryParams, params, 'parameters')
  return parsed
}

function viewFor(state: ChromaState, viewer: Viewer, options: QueryOptions, now: number): ProfileView {
  const { bindings, settings } = state
  return {
    now,
    defaults: settle(options, {}, defaultsOf(state)),
    completeHashtags: options.completeHashtags ?? settings.query.completeHashtags,
    resolve: hashtag => bindings.resolve(hashtag),
    tagsIn: text => tagsInText(text, bindings.current.resolve),
    nodesWith: hashtag => nodesWith(state, viewer, hashtag),
  }
}

/** Hashtags of every visible node that carries this one and is not rotten. */
function nodesWith({ host, memories }: ChromaState, viewer: Viewer, hashtag: string): Iterable<readonly string[]> {
  return host.store.read(reader => {
    const entries = reader.matching(host.sight(viewer), { op: 'eq', field: 'tag', value: hashtag })
    const columns = memories.of(viewer.id)
    const found: (readonly string[])[] = []
    for (const entry of entries) {
      if (columns.memory(entry)?.rotten !== false) continue
      // Tags of an entry can be rewritten by its holder; those of the node made its colour.
      const tags = readAspect(reader, entry)?.hashtags
      if (tags?.includes(hashtag)) found.push(tags)
    }
    return found
  })
}

function copy<T>(value: T): T {
  return structuredClone(value)
}
