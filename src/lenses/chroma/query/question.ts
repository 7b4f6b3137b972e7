/** Phases 1 to 3 of a query (CQ-040), before the search: checking the input, finding the hashtags, and computing their colour. */

import { z } from 'zod'
import type { Bitset } from '../../../base/bitset.ts'
import type { Instant } from '../../../base/clock.ts'
import type { PointHit, PointIndex, PointScorer } from '../../../index/contract.ts'
import type { EntryKey } from '../../../model/entry.ts'
import { MAX_LIMIT, MAX_TIMEOUT_MS } from '../../../model/limits.ts'
import { parseWith } from '../../../model/parse-input.ts'
import type { PartitionId } from '../../../model/partition.ts'
import type { QueryInput } from '../../../model/query-input.ts'
import type { AccessScope, Viewer } from '../../../model/viewer.ts'
import { turnsUntil } from '../../../pipeline/time-limit.ts'
import type { StoreReader } from '../../../store/store.ts'
import { type CheckedTags, filledWith, keepsRules, neighboursOf } from '../colour/coordinates.ts'
import { tagsInText } from '../colour/stack.ts'
import { checkCamel, invalidInput } from '../errors.ts'
import type { MemoryColumns } from '../memory/columns.ts'
import {
  type Binding,
  type EffectiveQuery,
  hashtagList,
  type QueryParams,
  queryInput,
  queryOptions,
  queryParams,
  type ScoreWeights,
  type Warning,
} from '../model.ts'
import { NODE_KIND } from '../nodes/nodes.ts'
import { readAspect } from '../nodes/stored.ts'
import { copyJson, type ProfileView } from '../profiles/query-profile.ts'
import type { ParsedText } from '../profiles/registry.ts'
import type { ChromaState } from '../state.ts'

/** Options of a query after the check by the schema, by their snake_case names. */
export type WireOptions = z.output<typeof queryOptions>

/** Schema of the `options` of a query for the lens `chroma`. Without `hashtags`, a query profile derives them from the query's text. */
export const chromaOptions = z.strictObject({
  ...queryOptions.shape,
  hashtags: hashtagList.optional().describe(`${hashtagList.description}. Default: the text, which the profile reads`),
  k: queryParams.shape.k.describe(
    'Most results of all pages together; null: the number from the profile or the setting query.default_k. Default: the number that the profile reads in the text, else no limit',
  ),
  rank_by: z
    .enum(['score', 'distance'])
    .optional()
    .describe('score: by relevance, recency and strength; distance: the nearest first. Default: score'),
})
export type ChromaOptions = z.output<typeof chromaOptions>

/** Schema of the part of a query that decides which nodes are in the answer; used by the operations explain, count and watch. */
export const questionInput = z.strictObject({
  hashtags: queryInput.shape.hashtags,
  input: queryInput.shape.input,
  ...queryOptions.omit({ update_access: true }).shape,
})

/** Makes the engine's query for a page, a stream or a watch. Where the input has no `k`, the configured number of results is set. */
export function questionOf({ settings }: ChromaState, asked: z.output<typeof questionInput>): QueryInput {
  const { k, ...question } = asked
  parseWith(queryInput, question, invalidInput)
  return { ...asText(question), limit: Math.min(MAX_LIMIT, k ?? settings.query.defaultK), touch: false }
}

export const knnOptions = queryOptions.pick({ k: true, max_distance: true, include_rotten: true, update_access: true })

/** Checked item of a batch of queries: `hashtags` or `input` (a text), and options. */
export type CheckedItem = WireOptions & {
  readonly hashtags?: readonly string[] | undefined
  readonly input?: string | undefined
}

/**
 * Makes the engine's query for all results of one item on as few pages as possible. The engine does not record the results as used; this
 * lens does it itself.
 */
export function wholeQuery(item: CheckedItem, rankBy: ChromaOptions['rank_by']): QueryInput {
  const { k = null, ...rest } = item
  const { text, options } = asText({ ...rest, k, rank_by: rankBy })
  // The hooks of query profiles may be slow, so the query gets the longest allowed time limit.
  return { text, options, limit: MAX_LIMIT, timeout_ms: MAX_TIMEOUT_MS, touch: false }
}

function asText({ input = '', ...options }: CheckedItem & { readonly rank_by?: ChromaOptions['rank_by'] }) {
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
  return { text: input, options: given }
}

export interface Prepared {
  readonly query: EffectiveQuery
  /** Largest number of results on all pages of the query together (`k`). */
  readonly most: number
  /** The value that the profile's parse hook passes to its post-process hook. */
  readonly state: unknown
  readonly warnings: readonly Warning[]
}

/** The part of the query context that is needed to prepare a query. */
export interface Preparing {
  readonly accessScope: AccessScope
  readonly signal: AbortSignal
  /** Time of the query, in milliseconds since 1970. */
  readonly asOf: Instant
  /** Whether the results count as used when the query's options do not say. */
  readonly touch: boolean
}

export async function prepare(
  state: ChromaState,
  text: string,
  options: ChromaOptions,
  context: Preparing,
): Promise<Prepared> {
  const now = Math.floor(context.asOf / 1000)
  const profile = state.profiles.select(options.profile)
  const parsed = await parse(state, text, options, profile, context)
  const { params } = parsed
  // A text that names no assigned hashtag, and resembles no node, gives no colour to search by; the query then has no results.
  const isNowhere = options.hashtags === undefined && params.hashtags.length === 0 && completes(state, options)
  const { current } = state.bindings
  const { bindings, hashtags } = isNowhere ? NOWHERE : state.coordinates.check(params.hashtags, current)
  const settled = settle(options, parsed.params, state.settings.query)
  const query: EffectiveQuery = {
    hashtags,
    k: settled.k,
    max_distance: settled.maxDistance,
    temporal_range: copyJson(settled.temporalRange),
    metadata_filters: copyJson(settled.metadataFilters),
    include_rotten: settled.includeRotten,
    score_weights: copyJson(settled.scoreWeights),
    profile: parsed.profile,
    update_access: options.update_access ?? context.touch,
    color: isNowhere ? MIDDLE : state.coordinates.color({ bindings }, current),
    completed_hashtags: parsed.completed,
    profile_state: parsed.reported,
    now,
  }
  const most = isNowhere ? 0 : options.k === undefined ? (parsed.params.k ?? Number.POSITIVE_INFINITY) : settled.k
  return { query, most, state: parsed.params.state, warnings: parsed.warnings }
}

/** The query parameters after call, profile and settings were combined; null means "none". */
export type SettledParams = ProfileView['defaults']

/** The configured parameters of queries, used where neither the call nor the profile gives a value. */
export interface ParamDefaults {
  readonly defaultK: number
  readonly defaultMaxDistance: number | null
  readonly includeRotten: boolean
  readonly defaultScoreWeights: ScoreWeights | null
}

/**
 * Combines the parameters of a query (CQ-003 to CQ-005): for each, the first value that is present in the call, the profile and the
 * configuration.
 */
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

const NOWHERE: CheckedTags = { bindings: [], hashtags: [] }
const MIDDLE = [50, 0, 0] as const

function completes({ settings }: ChromaState, options: ChromaOptions): boolean {
  return options.complete_hashtags ?? settings.query.completeHashtags
}

async function parse(
  state: ChromaState,
  text: string,
  options: ChromaOptions,
  profile: string,
  context: Preparing,
): Promise<Completed> {
  const { hashtags } = options
  if (hashtags !== undefined) return { params: { hashtags }, profile, completed: [], reported: null, warnings: [] }
  const { bindings, settings } = state
  const view: ProfileView = {
    now: Math.floor(context.asOf / 1000),
    defaults: settle(options, {}, settings.query),
    completeHashtags: completes(state, options),
    resolve: tag => bindings.resolve(tag),
    tagsIn: words => tagsInText(words, bindings.current.resolve),
  }
  const fallbackToDefault = options.fallback_to_default ?? false
  const parsed = { ...(await state.profiles.parse(profile, text, view, { fallbackToDefault })), completed: [] }
  const { hashtags: given, state: __, ...params } = parsed.params
  checkCamel(queryParams, params, 'parameters')
  const named = state.coordinates.resolveAll(given)
  if (keepsRules(named) || !view.completeHashtags) return parsed
  return completed(state, text, named, parsed, options.include_rotten ?? settings.query.includeRotten, context)
}

interface Completed extends ParsedText {
  /** Hashtags that the text does not name and that were added to complete the set, in the order in which they were added. */
  readonly completed: readonly string[]
}

/** Largest number of nodes from which hashtags are taken for a text that names no hashtag. */
const MAX_NODES = 5
const NEAREST = 5

/**
 * Makes a set of hashtags with the required numbers in total and per zone. It begins with the hashtags that the text names, or else those
 * of nodes that resemble the text (CQ-089); missing ones are taken from nodes, then from all assigned hashtags (CQ-090). Empty where no
 * node resembles the text.
 */
async function completed(
  state: ChromaState,
  text: string,
  named: readonly Binding[],
  parsed: ParsedText,
  withRotten: boolean,
  context: Preparing,
): Promise<Completed> {
  const warnings: Warning[] = [...parsed.warnings]
  const warn = (code: string, message: string, tags: readonly string[]) =>
    warnings.push({ code, message: `${message}: ${tags.join(' ')}`, details: { hashtags: [...tags] } })
  const begun = named.length > 0 ? named : await tagsOfLikeNodes(state, text, context)
  const vocabulary = state.bindings.list()
  if (begun.length === 0) {
    const { tags } = await state.meanings.near(text, vocabulary, context.signal)
    const nearest = tags.slice(0, NEAREST).map(({ binding }) => binding.hashtag)
    warn(
      'no_known_hashtags',
      'the text names no assigned hashtag, and no node is similar to it; the nearest hashtags',
      nearest,
    )
    return { ...parsed, params: { ...parsed.params, hashtags: [] }, completed: [], warnings }
  }
  const hashtagsOf = (set: readonly Binding[]) => set.map(({ hashtag }) => hashtag)
  if (named.length === 0)
    warn(
      'hashtags_from_text',
      'the text names no assigned hashtag; searched by those of similar nodes',
      hashtagsOf(begun),
    )
  const carriers = (hashtag: string) => nodesWith(state, context.accessScope, hashtag, withRotten)
  const neighbours = () => neighboursOf(begun, carriers, hashtag => state.bindings.resolve(hashtag))
  const known = keepsRules(begun) ? begun : filledWith(begun, await turnsUntil(context.signal).run(neighbours()))
  let set = known
  if (!keepsRules(known)) {
    const { tags } = await state.meanings.near(text, vocabulary, context.signal)
    set = filledWith(
      known,
      tags.map(({ binding }) => binding),
    )
    const added = hashtagsOf(set.slice(known.length))
    if (added.length > 0) warn('completed_from_vocabulary', 'no node has enough hashtags for the rules; added', added)
  }
  const added = hashtagsOf(set).filter(hashtag => !hashtagsOf(named).includes(hashtag))
  return { ...parsed, params: { ...parsed.params, hashtags: hashtagsOf(set) }, completed: added, warnings }
}

/** Hashtags of the nodes that a search for the text by words and meaning finds; the hashtags of the best node come first. */
async function tagsOfLikeNodes(
  { host, bindings }: ChromaState,
  text: string,
  { accessScope, signal, asOf }: Preparing,
): Promise<readonly Binding[]> {
  if (text.trim() === '') return []
  const asked = { text, lens: 'default', syntax: 'plain', limit: MAX_NODES, touch: false } as const
  const { ranked } = await host.query(
    { ...asked, filter: { kinds: [NODE_KIND] } },
    { viewer: accessScope.viewer, signal, now: asOf, rows: 'keys' },
  )
  const tags = ranked.flatMap(({ entry }) => readAspect(host.store, entry)?.hashtags ?? [])
  return [...new Set(tags)].flatMap(tag => bindings.resolve(tag) ?? [])
}

/** Number of nodes whose hashtags are read before the work pauses for other work. */
const NODES_AT_ONCE = 250

/**
 * The hashtags of every visible node that carries the given hashtag, in pages that are read one after the other. Rotten nodes are included
 * only with `withRotten`.
 */
export function* nodesWith(
  { host: { store }, memories }: ChromaState,
  accessScope: AccessScope,
  hashtag: string,
  withRotten: boolean,
): Generator<readonly (readonly string[])[]> {
  const entries = [...store.matching(accessScope, { op: 'eq', field: 'tag', value: hashtag })]
  for (let at = 0; at < entries.length; at += NODES_AT_ONCE) {
    yield store.read(reader => {
      const columns = memories.of(accessScope.viewer.id)
      return entries.slice(at, at + NODES_AT_ONCE).flatMap(entry => {
        const cell = columns.memory(entry)
        if (cell === undefined || (cell.rotten && !withRotten)) return []
        // The hashtags are read from the node's own row, because they determined its colour; the tags of its entry can be rewritten by its
        // holder.
        const tags = readAspect(reader, entry)?.hashtags
        return tags?.includes(hashtag) ? [tags] : []
      })
    })
  }
}

// Selects the nodes of a query's answer exactly: of the nodes that pass every filter, the best by score or the nearest by colour (CQ-056 to
// CQ-065, CQ-098).

export const POINTS = 'points'

/** One committed state of the store as one viewer sees it. Valid only within the read transaction that gave it. */
export interface Look {
  readonly state: ChromaState
  readonly viewer: Viewer
  readonly reader: StoreReader
  readonly points: PointIndex
  readonly partitions: readonly PartitionId[]
  readonly columns: MemoryColumns
}

/** Runs `body` on one committed state of the store, as the viewer sees it; `body` must be synchronous. */
export function looking<T>(state: ChromaState, { viewer, partitions }: AccessScope, body: (look: Look) => T): T {
  const { host, memories } = state
  return host.store.read(reader => {
    const points = host.index(POINTS) as PointIndex
    return body({ state, viewer, reader, points, partitions, columns: memories.of(viewer.id) })
  })
}

/** The colour and the filters of a query: what decides which nodes are found. */
export type Asked = Pick<
  EffectiveQuery,
  'color' | 'max_distance' | 'temporal_range' | 'metadata_filters' | 'include_rotten' | 'score_weights' | 'now'
> & {
  /** When given, only the entries in this set can be results. */
  readonly allow?: Bitset | undefined
}

/** Order of results: `score` by score, then distance, then entry id; `distance` by distance, then entry id. */
export type RankedBy = 'score' | 'distance'

/** The k best nodes in the requested order; fewer than k where fewer pass the filters. */
export function best(look: Look, asked: Asked, by: RankedBy, k: number): readonly PointHit[] {
  return ordered(look, search(look, asked, by === 'score' ? scorerOf(look, asked) : BY_DISTANCE, k), k)
}

/**
 * Distance of the nearest node that passes every filter except the distance limit; null when there is no limit or no such node (CQ-073).
 */
export function nearestBeyond(look: Look, asked: Asked): number | null {
  if (asked.max_distance === null) return null
  return best(look, { ...asked, max_distance: null }, 'distance', 1)[0]?.distance ?? null
}

/** Says which filter excludes a node, as a text; null when the node passes all filters. */
export function brokenFilter(look: Look, asked: Asked, entry: EntryKey): string | null {
  const { columns, points, reader, state } = look
  const cell = columns.memory(entry)
  const point = points.pointOf(entry)
  if (cell === undefined || point === undefined) return 'It is not a node of the lens chroma.'
  if (cell.rotten && !asked.include_rotten) return 'It is rotten; include_rotten finds it.'
  if (
    asked.max_distance !== null &&
    Math.hypot(...point.map((at, axis) => at - (asked.color[axis] ?? 0))) > asked.max_distance
  )
    return `It is farther away than max_distance (${asked.max_distance}).`
  if (asked.temporal_range !== null && !passingTimes(look, asked.temporal_range)(entry))
    return 'It was neither created nor last used in the temporal_range.'
  const filters = asked.metadata_filters ?? {}
  const broken = Object.entries(filters).filter(
    ([field, condition]) => !state.fields.passing(reader, { [field]: condition }).has(entry),
  )
  if (broken.length > 0) return `It does not match the condition on ${broken.map(([field]) => field).join(', ')}.`
  return null
}

/**
 * Scorer by colour distance: the score is the negative distance. The point index could sort by distance without a scorer, but it can apply
 * a filter of times only together with a scorer.
 */
const BY_DISTANCE: PointScorer = { score: (_entry, distance) => -distance, bound: (_block, distance) => -distance }

/** Score given to an excluded node, below every possible score. */
const REFUSED = -Number.MAX_VALUE

function search(look: Look, asked: Asked, scorer: PointScorer, k: number): readonly PointHit[] {
  const { points, partitions } = look
  const allow = allowed(look, asked)
  const filtered = { ...(allow && { allow }), ...(asked.max_distance !== null && { maxDistance: asked.max_distance }) }
  if (asked.temporal_range === null) return points.search({ point: asked.color, partitions, k, scorer, ...filtered })
  const passes = passingTimes(look, asked.temporal_range)
  const some: PointScorer = {
    ...(scorer.limit && { limit: distance => scorer.limit?.(distance) ?? Number.MAX_VALUE }),
    score: (entry, distance) => (passes(entry) ? scorer.score(entry, distance) : REFUSED),
    bound: (block, distance) => scorer.bound(block, distance),
  }
  const hits = points.search({ point: asked.color, partitions, k, scorer: some, ...filtered })
  return hits.filter(hit => hit.score !== REFUSED)
}

/**
 * Set of the nodes that pass the filters that do not depend on time: not rotten in the viewer's memory, conditions on fields, and the
 * caller's `allow`. Null when no such filter applies.
 */
function allowed({ columns, state, reader }: Look, { include_rotten, metadata_filters, allow }: Asked): Bitset | null {
  const hasFilters = metadata_filters !== null && Object.keys(metadata_filters).length > 0
  const sets = [
    include_rotten ? null : columns.allow,
    hasFilters ? state.fields.passing(reader, metadata_filters) : null,
    allow ?? null,
  ].filter(set => set !== null)
  return sets.length === 0 ? null : sets.reduce((some, others) => some.and(others))
}

function scorerOf({ columns, points, state }: Look, { score_weights: weights, now }: Asked): PointScorer {
  return columns.scorer({ weights, now, points, memoryEnabled: state.settings.memory.enabled })
}

/**
 * Sorts hits with equal score and distance by entry id, then holder, compared by code unit (CQ-065). The index sorts equal hits by an
 * internal key; it returns all hits that are equal to the last one, so none is lost.
 */
function ordered({ reader }: Look, hits: readonly PointHit[], k: number): readonly PointHit[] {
  const isTie = (hit: PointHit, other: PointHit | undefined) => other !== undefined && byPlace(hit, other) === 0
  const tied = hits.filter((hit, at) => isTie(hit, hits[at - 1]) || isTie(hit, hits[at + 1]))
  if (tied.length === 0) return hits.slice(0, k)
  const names = new Map(reader.identities(tied.map(hit => hit.entry)).map(one => [one.key, one]))
  const name = (entry: EntryKey) => names.get(entry) ?? { id: '', holder: '' }
  const byName = (a: { id: string; holder: string }, b: { id: string; holder: string }) =>
    byText(a.id, b.id) || byText(a.holder, b.holder)
  return [...hits].sort((a, b) => byPlace(a, b) || byName(name(a.entry), name(b.entry))).slice(0, k)
}

export function byPlace(a: Pick<PointHit, 'score' | 'distance'>, b: Pick<PointHit, 'score' | 'distance'>): number {
  return b.score - a.score || a.distance - b.distance
}

/** Compares two texts by UTF-16 code unit: negative, zero or positive. */
export function byText(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}

/**
 * Returns a test whether a node was created or last accessed within a closed interval, by the times stored before the query (CQ-057). The
 * test runs for many nodes, so it allocates no objects.
 */
function passingTimes({ columns }: Look, [start, end]: readonly [number, number]): (entry: EntryKey) => boolean {
  const isWithin = (time: number) => start <= time && time <= end
  return entry => isWithin(columns.lastAccessed(entry)) || isWithin(columns.created(entry))
}
