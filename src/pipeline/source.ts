/**
 * Contract of a source of records: the local store, a collection in another search engine, or another node (peer). All sources pass the
 * same test suite (`test/suites/source-suite.ts`). A source is searched by vector over named collections and answers separately for each: a
 * collection that fails is reported by name and does not prevent the others from answering. A search never creates, changes or deletes
 * anything, never throws, and ends with the deadline.
 */
import type { JsonObject } from '../base/canonical.ts'
import type { Deadline } from '../base/clock.ts'
import type { EntryKey } from '../model/entry.ts'
import type { Scalar } from '../model/filter.ts'
import type { AccessScope } from '../model/viewer.ts'

export interface SourceRequest {
  /**
   * The viewer who searches, with the partitions (sets of entries with equal access rights) that the viewer may see. A source that keeps
   * its data by partition reads only these.
   */
  readonly accessScope: AccessScope
  /** Names of the collections to search, each once. */
  readonly collections: readonly string[]
  /** Text of the query, for sources that search words too. */
  readonly text: string
  /** Vector of the query; null when no embedding model was available: most sources then fail with `no_vector`. */
  readonly vector: Float32Array | null
  /** Number of records wanted from each collection, at least 1. */
  readonly limit: number
  /** Conditions on a record's metadata that must all hold. */
  readonly where: readonly SourceCondition[]
  /** Tags of which a record must have at least one; empty: no condition on tags. */
  readonly anyTags: readonly string[]
  readonly deadline: Deadline
}

/**
 * Condition on a top-level key of a record's metadata. The value's type must be equal too, as in a filter; a record without the key does
 * not meet the condition.
 */
export type SourceCondition =
  | { readonly key: string; readonly op: 'eq'; readonly value: Scalar }
  | { readonly key: string; readonly op: 'gte' | 'lt'; readonly value: number }

/**
 * What the distance d of two vectors means in a source: `cosine`: 1 − cosine; `l2`: squared Euclidean distance; `ip`: 1 − inner product.
 * For vectors of length 1, the cosine is 1 − d, 1 − d/2 and 1 − d.
 */
export type Space = 'cosine' | 'l2' | 'ip'

export interface SourceRecord {
  readonly id: string
  /** Holder (owner) of the record; null: the source does not know it. */
  readonly holder: string | null
  /** Title of the record where the source stores it apart from the metadata; otherwise null. */
  readonly title: string | null
  /** Text of the record; null: the record has none. */
  readonly content: string | null
  readonly tags: readonly string[]
  readonly metadata: JsonObject
  /** Distance between the record's vector and the query's; null: the source did not give one. */
  readonly distance: number | null
  /** Key of the entry in the local store; absent for records of other sources. */
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
  /** Error code: a server answers at the address, but not with the expected engine's protocol. */
  | 'malformed_answer'
  | 'no_vector'
  /** Error code: the client library of the other engine is an optional npm package, and is not installed. */
  | 'package_missing'
  | 'query_failed'

export interface SourceError {
  readonly code: SourceErrorCode
  /**
   * Error message that names the collection, and vector sizes, HTTP status or address where they matter. It never contains an access key.
   */
  readonly message: string
}

export interface CollectionAnswer {
  readonly collection: string
  readonly space: Space
  /** Records found, nearest first. Where `error` is set: those found before the error. */
  readonly records: readonly SourceRecord[]
  /** Whether the collection has no other matching records than these, so that a higher limit would find no more. */
  readonly exhausted: boolean
  /** Largest deviation from length 1 among the examined vectors of the collection; null where the length does not matter or is unknown. */
  readonly deviation: number | null
  /** The metadata key under which every record of the collection has its date as a number; null: there is no such key. */
  readonly numericDate: NumericDate | null
  /** Why the search of the collection failed; null: it did not fail. */
  readonly error: SourceError | null
}

export interface NumericDate {
  /** Metadata key that contains the date of a record, named as in conditions. */
  readonly key: string
  readonly unit: 's' | 'ms'
  /**
   * Value of the date key in a record without a date. Null: a record without a date lacks the key, so a condition on the date excludes the
   * record.
   */
  readonly undated: number | null
}

export interface SourceAnswer {
  readonly source: string
  /** One answer for each requested collection, in the order requested. */
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

/** Name of the source that is the local store. */
export const LOCAL_SOURCE = 'local'

export type SourceKind = 'local' | 'chromadb' | 'qdrant' | 'peer'

/** The answer for a collection that could not be searched: no records, and the error. */
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
