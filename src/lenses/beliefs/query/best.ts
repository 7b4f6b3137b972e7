/**
 * The first k of all matches in the total order, exactly. Single-precision sums choose somewhat more than are wanted, these
 * are scored in double precision, and where the choice was too close to call, more are chosen.
 */
import { TopK } from '../../../base/top-k.ts'
import type { VectorIndex } from '../../../index/contract.ts'
import type { EntryKey } from '../../../model/entry.ts'
import type { Sight } from '../../../model/viewer.ts'
import type { BeliefColumns } from '../record/columns.ts'
import type { Matches } from './matches.ts'
import { byOrder, type ScoredBelief } from './scored.ts'
import type { Scorer } from './scorer.ts'

/** How far apart a chosen and an exact number may be: single precision of numbers up to 2, several times over. */
export const NEAR = 1e-5
/** Chosen beyond what is wanted, so that ties at the end seldom need another round. */
const SPARE = 16

export interface BestRequest {
  readonly columns: BeliefColumns
  readonly matches: Matches
  readonly scorer: Scorer
  /** By place in the matches: see `Scorer.priors`. */
  readonly priors: Float64Array
  readonly sight: Sight
  readonly meaning: Meaning
  /** The weight of the semantic part. */
  readonly semanticWeight: number
}

/** Where cosines come from. */
export type Meaning =
  /** A question vector against the index; what has no vector there counts as 0. */
  | { readonly by: 'vector'; readonly index: VectorIndex; readonly vector: Float32Array }
  /** What stands in for a cosine, 0 to 1, by entry; absent: 0. */
  | { readonly by: 'words'; readonly likeness: ReadonlyMap<EntryKey, number> }
  /** List mode. */
  | { readonly by: 'nothing' }

/** Best first. */
export function best(request: BestRequest, k: number): readonly ScoredBelief[] {
  const wanted = Math.min(k, request.matches.count)
  if (wanted === 0) return []
  const chooser = chooserOf(request)
  for (let asked = wanted + SPARE; ; asked *= 4) {
    const { places, floor } = chooser(asked)
    const scored = exact(request, places).sort(byOrder).slice(0, wanted)
    const last = scored.at(-1)
    if (places.length >= request.matches.count || (last !== undefined && last.final > floor + NEAR)) return scored
  }
}

/** Exact scores of matches, by their places. */
export function exact(request: BestRequest, places: readonly number[]): ScoredBelief[] {
  const { columns, matches, scorer, meaning } = request
  const entryAt = (place: number) => columns.arrays.entries[matches.rows[place] as number] as EntryKey
  const cosines = cosinesOf(meaning, places.map(entryAt), request.sight)
  return places.map(place => {
    const cosine = cosines === null ? null : (cosines.get(entryAt(place)) ?? 0)
    return scorer.score(matches.rows[place] as number, matches.sources[place] as number, cosine)
  })
}

/** Null in list mode; entries without a vector are absent. */
export function cosinesOf(
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

/** So many places, and the number that none of the others is above (less what is `NEAR`). */
type Chooser = (asked: number) => { readonly places: readonly number[]; readonly floor: number }

function chooserOf(request: BestRequest): Chooser {
  const { meaning, semanticWeight, matches, priors, columns } = request
  const entryAt = (place: number) => columns.arrays.entries[matches.rows[place] as number] as EntryKey
  if (meaning.by === 'vector' && semanticWeight > 0) return byVector(request, meaning)
  if (meaning.by !== 'words') return asked => topPlaces(priors, asked)
  const worth = priors.map((prior, place) => {
    return prior + (semanticWeight * ((meaning.likeness.get(entryAt(place)) ?? 0) + 1)) / 2
  })
  return asked => topPlaces(worth, asked)
}

function byVector(
  { columns, matches, priors, sight, semanticWeight }: BestRequest,
  { index, vector }: Extract<Meaning, { by: 'vector' }>,
): Chooser {
  const { rows } = matches
  const { entries } = columns.arrays
  const { bits: allow } = matches
  const { partitions } = sight
  const scope = { partitions, allow }
  // final = weight · (cosine + 1) / 2 + prior
  const weight = semanticWeight / 2
  const values = new Float32Array(matches.lastEntry + 1)
  for (let place = 0; place < rows.length; place++) {
    values[entries[rows[place] as number] as number] = (priors[place] as number) + weight
  }
  const pending = withoutVector(columns, matches, index, vector, sight)
  const worthOfPending = pending.map(place => (priors[place] as number) + weight)
  return asked => {
    const hits = index.search({ vector, k: asked, ...scope, prior: { weight, values } })
    const found = hits.map(({ entry }) => matches.placeOf(columns.rowOf(entry)))
    const others = topPlaces(Float64Array.from(worthOfPending), asked)
    const floorOfHits =
      hits.length < asked ? Number.NEGATIVE_INFINITY : (hits.at(-1)?.score ?? Number.NEGATIVE_INFINITY)
    return {
      places: [...found, ...others.places.map(at => pending[at] as number)],
      floor: Math.max(floorOfHits, others.floor),
    }
  }
}

/** Places of matches that the index has no vector of yet. Costs next to nothing where there are none. */
export function withoutVector(
  columns: BeliefColumns,
  matches: Matches,
  index: VectorIndex,
  vector: Float32Array,
  { partitions }: Sight,
): readonly number[] {
  if (index.count({ partitions, allow: matches.bits }) === matches.count) return []
  const entries = Array.from(matches.rows, row => columns.arrays.entries[row] as EntryKey)
  const there = new Set(index.score(vector, entries, { partitions }, true).map(({ entry }) => entry))
  return entries.flatMap((entry, place) => (there.has(entry) ? [] : [place]))
}

function topPlaces(worth: Float64Array, asked: number): { readonly places: readonly number[]; readonly floor: number } {
  const top = new TopK<number>(asked, (a, b) => (worth[b] as number) - (worth[a] as number) || a - b)
  for (let place = 0; place < worth.length; place++) top.push(place)
  const places = top.sorted()
  const last = places.at(-1)
  const isAll = places.length === worth.length
  return { places, floor: isAll || last === undefined ? Number.NEGATIVE_INFINITY : (worth[last] as number) }
}
