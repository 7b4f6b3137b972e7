/** Makes the records that represent an entry in another search engine: one for each chunk. */
import { canonicalJson, sha256 } from '../base/canonical.ts'
import { type Chunk, type ChunkKey, chunkText, chunkTitle, type Entry } from '../model/entry.ts'
import type { Scalar } from '../model/filter.ts'
import { recordDate } from '../model/instant.ts'
import type { StoreReader } from '../store/store.ts'
import { payloadOf } from './mirrored.ts'

/** A record for another search engine, without its vector. */
export interface ChunkRecord {
  /** Id of the record in the other engine: a UUID computed from entry and chunk, so it is equal in every run. */
  readonly id: string
  readonly entry: { readonly id: string; readonly holder: string }
  readonly chunk: ChunkKey
  /** Fingerprint of the record, which changes when anything in the record changes. */
  readonly stamp: string
  /** The entry's whole content, in the record of its first chunk; null in the other records. */
  readonly document: string | null
  readonly tags: readonly string[]
  readonly payload: Readonly<Record<string, Scalar>>
}

export interface MirrorRecord extends Omit<ChunkRecord, 'chunk'> {
  readonly vector: Float32Array
  /** Whether the other engine already has a record with this id, which this one replaces. */
  readonly replaces: boolean
}

export interface RecordParts {
  readonly reader: StoreReader
  /** Name (not a secret) that identifies the embedding model whose vectors the records get. */
  readonly model: string
}

/** The records of an entry for another engine: one for each chunk, in the order of the chunks. */
export function chunkRecords(entry: Entry, { reader, model }: RecordParts): readonly ChunkRecord[] {
  return reader.chunksOf(entry.key).map(chunk => recordOf(entry, chunk, model, reader.storeId))
}

function recordOf(entry: Entry, chunk: Chunk, model: string, store: string): ChunkRecord {
  const { id, audience, title, content, tags, metadata } = entry
  const { holder } = audience
  const isHead = chunk.ordinal === 0
  const stamp = sha256(
    canonicalJson([
      ...[id, holder, title, tags, metadata, model],
      ...[chunkTitle(entry, chunk), chunkText(entry, chunk), isHead ? content : null],
    ]),
  ).slice(0, 32)
  const payload = payloadOf({ id, holder, title, tags, metadata }, { date: recordDate(metadata), stamp, store })
  return {
    id: recordId(id, holder, chunk.ordinal),
    entry: { id, holder },
    chunk: chunk.key,
    stamp,
    document: isHead ? content : null,
    tags,
    payload: { ...payload, querent_head: isHead },
  }
}

/**
 * Id of a record as a UUID (which Qdrant requires), computed from entry id, holder and chunk number, so that writing the record twice has
 * the effect of writing it once.
 */
function recordId(id: string, holder: string, ordinal: number): string {
  const hex = sha256(canonicalJson([id, holder, ordinal]))
  const parts = [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)]
  return parts.join('-')
}
