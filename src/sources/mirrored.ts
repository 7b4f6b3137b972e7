/**
 * How an entry is represented in another search engine: one record per chunk, with everything needed to restore the entry. The entry's
 * metadata are stored as plain values too, as far as possible, so that other programs can filter by them. Each partition has a collection
 * of its own in the other engine, since a shared index must not contain hidden entries.
 */
import { canonicalJson, type Json, type JsonObject, sha256 } from '../base/canonical.ts'
import type { Instant } from '../base/clock.ts'
import { isRecord } from '../base/record.ts'
import type { Scalar } from '../model/filter.ts'
import type { NumericDate, SourceRecord } from '../pipeline/source.ts'

export interface MirroredEntry {
  readonly id: string
  readonly holder: string
  readonly title: string
  readonly tags: readonly string[]
  readonly metadata: JsonObject
}

/** The label (collection metadata) with which a mirrored collection in another engine describes itself. */
export interface MirrorLabel {
  readonly querent_collection: string
  readonly querent_partition: string
  readonly querent_model: string
  /** Identity of the store from which the collection was mirrored. */
  readonly querent_store: string
}

/** Prefix of the payload keys that this program adds to a record, to distinguish them from the entry's own metadata. */
const OWN = 'querent_'
/**
 * Date stored in records of entries without a date: the latest possible instant in ms, so that a search for records after a date includes
 * them.
 */
const UNDATED: Instant = 8.64e15

export const MIRRORED_DATE: NumericDate = { key: 'querent_date', unit: 'ms', undated: UNDATED }

/**
 * Name of a partition's collection in the other engine: letters, digits, hyphen and underscore, computed so that it is equal in every run.
 */
export function mirrorName(collection: string, partition: string): string {
  const readable = collection.replace(/[^A-Za-z0-9]+/g, '-').slice(0, 40)
  return `querent_${readable}_${sha256(canonicalJson([collection, partition])).slice(0, 16)}`
}

export interface MirrorMarks {
  /** Date of the entry; null: it has none. */
  readonly date: Instant | null
  readonly stamp: string
  /** Identity of the store from which the entry was mirrored. */
  readonly store: string
}

/**
 * Payload of a record as plain values. Metadata keys that are empty or begin with `$` or `#`, which ChromaDB refuses, are left out here,
 * but are contained in the JSON under `querent_metadata`.
 */
export function payloadOf(entry: MirroredEntry, { date, stamp, store }: MirrorMarks): Record<string, Scalar> {
  const { id, holder, title, tags, metadata } = entry
  const plain = Object.entries(metadata).filter((pair): pair is [string, Scalar] => isPlain(pair[1]))
  const given = Object.fromEntries(plain.filter(([key]) => !key.startsWith(OWN) && !/^(?:$|[$#])/.test(key)))
  return {
    ...(title === '' ? {} : { title }),
    ...given,
    querent_id: id,
    querent_holder: holder,
    querent_title: title,
    querent_tags: canonicalJson(tags),
    querent_metadata: canonicalJson(metadata),
    querent_date: date ?? UNDATED,
    querent_stamp: stamp,
    querent_store: store,
  }
}

/**
 * What is known of a record in the other engine, read before the record is replaced or removed. `stamp` is its fingerprint. Each field is
 * null where the record lacks it.
 */
export interface RecordThere {
  readonly stamp: string | null
  /** Identity of the store that wrote the record; null for records written by earlier versions. */
  readonly store: string | null
  readonly id: string | null
  readonly holder: string | null
}

/**
 * The payload keys from which `recordThere` reads, in this order, the record's fingerprint (stamp), the store's identity, and the entry's
 * id and holder.
 */
export const RECORD_KEYS: readonly string[] = ['querent_stamp', 'querent_store', 'querent_id', 'querent_holder']

export function recordThere(payload: Readonly<Record<string, unknown>>): RecordThere {
  const [stamp = null, store = null, id = null, holder = null] = RECORD_KEYS.map(key => {
    const value = payload[key]
    return typeof value === 'string' ? value : null
  })
  return { stamp, store, id, holder }
}

/** Restores the original entry's id, title, tags and metadata from a mirrored record; a record of another program is returned unchanged. */
export function recordFrom(
  id: string,
  content: string | null,
  payload: JsonObject,
  distance: number | null,
): SourceRecord {
  const { querent_id, querent_holder, querent_title, querent_tags, querent_metadata } = payload
  if (typeof querent_id !== 'string') {
    return { id, holder: null, title: null, content, tags: tagsIn(payload), metadata: payload, distance }
  }
  return {
    id: querent_id,
    holder: typeof querent_holder === 'string' ? querent_holder : null,
    title: typeof querent_title === 'string' ? querent_title : null,
    content,
    tags: textsOf(parsed(querent_tags)),
    metadata: objectOf(parsed(querent_metadata)),
    distance,
  }
}

/** Keeps for each entry the nearest of its records; the given order is nearest first. */
export function foldEntries(records: readonly SourceRecord[]): readonly SourceRecord[] {
  const seen = new Set<string>()
  return records.filter(({ id, holder }) => {
    const entry = entryKey(holder, id)
    if (seen.has(entry)) return false
    seen.add(entry)
    return true
  })
}

/**
 * A key for the entry to which a mirrored record belongs. It contains the holder, since several holders may use the same id in the public
 * partition.
 */
export function entryOf(payload: Readonly<Record<string, unknown>> | null | undefined): string {
  return entryKey(payload?.['querent_holder'], payload?.['querent_id'])
}

/** Adds texts to mirrored records that lack them: only the record of an entry's first chunk contains the entry's text. */
export function withTexts(
  records: readonly SourceRecord[],
  texts: ReadonlyMap<string, unknown>,
): readonly SourceRecord[] {
  return records.map(record => {
    const text = texts.get(entryKey(record.holder, record.id))
    return record.content === null && typeof text === 'string' ? { ...record, content: text } : record
  })
}

export function nearestFirst(records: readonly SourceRecord[]): readonly SourceRecord[] {
  return [...records].sort(
    (a, b) => (a.distance ?? Number.POSITIVE_INFINITY) - (b.distance ?? Number.POSITIVE_INFINITY),
  )
}

/** Key for an entry in maps, made of holder and id. */
export function entryKey(holder: unknown, id: unknown): string {
  return JSON.stringify([holder, id])
}

function isPlain(value: Json): value is Scalar {
  return (
    typeof value === 'string' || typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))
  )
}

/** Tags in a record's payload: other programs keep tags as a list, or each tag as a key `tag:<name>`. */
function tagsIn(payload: JsonObject): readonly string[] {
  const keys = Object.keys(payload).filter(key => key.startsWith('tag:') && payload[key] === true)
  const listed = textsOf(payload['tags'])
  return listed.length > 0 ? listed : keys.map(key => key.slice('tag:'.length)).sort()
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter(item => typeof item === 'string') : []
}

function parsed(value: unknown): unknown {
  try {
    return typeof value === 'string' ? JSON.parse(value) : null
  } catch {
    return null
  }
}

function objectOf(value: unknown): JsonObject {
  return isRecord(value) ? (value as JsonObject) : {}
}
