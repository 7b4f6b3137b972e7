/**
 * Choosing by vectors and priors together. Of a hundred thousand matches, some hundred with the greatest priors are looked
 * at first; what the best of them come to is more than most others could reach with any cosine, and these are never read.
 */
import type { Hit, VectorIndex } from '../../../index/contract.ts'
import type { EntryKey } from '../../../model/entry.ts'
import type { Sight } from '../../../model/viewer.ts'
import type { BeliefColumns } from '../record/columns.ts'
import type { BestRequest, Chooser, Meaning } from './choice.ts'
import type { Matches } from './matches.ts'
import type { Standing } from './standing.ts'
import { topPlaces } from './top-places.ts'

/** So many rows are looked at first, or so many for each that is wanted. */
const GREAT = 400
const GREAT_PER_WANTED = 8
/** What single precision may make of a sum that is compared with another. */
const ROUNDING = 1e-6

export function byVector(request: BestRequest, { index, vector }: Extract<Meaning, { by: 'vector' }>): Chooser {
  const { columns, matches, sight, semanticWeight } = request
  const { entries } = columns.arrays
  // final = weight · (cosine + 1) / 2 + prior
  const weight = semanticWeight / 2
  const standing = request.standing()
  const { values, listed } = roomFor(columns, matches.lastEntry + 1, standing.size)
  const pending = request.pending()
  const worthOfPending = worthOf(pending, standing, weight)

  return asked => {
    const great = Math.max(GREAT, GREAT_PER_WANTED * asked)
    const first = list(0, standing.size, great)
    const above = search(first.among, asked, Number.NEGATIVE_INFINITY)
    const bar = lastOf(above, asked)
    // No cosine lifts those behind this to the bar.
    const end = standing.reach(bar - 2 * weight - ROUNDING)
    const below = first.end >= end ? [] : search(list(first.end, end, matches.count).among, asked, bar - ROUNDING)
    const hits = below.length === 0 ? above : [...above, ...below].sort((a, b) => b.score - a.score).slice(0, asked)
    const others = topPlaces(worthOfPending, asked)
    return {
      rows: [...hits.map(({ entry }) => columns.rowOf(entry)), ...others.places.map(at => pending[at] as number)],
      floor: Math.max(lastOf(hits, asked), others.floor),
      cosines: new Map(hits.map(({ entry, similarity }) => [entry, similarity as number])),
    }
  }

  function search(among: Int32Array, k: number, least: number): readonly Hit[] {
    const { partitions } = sight
    return among.length === 0 ? [] : index.search({ vector, k, partitions, among, prior: { weight, values }, least })
  }

  /** Matches from here to there in the standing, at most so many; and how far that went. */
  function list(from: number, to: number, most: number): { readonly among: Int32Array; readonly end: number } {
    let count = 0
    let at = from
    for (; at < to && count < most; at++) {
      const row = standing.rows[at] as number
      if (!matches.has(row)) continue
      const entry = entries[row] as EntryKey
      values[entry] = (standing.priors[at] as number) + weight
      listed[count++] = entry
    }
    return { among: listed.slice(0, count), end: at }
  }
}

interface Room {
  /** By entry: means something for entries listed last alone. */
  readonly values: Float32Array
  readonly listed: Int32Array
}

const ROOMS = new WeakMap<BeliefColumns, Room>()

/** Memory for one search at a time, kept, since taking half a megabyte anew each time costs as much as listing. */
function roomFor(columns: BeliefColumns, entries: number, rows: number): Room {
  const known = ROOMS.get(columns)
  if (known !== undefined && known.values.length >= entries && known.listed.length >= rows) return known
  const room = { values: new Float32Array(entries * 1.25), listed: new Int32Array(rows * 1.25) }
  ROOMS.set(columns, room)
  return room
}

/** What the last of so many comes to; less than anything where there are fewer. */
function lastOf(hits: readonly Hit[], asked: number): number {
  return hits.length < asked ? Number.NEGATIVE_INFINITY : (hits.at(-1)?.score as number)
}

/** Of rows without a vector: their cosine counts as 0. */
function worthOf(rows: readonly number[], standing: Standing, weight: number): readonly number[] {
  if (rows.length === 0) return []
  const priors = new Map<number, number>()
  for (let at = 0; at < standing.size; at++) priors.set(standing.rows[at] as number, standing.priors[at] as number)
  return rows.map(row => (priors.get(row) as number) + weight)
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
