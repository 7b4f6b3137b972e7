/** Which nodes a query brings, exactly: the best by score, or the nearest, of those that pass every filter (CQ-056 to CQ-065, CQ-098). */
import type { Bitset } from '../../../base/bitset.ts'
import type { PointHit, PointIndex, PointScorer } from '../../../index/contract.ts'
import type { EntryKey } from '../../../model/entry.ts'
import type { PartitionId } from '../../../model/partition.ts'
import type { Sight, Viewer } from '../../../model/viewer.ts'
import type { Store, StoreReader } from '../../../store/store.ts'
import type { MemoryColumns } from '../memory/columns.ts'
import type { EffectiveQuery } from '../model.ts'
import type { ChromaState } from '../state.ts'
import { NODES } from '../tables.ts'

export const POINTS = 'points'

/** One committed state of the store as a viewer sees it. Not to be kept beyond the read it was made in. */
export interface Look {
  readonly state: ChromaState
  readonly viewer: Viewer
  readonly reader: StoreReader
  readonly points: PointIndex
  readonly partitions: readonly PartitionId[]
  readonly columns: MemoryColumns
}

/** Everything that `body` reads belongs together; it must not wait for anything. */
export function looking<T>(state: ChromaState, { viewer, partitions }: Sight, body: (look: Look) => T): T {
  const { host, memories } = state
  return host.store.read(reader => {
    const points = host.index(POINTS) as PointIndex
    return body({ state, viewer, reader, points, partitions, columns: memories.of(viewer.id) })
  })
}

/** What is asked of the index: a query's geometry and filters. */
export type Asked = Pick<
  EffectiveQuery,
  'color' | 'max_distance' | 'temporal_range' | 'metadata_filters' | 'include_rotten' | 'score_weights' | 'now'
> & {
  /** Nothing but these, whatever else passes. */
  readonly allow?: Bitset | undefined
}

/** By score, then distance, then entry id; or by distance, then entry id. */
export type RankedBy = 'score' | 'distance'

/** The k best, in order; fewer where fewer pass. */
export function best(look: Look, asked: Asked, by: RankedBy, k: number): readonly PointHit[] {
  return ordered(look, search(look, asked, by === 'score' ? scorerOf(look, asked) : BY_DISTANCE, k), k)
}

/** How far the nearest node is that the distance limit alone keeps out; null when there is none (CQ-073). */
export function nearestBeyond(look: Look, asked: Asked): number | null {
  if (asked.max_distance === null) return null
  return best(look, { ...asked, max_distance: null }, 'distance', 1)[0]?.distance ?? null
}

/** Why a node does not come at all; null: it passes the filters. */
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
  if (broken.length > 0) return `It does not fulfil the condition on ${broken.map(([field]) => field).join(', ')}.`
  return null
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

/** The index ends ties by entry key, and brings all that tie with the last; requesters see them by entry id and holder, by code unit (CQ-065). */
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

/** By code unit. */
export function byText(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}

/** A test of nodes (CQ-057): created or last accessed, as stored before the query, within the closed interval. Asked of many, so it makes nothing. */
function passingTimes(look: Look, [start, end]: readonly [number, number]): (entry: EntryKey) => boolean {
  const { columns, reader, state } = look
  const { store } = state.host
  const created = TIMES.get(store) ?? new CreatedTimes()
  TIMES.set(store, created)
  const isWithin = (time: number) => start <= time && time <= end
  return entry => isWithin(columns.lastAccessed(entry)) || isWithin(created.of(reader, entry))
}

const TIMES = new WeakMap<Store, CreatedTimes>()

/** When nodes were created: it never changes and keys are never reused, so each is read once. 8 bytes a key. */
class CreatedTimes {
  #times = new Float64Array(1024).fill(Number.NaN)

  of(reader: StoreReader, entry: EntryKey): number {
    const known = this.#times[entry] ?? Number.NaN
    return Number.isNaN(known) ? this.#read(reader, entry) : known
  }

  #read(reader: StoreReader, entry: EntryKey): number {
    const created = Number(reader.table(NODES).get({ entry })?.['created_at'] ?? Number.NEGATIVE_INFINITY)
    if (entry >= this.#times.length) {
      const grown = new Float64Array(Math.max(entry + 1, this.#times.length * 2)).fill(Number.NaN)
      grown.set(this.#times)
      this.#times = grown
    }
    this.#times[entry] = created
    return created
  }
}
