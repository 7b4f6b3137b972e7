/**
 * How an entry lies in another engine: one record a chunk, with everything needed to give the entry back. The entry's
 * own metadata lie beside it too, as far as they are plain values, so that others can filter by them. Each partition has
 * a collection of its own there: what is hidden must not sit in a shared index.
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

/** What a collection there says of itself. */
export interface MirrorLabel {
  readonly querent_collection: string
  readonly querent_partition: string
  readonly querent_model: string
  /** Identity of the store that mirrors it. */
  readonly querent_store: string
}

/** Keys that are ours: they are not the record's own metadata. */
const OWN = 'querent_'
/** The latest instant there is: undated records are kept by a lower bound on the date. */
const UNDATED: Instant = 8.64e15

export const MIRRORED_DATE: NumericDate = { key: 'querent_date', unit: 'ms', undated: UNDATED }

/** The name of a partition's collection there: letters, digits, hyphen and underscore, the same every time. */
export function mirrorName(collection: string, partition: string): string {
  const readable = collection.replace(/[^A-Za-z0-9]+/g, '-').slice(0, 40)
  return `querent_${readable}_${sha256(canonicalJson([collection, partition])).slice(0, 16)}`
}

export interface MirrorMarks {
  /** Null for an undated one. */
  readonly date: Instant | null
  readonly stamp: string
  /** Identity of the store. */
  readonly store: string
}

/**
 * Plain values beside the record. Keys that are empty or begin with `$` or `#`, which ChromaDB refuses, are left out:
 * `querent_metadata` has them.
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

/** What a record there is known by, before it is replaced or removed; null where the record does not say it. */
export interface RecordThere {
  readonly stamp: string | null
  /** Identity of the store that put it; null for records of earlier versions. */
  readonly store: string | null
  readonly id: string | null
  readonly holder: string | null
}

/** The keys of a payload that `recordThere` reads. */
export const RECORD_KEYS: readonly string[] = ['querent_stamp', 'querent_store', 'querent_id', 'querent_holder']

export function recordThere(payload: Readonly<Record<string, unknown>>): RecordThere {
  const [stamp = null, store = null, id = null, holder = null] = RECORD_KEYS.map(key => {
    const value = payload[key]
    return typeof value === 'string' ? value : null
  })
  return { stamp, store, id, holder }
}

/** The record as it was before it was mirrored; one of another's making stays as it is. */
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

/** The best record of each entry, in the order given: nearest first. */
export function foldEntries(records: readonly SourceRecord[]): readonly SourceRecord[] {
  const seen = new Set<string>()
  return records.filter(({ id, holder }) => {
    const entry = entryKey(holder, id)
    if (seen.has(entry)) return false
    seen.add(entry)
    return true
  })
}

/** Which entry a payload is of, as a key: holders may share an id, in the public partition. */
export function entryOf(payload: Readonly<Record<string, unknown>> | null | undefined): string {
  return entryKey(payload?.['querent_holder'], payload?.['querent_id'])
}

/** The records with their texts, where they lack them: of an entry of several chunks only the first has it. */
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

/** Which entry, as a key for maps. */
export function entryKey(holder: unknown, id: unknown): string {
  return JSON.stringify([holder, id])
}

function isPlain(value: Json): value is Scalar {
  return (
    typeof value === 'string' || typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))
  )
}

/** Others keep tags as a list, or each as a key of its own. */
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
