/** Phases 4 to 8 of a query: the best nodes by score, exactly, of those that pass every filter (CQ-056 to CQ-065, CQ-098). */
import type { Bitset } from '../../../base/bitset.ts'
import type { PointHit, PointScorer } from '../../../index/contract.ts'
import type { EntryKey } from '../../../model/entry.ts'
import type { EffectiveQuery } from '../model.ts'
import type { Look } from './look.ts'
import { passingTimes } from './temporal.ts'

/** What is asked of the index: a query's geometry and filters. */
export type Asked = Pick<
  EffectiveQuery,
  'color' | 'max_distance' | 'temporal_range' | 'metadata_filters' | 'include_rotten' | 'score_weights' | 'now'
> & {
  /** Nothing but these, whatever else passes. */
  readonly allow?: Bitset | undefined
}

/** The k best by score, then distance, then entry id; fewer where fewer pass. */
export function bestByScore(look: Look, asked: Asked, k: number): readonly PointHit[] {
  return ordered(look, search(look, asked, scorerOf(look, asked), k), k)
}

/** The k nearest, by distance, then entry id; their scores are those of a query. */
export function nearest(look: Look, asked: Asked, k: number): readonly PointHit[] {
  const scorer = scorerOf(look, asked)
  const hits = ordered(look, search(look, asked, BY_DISTANCE, k), k)
  return hits.map(({ entry, distance }) => ({ entry, distance, score: scorer.score(entry, distance) }))
}

/** How far the nearest node is that the distance limit alone keeps out; null when there is none (CQ-073). */
export function nearestBeyond(look: Look, asked: Asked): number | null {
  if (asked.max_distance === null) return null
  return nearest(look, { ...asked, max_distance: null }, 1)[0]?.distance ?? null
}

/** Without one, the index ranks by minus the distance: this does the same, and so can be filtered. */
const BY_DISTANCE: PointScorer = { score: (_entry, distance) => -distance, bound: (_block, distance) => -distance }

/** Below every score there is. */
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

/** Filters that time does not change: rot (as the viewer remembers it), fields, and what the caller allows. Null: all pass. */
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

/** The index ends ties by entry key; callers shall see them by entry id, by code unit, and then by holder. */
function ordered({ reader }: Look, hits: readonly PointHit[], k: number): readonly PointHit[] {
  if (!hits.some((hit, at) => at > 0 && isTie(hit, hits[at - 1] as PointHit))) return hits.slice(0, k)
  const names = new Map(reader.identities(hits.map(hit => hit.entry)).map(one => [one.key, one]))
  const name = (entry: EntryKey) => names.get(entry) ?? { id: '', holder: '' }
  return [...hits].sort((a, b) => byPlace(a, b) || byName(name(a.entry), name(b.entry))).slice(0, k)
}

export function byPlace(a: Pick<PointHit, 'score' | 'distance'>, b: Pick<PointHit, 'score' | 'distance'>): number {
  return b.score - a.score || a.distance - b.distance
}

/** By code unit. */
export function byText(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}

function byName(a: { id: string; holder: string }, b: { id: string; holder: string }): number {
  return byText(a.id, b.id) || byText(a.holder, b.holder)
}

function isTie(a: PointHit, b: PointHit): boolean {
  return a.score === b.score && a.distance === b.distance
}
