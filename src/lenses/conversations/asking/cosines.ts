/** How near the messages of conversations are to a question in meaning. */
import type { VectorSearcher } from '../../../index/contract.ts'
import type { EntryKey } from '../../../model/entry.ts'
import type { Moment } from './question.ts'
import type { Transcript } from './transcripts.ts'

/** Messages of all asked conversations together that are looked at one by one; of more only the nearest are. */
export const MAX_SCANNED = 10_000
/** Beyond that, of each conversation: the nearest, and those with the best words. */
export const LISTED = 200
/** At MiniLM's spread: texts that have nothing to do with each other have a cosine of 0 ± 0.13. */
export const CHANCE = 0.1
/** So many are compared exactly, more by their 8-bit vectors. */
const MAX_EXACT = 2_000

export interface Cosines {
  /** By message; NaN or absent: it has no vector, or is not among the best. */
  readonly values: Float64Array
  /** The cosine that counts as no meaning at all. */
  readonly least: number
  /** Messages that count at all; null: all do. */
  readonly listed: ReadonlySet<number> | null
}

export interface MeaningQuery {
  readonly vectors: VectorSearcher
  readonly vector: Float32Array
  /** What brings its cosines to the spread of MiniLM's. */
  readonly cosineScale: number
  /** Whether speed may cost the last digits. */
  readonly approximate: boolean
  /** Whether all messages are looked at. */
  readonly isScan: boolean
}

export const NO_COSINES: Cosines = { values: new Float64Array(0), least: 0, listed: null }

export function cosinesOf(transcript: Transcript, moment: Moment, words: Float64Array, asked: MeaningQuery): Cosines {
  return asked.isScan ? scanned(transcript, moment, asked) : listed(transcript, moment, words, asked)
}

function scanned(transcript: Transcript, moment: Moment, asked: MeaningQuery): Cosines {
  const entries = moment.said.map(({ entry }) => entry)
  const values = valuesOf(transcript, moment, entries, asked)
  // The least of the conversation, but never more than chance: the one message of a short conversation may be near, too.
  let least = CHANCE / asked.cosineScale
  for (const value of values) if (value < least) least = value
  return { values, least, listed: null }
}

function listed(transcript: Transcript, moment: Moment, words: Float64Array, asked: MeaningQuery): Cosines {
  const { vectors, vector, approximate } = asked
  const placeOf = placesOf(moment)
  const scope = { partitions: [transcript.partition], allow: transcript.entries }
  const hits = vectors.search({ ...scope, vector, k: LISTED, approximate })
  const near = hits.flatMap(({ entry }) => placeOf.get(entry) ?? [])
  const places = new Set([...bestOf(words, LISTED), ...near])
  const entries = [...places].sort((a, b) => a - b).map(at => (moment.said[at] as { entry: EntryKey }).entry)
  return { values: valuesOf(transcript, moment, entries, asked), least: 0, listed: places }
}

function valuesOf(
  { partition }: Transcript,
  moment: Moment,
  entries: readonly EntryKey[],
  { vectors, vector, approximate }: MeaningQuery,
): Float64Array {
  const values = new Float64Array(moment.said.length).fill(Number.NaN)
  const placeOf = placesOf(moment)
  const isRough = approximate && entries.length > MAX_EXACT
  for (const { entry, score } of vectors.score(vector, entries, { partitions: [partition] }, isRough)) {
    const at = placeOf.get(entry)
    if (at !== undefined) values[at] = score
  }
  return values
}

const PLACES = new WeakMap<Moment, ReadonlyMap<EntryKey, number>>()

export function placesOf(moment: Moment): ReadonlyMap<EntryKey, number> {
  const known = PLACES.get(moment)
  if (known !== undefined) return known
  const places = new Map(moment.said.map(({ entry }, at) => [entry, at]))
  PLACES.set(moment, places)
  return places
}

/** Places of the greatest numbers above 0; of equal ones the earlier. */
function bestOf(values: Float64Array, count: number): readonly number[] {
  const places = [...values.keys()].filter(at => (values[at] as number) > 0)
  return places.sort((a, b) => (values[b] as number) - (values[a] as number) || a - b).slice(0, count)
}
