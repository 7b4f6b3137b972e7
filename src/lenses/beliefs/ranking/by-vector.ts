/**
 * Choosing by vectors and priors together. Of a hundred thousand matches, some hundred with the greatest priors are looked
 * at first; what the best of them come to is more than most others could reach with any cosine, and these are never read.
 */
import type { Hit, VectorIndex } from '../../../index/contract.ts'
import type { EntryKey } from '../../../model/entry.ts'
import type { Sight } from '../../../model/viewer.ts'
import type { BeliefColumns } from '../columns/columns.ts'
import type { Matches } from '../matching/matches.ts'
import type { BestRequest, Chooser, Meaning } from './choice.ts'
import type { PriorOrder } from './prior-order.ts'
import { topPlaces } from './top-places.ts'

/** So many rows are looked at first, or so many for each that is wanted. */
const GREAT = 400
const GREAT_PER_WANTED = 8
/** What single precision may make of a sum that is compared with another. */
const ROUNDING = 1e-6

export function byVector(request: BestRequest, { index, vector }: Extract<Meaning, { by: 'vector' }>): Chooser {
  const { columns, matches, sight, semanticWeight } = request
  const { partitions } = sight
  // final = weight · (cosine + 1) / 2 + prior; scores here are less by half of the weight.
  const weight = semanticWeight / 2
  const priorOrder = request.priorOrder()
  const { list, extra } = priorOrder
  const allow = priorOrder.allowed(matches)
  const pending = request.pending()
  const worthOfPending = worthOf(pending, priorOrder, matches, columns)

  return asked => {
    const beginning = endOfFirst(Math.max(GREAT, GREAT_PER_WANTED * asked))
    const above = greatest(asked, searchExtra(asked), search(0, beginning, asked, Number.NEGATIVE_INFINITY))
    const bar = lastOf(above, asked) - ROUNDING
    // No cosine lifts those behind this to the bar.
    const hits = greatest(asked, above, search(beginning, list.reach(bar - weight), asked, bar))
    const others = topPlaces(worthOfPending, asked)
    return {
      rows: [...hits.map(({ entry }) => columns.rowOf(entry)), ...others.places.map(at => pending[at] as number)],
      floor: Math.max(lastOf(hits, asked), others.floor) + weight,
      cosines: new Map(hits.map(({ entry, similarity }) => [entry, similarity as number])),
    }
  }

  function search(from: number, to: number, k: number, least: number): readonly Hit[] {
    return from >= to ? [] : index.search({ vector, k, partitions, allow, among: { list, weight, from, to }, least })
  }

  function searchExtra(k: number): readonly Hit[] {
    const to = extra.entries.length
    const among = { list: extra, weight, from: 0, to }
    return to === 0 ? [] : index.search({ vector, k, partitions, allow: matches.bits, among })
  }

  /** How far into the list so many matches reach. */
  function endOfFirst(count: number): number {
    if (allow === undefined) return Math.min(count, list.size)
    let at = 0
    for (let left = count; at < list.size && left > 0; at++) if (allow.has(list.entries[at] as EntryKey)) left--
    return at
  }
}

function greatest(k: number, some: readonly Hit[], others: readonly Hit[]): readonly Hit[] {
  if (others.length === 0) return some
  return [...some, ...others].sort((a, b) => b.score - a.score).slice(0, k)
}

/** What the last of so many comes to; less than anything where there are fewer. */
function lastOf(hits: readonly Hit[], asked: number): number {
  return hits.length < asked ? Number.NEGATIVE_INFINITY : (hits.at(-1)?.score as number)
}

/** Of rows without a vector: their cosine counts as 0. */
function worthOf(
  rows: readonly number[],
  priorOrder: PriorOrder,
  matches: Matches,
  columns: BeliefColumns,
): readonly number[] {
  if (rows.length === 0) return []
  const priors = new Map(priorOrder.of(matches))
  return rows.map(row => priors.get(columns.arrays.entries[row] as EntryKey) as number)
}

/** Rows of matches that the index has no vector of yet. Costs next to nothing where there are none. */
export function withoutVector(
  columns: BeliefColumns,
  matches: Matches,
  index: VectorIndex,
  { partitions }: Sight,
): readonly number[] {
  if (index.count({ partitions, allow: matches.bits }) === matches.count) return []
  const scope = { partitions: [...partitions] }
  return [...matches.rows].filter(row => !index.has(columns.arrays.entries[row] as EntryKey, scope))
}
