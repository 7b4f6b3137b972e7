/**
 * Sources of records: the local store, a collection in another engine, a peer. They share one contract and one test suite
 * (`test/suites/source-suite.ts`). A source is searched by vector over named collections and answers separately for each: a collection that
 * fails is reported by name and does not prevent the others from answering. A search never creates, changes or deletes anything, never
 * throws, and ends with the deadline.
 */
import type { JsonObject } from '../base/canonical.ts'
import type { Deadline } from '../base/clock.ts'
import type { EntryKey } from '../model/entry.ts'
import type { Scalar } from '../model/filter.ts'
import type { AccessScope } from '../model/viewer.ts'

export interface SourceRequest {
  /** Data kept by partition is read only from these partitions. */
  readonly accessScope: AccessScope
  /** Names of the collections, without duplicates. */
  readonly collections: readonly string[]
  /** Text of the query, for sources that search words too. */
  readonly text: string
  /** Vector of the query; null when nothing could embed it: most sources then fail with `no_vector`. */
  readonly vector: Float32Array | null
  /** Number of records wanted from each collection, at least 1. */
  readonly limit: number
  /** Conditions on metadata that must all hold. */
  readonly where: readonly SourceCondition[]
  /** Tags of which the record must have at least one; empty: no condition. */
  readonly anyTags: readonly string[]
  readonly deadline: Deadline
}

/** Condition on a top-level key of the metadata. Strict by type, as in a filter; a record without the key does not meet it. */
export type SourceCondition =
  | { readonly key: string; readonly op: 'eq'; readonly value: Scalar }
  | { readonly key: string; readonly op: 'gte' | 'lt'; readonly value: number }

/**
 * Meaning of a distance: 1 − cosine, squared Euclidean, or 1 − inner product. For vectors of length 1 the cosine is 1 − d, 1 − d/2 and 1 −
 * d.
 */
export type Space = 'cosine' | 'l2' | 'ip'

export interface SourceRecord {
  readonly id: string
  /** Holder of the record, where the source knows it. */
  readonly holder: string | null
  /** A title stored apart from the metadata, or null. */
  readonly title: string | null
  /** Text of the record; null: the record has none. */
  readonly content: string | null
  readonly tags: readonly string[]
  readonly metadata: JsonObject
  /** Distance from the query; null: the source gave none. */
  readonly distance: number | null
  /** Entry key, for a record of the embedded store. */
  readonly key?: EntryKey | undefined
}

export type SourceErrorCode =
  | 'collection_not_found'
  | 'dimension_mismatch'
  | 'unauthenticated'
  | 'timeout'
  | 'cancelled'
  /** Error code: no server answers at the address. */
  | 'unreachable'
  /** Error code: a server answers, but not with this engine's protocol. */
  | 'malformed_answer'
  | 'no_vector'
  /** Error code: the client of that engine is an optional package, and is not installed. */
  | 'package_missing'
  | 'query_failed'

export interface SourceError {
  readonly code: SourceErrorCode
  /** Message that names the collection, and sizes, status or address where they matter. Never a key. */
  readonly message: string
}

export interface CollectionAnswer {
  readonly collection: string
  readonly space: Space
  /** Records, nearest first. With an error: those found before it. */
  readonly records: readonly SourceRecord[]
  /** Whether there are no more records than these, whatever the limit. */
  readonly exhausted: boolean
  /** Largest deviation of the collection's vectors from length 1, among those examined; null where it does not matter or is unknown. */
  readonly deviation: number | null
  /** The metadata key under which every record has its date as a number, or null. */
  readonly numericDate: NumericDate | null
  /** Why the collection failed; null: it did not. */
  readonly error: SourceError | null
}

export interface NumericDate {
  /** Metadata key, as conditions name it. */
  readonly key: string
  readonly unit: 's' | 'ms'
  /** Value of the key in a record without a date; null: such a record lacks the key, so a condition on it excludes the record. */
  readonly undated: number | null
}

export interface SourceAnswer {
  readonly source: string
  /** One answer for each requested collection, in that order. */
  readonly collections: readonly CollectionAnswer[]
  readonly ms: number
}

export interface Source {
  /** Name of the source as configured: `LOCAL_SOURCE`, or one chosen by the user. */
  readonly name: string
  readonly kind: SourceKind
  ask(request: SourceRequest): Promise<SourceAnswer>
  close(): Promise<void>
}

/** Name of the source that is this store itself. */
export const LOCAL_SOURCE = 'local'

export type SourceKind = 'local' | 'chromadb' | 'qdrant' | 'peer'

/** The answer of a collection that could not be searched. */
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
