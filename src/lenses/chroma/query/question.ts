/** Phases 1 to 3 of a query: input, tags, coordinate, before anything is searched for (CQ-040). */
import { z } from 'zod'
import { MAX_LIMIT, MAX_TIMEOUT_MS } from '../../../model/limits.ts'
import { parseWith } from '../../../model/parse-input.ts'
import type { QueryInput } from '../../../model/query-input.ts'
import type { Sight } from '../../../model/viewer.ts'
import { checkCamel } from '../camel.ts'
import { tagsInText } from '../colour/hashtag.ts'
import { invalidInput } from '../errors.ts'
import {
  type EffectiveQuery,
  hashtagList,
  type QueryParams,
  queryInput,
  queryOptions,
  queryParams,
  type ScoreWeights,
  type Warning,
} from '../model.ts'
import { readAspect } from '../nodes/stored.ts'
import type { ProfileView } from '../profiles/query-profile.ts'
import type { ParsedText } from '../profiles/registry.ts'
import type { ChromaState } from '../state.ts'
import { POINTS } from './search.ts'

/** Options of a query, checked, by their names on the wire. */
export type WireOptions = z.output<typeof queryOptions>

/** What `options` of a query may hold for this lens. Without `hashtags`, the text is what the profile reads. */
export const chromaOptions = z.strictObject({
  ...queryOptions.shape,
  hashtags: hashtagList.optional().describe(`${hashtagList.description}. Default: the text, which the profile reads`),
  k: queryParams.shape.k.describe(
    'Most results of all pages together; null: as many as the profile or the setting query.default_k says. Default: as many as the profile says of the text, else no bound',
  ),
  rank_by: z
    .enum(['score', 'distance'])
    .optional()
    .describe('score: by relevance, recency and strength; distance: the nearest first. Default: score'),
})
export type ChromaOptions = z.output<typeof chromaOptions>

/** `chroma.query` as far as it decides what is in the answer, for explain, count and watch. */
export const questionInput = z.strictObject({
  hashtags: queryInput.shape.hashtags,
  input: queryInput.shape.input,
  ...queryOptions.omit({ update_access: true }).shape,
})

/** Items that a page, a stream or a watch of a question without `k` has. */
export function questionOf({ settings }: ChromaState, asked: z.output<typeof questionInput>): QueryInput {
  const { k, ...question } = asked
  parseWith(queryInput, question, invalidInput)
  return { ...asText(question), limit: Math.min(MAX_LIMIT, k ?? settings.query.defaultK), touch: false }
}

export const knnOptions = queryOptions.pick({ k: true, max_distance: true, include_rotten: true, update_access: true })

/** One of the two, and options: checked. */
export type CheckedItem = WireOptions & {
  readonly hashtags?: readonly string[] | undefined
  readonly input?: string | undefined
}

/** All results of a question, on as few pages as there can be. Their use is not counted by the pipeline. */
export function wholeQuery(item: CheckedItem, rankBy: ChromaOptions['rank_by']): QueryInput {
  const { k = null, ...rest } = item
  const { text, options } = asText({ ...rest, k, rank_by: rankBy })
  // Seeds of hooks may take their time: what they are asked for has no limit of time of its own.
  return { text, options, limit: MAX_LIMIT, timeout_ms: MAX_TIMEOUT_MS, touch: false }
}

function asText({ input = '', ...options }: CheckedItem & { readonly rank_by?: ChromaOptions['rank_by'] }) {
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
  return { text: input, options: given }
}

export interface Prepared {
  readonly query: EffectiveQuery
  /** Most results of all pages together. */
  readonly most: number
  /** What the parse hook keeps for the post-process hook. */
  readonly state: unknown
  readonly warnings: readonly Warning[]
}

/** `now`: of the query, Unix seconds. `touch`: whether its results count as used, where the options do not say. */
export async function prepare(
  state: ChromaState,
  sight: Sight,
  text: string,
  options: ChromaOptions,
  { now, touch }: { readonly now: number; readonly touch: boolean },
): Promise<Prepared> {
  await state.host.ready?.([POINTS])
  const profile = state.profiles.select(options.profile)
  const parsed = await parse(state, sight, text, options, profile, now)
  const { bindings, hashtags } = state.coordinates.check(parsed.params.hashtags)
  const settled = settle(options, parsed.params, state.settings.query)
  const query: EffectiveQuery = {
    hashtags,
    k: settled.k,
    max_distance: settled.maxDistance,
    temporal_range: structuredClone(settled.temporalRange),
    metadata_filters: structuredClone(settled.metadataFilters),
    include_rotten: settled.includeRotten,
    score_weights: structuredClone(settled.scoreWeights),
    profile: parsed.profile,
    update_access: options.update_access ?? touch,
    color: state.coordinates.color({ bindings }),
    completed_hashtags: parsed.completed,
    profile_state: parsed.reported,
    now,
  }
  const most = options.k === undefined ? (parsed.params.k ?? Number.POSITIVE_INFINITY) : settled.k
  return { query, most, state: parsed.params.state, warnings: parsed.warnings }
}

/** Parameters as a query runs on them; null is "none". */
export type SettledParams = ProfileView['defaults']

/** What the configuration gives where neither call nor profile does. */
export interface ParamDefaults {
  readonly defaultK: number
  readonly defaultMaxDistance: number | null
  readonly includeRotten: boolean
  readonly defaultScoreWeights: ScoreWeights | null
}

/** CQ-003 to CQ-005: the first that is present of call, profile and configuration. */
export function settle(call: WireOptions, parsed: Partial<QueryParams>, defaults: ParamDefaults): SettledParams {
  return {
    k: call.k ?? parsed.k ?? defaults.defaultK,
    maxDistance: firstDefined(call.max_distance, parsed.maxDistance, defaults.defaultMaxDistance) ?? null,
    temporalRange: firstDefined(call.temporal_range, parsed.temporalRange) ?? null,
    metadataFilters: firstDefined(call.metadata_filters, parsed.metadataFilters) ?? null,
    includeRotten: call.include_rotten ?? parsed.includeRotten ?? defaults.includeRotten,
    scoreWeights: firstDefined(call.score_weights, parsed.scoreWeights, defaults.defaultScoreWeights) ?? null,
  }
}

function firstDefined<T>(...values: readonly (T | undefined)[]): T | undefined {
  return values.find(value => value !== undefined)
}

async function parse(
  state: ChromaState,
  sight: Sight,
  text: string,
  options: ChromaOptions,
  profile: string,
  now: number,
): Promise<ParsedText> {
  const { hashtags } = options
  if (hashtags !== undefined) return { params: { hashtags }, profile, completed: [], reported: null, warnings: [] }
  const view = viewFor(state, sight, options, now)
  const fallbackToDefault = options.fallback_to_default ?? false
  const parsed = await state.profiles.parse(profile, text, view, { fallbackToDefault })
  const { hashtags: _, state: __, ...params } = parsed.params
  checkCamel(queryParams, params, 'parameters')
  return parsed
}

function viewFor(state: ChromaState, sight: Sight, options: ChromaOptions, now: number): ProfileView {
  const { bindings, settings } = state
  return {
    now,
    defaults: settle(options, {}, settings.query),
    completeHashtags: options.complete_hashtags ?? settings.query.completeHashtags,
    resolve: hashtag => bindings.resolve(hashtag),
    tagsIn: text => tagsInText(text, bindings.current.resolve),
    nodesWith: hashtag => nodesWith(state, sight, hashtag),
  }
}

/** Hashtags of every visible node that carries this one and is not rotten. */
function nodesWith({ host, memories }: ChromaState, sight: Sight, hashtag: string): Iterable<readonly string[]> {
  return host.store.read(reader => {
    const entries = reader.matching(sight, { op: 'eq', field: 'tag', value: hashtag })
    const columns = memories.of(sight.viewer.id)
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
