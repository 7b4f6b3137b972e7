/** How near the messages of conversations are to a question in meaning. */
import type { VectorIndex } from '../../../index/contract.ts'
import type { EntryKey } from '../../../model/entry.ts'
import type { Moment } from './question.ts'
import type { Transcript } from './transcripts.ts'

/** Messages of one conversation that are compared exactly; where there are more, all are compared by their 8-bit vectors. */
const MAX_EXACT = 2_000

export interface Cosines {
  /** By message; NaN or absent: it has no vector. */
  readonly values: Float64Array
  /** The least of them; 0 where there is none. */
  readonly least: number
}

export interface MeaningQuery {
  readonly vectors: VectorIndex
  readonly vector: Float32Array
  /** What brings its cosines to the spread of MiniLM's. */
  readonly cosineScale: number
  /** Whether speed may cost the last digits. */
  readonly approximate: boolean
}

export const NO_COSINES: Cosines = { values: new Float64Array(0), least: 0 }

export function cosinesOf(
  { partition }: Transcript,
  moment: Moment,
  { vectors, vector, approximate }: MeaningQuery,
): Cosines {
  const entries = moment.said.map(({ entry }) => entry)
  const values = new Float64Array(entries.length).fill(Number.NaN)
  const placeOf = placesOf(moment)
  const isRough = approximate && entries.length > MAX_EXACT
  let least = Number.POSITIVE_INFINITY
  for (const { entry, score } of vectors.score(vector, entries, { partitions: [partition] }, isRough)) {
    const at = placeOf.get(entry)
    if (at === undefined) continue
    values[at] = score
    if (score < least) least = score
  }
  return { values, least: Number.isFinite(least) ? least : 0 }
}

const PLACES = new WeakMap<Moment, ReadonlyMap<EntryKey, number>>()

function placesOf(moment: Moment): ReadonlyMap<EntryKey, number> {
  const known = PLACES.get(moment)
  if (known !== undefined) return known
  const places = new Map(moment.said.map(({ entry }, at) => [entry, at]))
  PLACES.set(moment, places)
  return places
}
