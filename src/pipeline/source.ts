/**
 * Where records come from: the local store, a collection in another engine, a peer. One contract for all, and one suite
 * (`test/suites/source-suite.ts`). A source is asked by vector over named collections and answers for each by itself: a
 * collection that fails is reported by name and keeps no other from answering. Asking never makes, changes or deletes
 * anything, never throws, and ends with the deadline.
 */
import type { JsonObject } from '../base/canonical.ts'
import type { Deadline } from '../base/clock.ts'
import type { EntryKey } from '../model/entry.ts'
import type { Scalar } from '../model/filter.ts'
import type { AccessScope } from '../model/viewer.ts'

export interface SourceRequest {
  /** What is kept by partition is read from these alone. */
  readonly accessScope: AccessScope
  /** Names, each once. */
  readonly collections: readonly string[]
  /** The question, for sources that search words too. */
  readonly text: string
  /** Null when nothing could embed the question: most sources then fail with `no_vector`. */
  readonly vector: Float32Array | null
  /** Records wanted of each collection, at least 1. */
  readonly limit: number
  /** All must hold. */
  readonly where: readonly SourceCondition[]
  /** One of these must be among the record's tags; none given, no condition. */
  readonly anyTags: readonly string[]
  readonly deadline: Deadline
}

/** On a top-level key of the metadata. Strict by type, as in a filter; a record without the key does not fulfil it. */
export type SourceCondition =
  | { readonly key: string; readonly op: 'eq'; readonly value: Scalar }
  | { readonly key: string; readonly op: 'gte' | 'lt'; readonly value: number }

/**
 * What a distance means: 1 − cosine, squared Euclidean, or 1 − inner product. For vectors of length 1 the cosine is
 * 1 − d, 1 − d/2 and 1 − d.
 */
export type Space = 'cosine' | 'l2' | 'ip'

export interface SourceRecord {
  readonly id: string
  /** Who holds it, where the source knows. */
  readonly holder: string | null
  /** A title kept beside the metadata, or null. */
  readonly title: string | null
  /** Null: the record has no text. */
  readonly content: string | null
  readonly tags: readonly string[]
  readonly metadata: JsonObject
  /** Null: the source did not say. */
  readonly distance: number | null
  /** Of the entry, where it is one of the embedded store. */
  readonly key?: EntryKey | undefined
}

export type SourceErrorCode =
  | 'collection_not_found'
  | 'dimension_mismatch'
  | 'unauthenticated'
  | 'timeout'
  | 'cancelled'
  /** Nobody answers at the address. */
  | 'unreachable'
  /** Something answers, but not in this engine's words. */
  | 'malformed_answer'
  | 'no_vector'
  /** The client of that engine is an optional package, and not installed. */
  | 'package_missing'
  | 'query_failed'

export interface SourceError {
  readonly code: SourceErrorCode
  /** Names the collection, and the sizes, status or address where they matter. Never a key. */
  readonly message: string
}

export interface CollectionAnswer {
  readonly collection: string
  readonly space: Space
  /** Nearest first. Beside an error: what came before it. */
  readonly records: readonly SourceRecord[]
  /** There are no more records than these, whatever the limit. */
  readonly exhausted: boolean
  /** How far the collection's vectors are from length 1, as far as looked at; null where it does not matter or is not known. */
  readonly deviation: number | null
  /** The key under which every record has its date as a number, or null. */
  readonly numericDate: NumericDate | null
  /** Null: all well. */
  readonly error: SourceError | null
}

export interface NumericDate {
  /** Of the metadata, as conditions name it. */
  readonly key: string
  readonly unit: 's' | 'ms'
  /** The value there in a record without a date; null: nothing does, so a condition on the key drops it. */
  readonly undated: number | null
}

export interface SourceAnswer {
  readonly source: string
  /** One for each collection asked, in that order. */
  readonly collections: readonly CollectionAnswer[]
  readonly ms: number
}

export interface Source {
  /** As configured: `LOCAL_SOURCE`, or a name of the user's. */
  readonly name: string
  readonly kind: SourceKind
  ask(request: SourceRequest): Promise<SourceAnswer>
  close(): Promise<void>
}

/** Name of the source that is this store itself. */
export const LOCAL_SOURCE = 'local'

export type SourceKind = 'local' | 'chromadb' | 'qdrant' | 'peer'

/** The answer of a collection that could not be asked. */
export function failedCollection(collection: string, error: SourceError): CollectionAnswer {
  return { ...NOTHING, collection, error }
}

const NOTHING = {
  space: 'cosine',
  records: [],
  exhausted: true,
  deviation: null,
  numericDate: null,
} as const
