/** A query from its text or tags to its rows, phase by phase in the seed's order (CQ-055). */
import type { Viewer } from '../../../model/viewer.ts'
import { placed } from '../errors.ts'
import type { DetailedAnswer, EffectiveQuery, QueryOptions, Warning } from '../model.ts'
import { retrying } from '../retry.ts'
import { type ChromaState, secondsNow } from '../state.ts'
import { bestByBlend } from './blend.ts'
import { type Look, looking } from './look.ts'
import { type Prepared, prepare } from './prepare.ts'
import { type Ranked, rowsOf } from './ranked.ts'
import { bestByScore, nearestBeyond } from './search.ts'

/** One of the two, and options: checked. */
export type CheckedItem = QueryOptions & {
  readonly hashtags?: readonly string[] | undefined
  readonly input?: string | undefined
}

/** Ranked and cut to k, before anything was written. */
interface Found extends Prepared {
  readonly ranked: readonly Ranked[]
}

export async function runQuery(
  state: ChromaState,
  viewer: Viewer,
  input: unknown,
  options: QueryOptions,
): Promise<DetailedAnswer> {
  const found = await find(state, viewer, await prepare(state, viewer, input, options, secondsNow(state.host)))
  return finish(state, await withAccess(state, viewer, found))
}

/**
 * CQ-101, CQ-102: all items are checked, then all ranked, then their accesses written in order; or none of it. `check` may
 * refuse an item; the first one that is wrong in any way is reported.
 */
export async function runBatch(
  state: ChromaState,
  viewer: Viewer,
  items: readonly unknown[],
  check: (item: unknown) => CheckedItem,
): Promise<readonly DetailedAnswer[]> {
  const now = secondsNow(state.host)
  const prepared: Prepared[] = []
  for (const [at, item] of items.entries()) {
    try {
      const { hashtags, input, ...options } = check(item)
      prepared.push(await prepare(state, viewer, hashtags ?? input, options, now))
    } catch (error) {
      throw placed(error, `queries[${at}]`, { batch_index: at })
    }
  }
  const found: Found[] = []
  for (const one of prepared) found.push(await find(state, viewer, one))
  const updated: Found[] = []
  for (const one of found) updated.push(await withAccess(state, viewer, one))
  return Promise.all(updated.map(one => finish(state, one)))
}

/** Phase 9. With nothing returned, or by request, nothing is written. */
export async function recordAccess(
  state: ChromaState,
  viewer: Viewer,
  ranked: readonly Ranked[],
  { now, update_access }: Pick<EffectiveQuery, 'now' | 'update_access'>,
): Promise<readonly Warning[]> {
  if (!update_access || ranked.length === 0) return []
  const entries = ranked.map(({ entry }) => entry)
  return retrying(() => state.access.record(viewer.id, entries, now), state.sleep)
}

/** Phases 4 to 8. */
async function find(state: ChromaState, viewer: Viewer, prepared: Prepared): Promise<Found> {
  const { query } = prepared
  const custom = state.profiles.customScoring(query.profile, query)
  if (custom !== null) {
    const ranked = await bestByBlend(state, viewer, query, custom)
    return withWarnings({ ...prepared, ranked }, [...custom.warnings, ...(await emptied(state, viewer, query, ranked))])
  }
  return retrying(
    () =>
      looking(state, viewer, look => {
        const ranked = rowsOf(look, bestByScore(look, query, query.k), query.now)
        return withWarnings({ ...prepared, ranked }, ranked.length > 0 ? [] : noneWithin(look, query))
      }),
    state.sleep,
  )
}

async function emptied(
  state: ChromaState,
  viewer: Viewer,
  query: EffectiveQuery,
  ranked: readonly Ranked[],
): Promise<readonly Warning[]> {
  if (ranked.length > 0) return []
  return retrying(() => looking(state, viewer, look => noneWithin(look, query)), state.sleep)
}

/** CQ-073. */
export function noneWithin(look: Look, query: EffectiveQuery): readonly Warning[] {
  const distance = nearestBeyond(look, query)
  if (distance === null) return []
  const message = `no node lies within ${query.max_distance}; the nearest that passes the filters is ${distance.toFixed(3)} away`
  return [{ code: 'no_results_within_distance', message, details: { nearest_distance: distance } }]
}

async function withAccess(state: ChromaState, viewer: Viewer, found: Found): Promise<Found> {
  return withWarnings(found, await recordAccess(state, viewer, found.ranked, found.query))
}

/** Phases 10 and 11. */
async function finish(state: ChromaState, found: Found): Promise<DetailedAnswer> {
  const { query, ranked, warnings } = found
  const rows = ranked.map(({ row }) => row)
  const context = { query, state: found.state, now: query.now }
  const post = await state.profiles.postProcess(query.profile, rows, context)
  return { results: post.rows, query, warnings: [...warnings, ...post.warnings] }
}

function withWarnings(found: Found, warnings: readonly Warning[]): Found {
  return warnings.length === 0 ? found : { ...found, warnings: [...found.warnings, ...warnings] }
}
