/** Computes the cosines of messages with a query's vector. */
import type { VectorSearcher } from '../../../index/contract.ts'
import type { EntryKey } from '../../../model/entry.ts'
import type { Moment } from './question.ts'
import type { Transcript } from './transcripts.ts'

/**
 * Largest total number of messages in the searched conversations at which every message is compared with the query's vector; with more,
 * each conversation compares only its likeliest messages.
 */
export const MAX_SCANNED = 10_000
/**
 * Number of messages compared by vector in each conversation when there are too many to compare all: this many nearest ones, and this many
 * that match the words best.
 */
export const LISTED = 200
/** Cosine that unrelated texts may reach by chance, on the scale of the model MiniLM, where cosines of unrelated texts are 0 ± 0.13. */
export const CHANCE = 0.1
/**
 * Number of messages up to which cosines are computed from exact vectors; cosines of more messages use 8-bit vectors where approximation is
 * allowed.
 */
const MAX_EXACT = 2_000

export interface Cosines {
  /** Cosine of each message with the query, by position; NaN or absent: the message has no vector or was not compared. */
  readonly values: Float64Array
  /** The cosine that counts as no similarity at all; scores use the difference from it. */
  readonly least: number
  /** Positions of the messages that were compared with the query's vector; null: all were. */
  readonly listed: ReadonlySet<number> | null
}

export interface MeaningQuery {
  readonly vectors: VectorSearcher
  readonly vector: Float32Array
  /** Factor that converts cosines of the model in use to the scale of the model MiniLM. */
  readonly cosineScale: number
  /** Whether cosines may be approximate (computed from 8-bit vectors). */
  readonly approximate: boolean
  /** Whether every message is compared with the query's vector, rather than only the likeliest of each conversation. */
  readonly isScan: boolean
}

export const NO_COSINES: Cosines = { values: new Float64Array(0), least: 0, listed: null }

export function cosinesOf(transcript: Transcript, moment: Moment, words: Float64Array, asked: MeaningQuery): Cosines {
  return asked.isScan ? scanned(transcript, moment, asked) : listed(transcript, moment, words, asked)
}

function scanned(transcript: Transcript, moment: Moment, asked: MeaningQuery): Cosines {
  const entries = moment.said.map(({ entry }) => entry)
  const values = valuesOf(transcript, moment, entries, asked)
  // The cosine that counts as no similarity is the lowest one in the conversation, but at most the one that unrelated texts reach by chance
  // (CHANCE): in a short conversation every message, even the only one, may be near the query.
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

/** Positions of the `count` largest values above 0, largest first; of equal values, the earlier position first. */
function bestOf(values: Float64Array, count: number): readonly number[] {
  const places = [...values.keys()].filter(at => (values[at] as number) > 0)
  return places.sort((a, b) => (values[b] as number) - (values[a] as number) || a - b).slice(0, count)
}
