/**
 * The first k of all matches in the total order, exactly. Single-precision sums choose somewhat more than are wanted, these
 * are scored in double precision, and where the choice was too close to call, more are chosen.
 */
import type { EntryKey } from '../../../model/entry.ts'
import type { Sight } from '../../../model/viewer.ts'
import type { BeliefColumns } from '../columns/columns.ts'
import type { Matches } from '../matching/matches.ts'
import { byVector } from './by-vector.ts'
import type { BestRequest, Chooser, Chosen, Meaning } from './choice.ts'
import type { PriorOrder } from './prior-order.ts'
import { byOrder, type ScoredBelief } from './scored.ts'
import { topPlaces } from './top-places.ts'

/** How far apart a chosen and an exact number may be: single precision of numbers up to 2, several times over. */
export const NEAR = 1e-5
/** Chosen beyond what is wanted, so that ties at the end seldom need another round. */
const SPARE = 8
/** So many rows are scored without choosing among them first. */
const FEW = 2_000
/** Whoever was asked for so many times as many as there are has named them all. */
const ENOUGH = 4
/** Rows that are scored between two looks at the clock, or in one step: a millisecond or two. */
export const SCORED_AT_ONCE = 500

/** Best first. */
export function best(request: BestRequest, k: number): readonly ScoredBelief[] {
  const wanted = Math.min(k, request.matches.count)
  if (wanted === 0) return []
  // Nearly all of a few: there is nothing to choose.
  if (request.matches.count <= Math.min(wanted + SPARE, FEW)) {
    return exact(request, [...request.matches.rows])
      .sort(byOrder)
      .slice(0, wanted)
  }
  const chooser = chooserOf(request)
  for (let asked = wanted + SPARE; ; asked *= 4) {
    request.time?.check()
    const { rows, floor, cosines } = chooser(asked)
    const scored = exact(request, rows, cosines).sort(byOrder).slice(0, wanted)
    const last = scored.at(-1)
    const { count } = request.matches
    if (rows.length >= count || (last !== undefined && last.final > floor + NEAR)) return scored
    if (asked > ENOUGH * count + SPARE) throw new Error('invariant broken: matches that no choice comes to')
  }
}

/** Exact scores of matches, by their rows. */
export function exact(
  { columns, matches, scorer, meaning, sight, time }: BestRequest,
  rows: readonly number[],
  known: ReadonlyMap<EntryKey, number> | null = null,
): ScoredBelief[] {
  const entryAt = (row: number) => columns.arrays.entries[row] as EntryKey
  const cosines = known ?? cosinesOf(meaning, rows.map(entryAt), sight)
  return rows.map((row, at) => {
    if (at % SCORED_AT_ONCE === 0) time?.check()
    const cosine = cosines === null ? null : (cosines.get(entryAt(row)) ?? 0)
    return scorer.score(row, matches.sourceOf(row), cosine)
  })
}

/** Null in list mode; entries without a vector are absent. */
function cosinesOf(
  meaning: Meaning,
  entries: readonly EntryKey[],
  { partitions }: Sight,
): ReadonlyMap<EntryKey, number> | null {
  switch (meaning.by) {
    case 'nothing':
      return null
    case 'words':
      return meaning.likeness
    case 'vector':
      return new Map(meaning.index.score(meaning.vector, entries, { partitions }).map(hit => [hit.entry, hit.score]))
  }
}

function chooserOf(request: BestRequest): Chooser {
  const { meaning, semanticWeight, matches, columns } = request
  if (meaning.by === 'vector' && semanticWeight > 0) return byVector(request, meaning)
  const priorOrder = request.priorOrder()
  if (meaning.by !== 'words') return asked => highest(priorOrder, matches, columns, asked)
  const worth = [...priorOrder.of(matches)].map(([entry, prior]) => {
    const likeness = meaning.likeness.get(entry) ?? 0
    return { entry, worth: prior + (semanticWeight * (likeness + 1)) / 2 }
  })
  return asked => top(worth, columns, asked)
}

/** Where meaning does not count: the beginning of the order by priors, as far as those reach that stand as high as the last wanted. */
function highest(priorOrder: PriorOrder, matches: Matches, columns: BeliefColumns, asked: number): Chosen {
  const { list } = priorOrder
  const allowed = priorOrder.allowed(matches)
  const found = [...priorOrder.extraOf(matches)].map(([entry, prior]) => ({ entry, worth: prior }))
  const wanted = found.length + asked
  for (let at = 0, end = list.size; at < end; at++) {
    const entry = list.entries[at] as EntryKey
    if (allowed !== undefined && !allowed.has(entry)) continue
    const prior = list.priors[at] as number
    if (found.push({ entry, worth: prior }) === wanted) end = list.reach(prior)
  }
  return top(found, columns, asked)
}

function top(
  found: readonly { readonly entry: EntryKey; readonly worth: number }[],
  columns: BeliefColumns,
  asked: number,
): Chosen {
  const { places } = topPlaces(
    found.map(({ worth }) => worth),
    asked,
  )
  const best = places.map(place => found[place] as (typeof found)[number])
  return {
    rows: best.map(({ entry }) => columns.rowOf(entry)),
    floor: best.length < asked ? Number.NEGATIVE_INFINITY : (best.at(-1)?.worth as number),
  }
}
