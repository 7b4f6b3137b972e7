/** The nearest nodes, whatever memory says of them (CQ-130): rows and access as in a query. */
import type { Viewer } from '../../../model/viewer.ts'
import { invalidParameter } from '../errors.ts'
import { type DetailedAnswer, type QueryOptions, queryOptions } from '../model.ts'
import { retrying } from '../retry.ts'
import { type ChromaState, secondsNow } from '../state.ts'
import { looking } from './look.ts'
import { prepare } from './prepare.ts'
import { rowsOf } from './ranked.ts'
import { noneWithin, recordAccess } from './run-query.ts'
import { nearest } from './search.ts'

export type KnnOptions = Pick<QueryOptions, 'k' | 'maxDistance' | 'includeRotten' | 'updateAccess'>

export const knnOptions = queryOptions.pick({ k: true, max_distance: true, include_rotten: true, update_access: true })

export async function runKnn(
  state: ChromaState,
  viewer: Viewer,
  hashtags: unknown,
  options: KnnOptions,
): Promise<DetailedAnswer> {
  // A text is for profiles, and this has none.
  if (!Array.isArray(hashtags)) throw invalidParameter('hashtags', hashtags, 'a list of hashtags')
  const { query } = await prepare(state, viewer, hashtags, options, secondsNow(state.host))
  const { ranked, warnings } = await retrying(
    () =>
      looking(state, viewer, look => {
        const found = rowsOf(look, nearest(look, query, query.k), query.now)
        return { ranked: found, warnings: found.length > 0 ? [] : noneWithin(look, query) }
      }),
    state.sleep,
  )
  const told = await recordAccess(state, viewer, ranked, query)
  return { results: ranked.map(({ row }) => row), query, warnings: [...warnings, ...told] }
}
