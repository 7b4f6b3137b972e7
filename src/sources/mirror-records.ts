/** The records of an entry in another engine: one for each chunk. */
import { canonicalJson, sha256 } from '../base/canonical.ts'
import { type Chunk, type ChunkKey, chunkText, chunkTitle, type Entry } from '../model/entry.ts'
import type { Scalar } from '../model/filter.ts'
import { recordDate } from '../model/instant.ts'
import type { StoreReader } from '../store/store.ts'
import { payloadOf } from './mirrored.ts'

/** All of a record but its vector. */
export interface ChunkRecord {
  /** Of the record there: a UUID that is the same every time. */
  readonly id: string
  readonly entry: { readonly id: string; readonly holder: string }
  readonly chunk: ChunkKey
  /** Changes when anything of the record does. */
  readonly stamp: string
  /** The whole content, with the entry's first chunk only. */
  readonly document: string | null
  readonly tags: readonly string[]
  readonly payload: Readonly<Record<string, Scalar>>
}

export interface MirrorRecord extends Omit<ChunkRecord, 'chunk'> {
  readonly vector: Float32Array
  /** There is one of this id there. */
  readonly replaces: boolean
}

export interface RecordParts {
  readonly reader: StoreReader
  /** Key of the vectors. */
  readonly model: string
}

/** One for each chunk, by ordinal. */
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

/** A UUID, as Qdrant wants: made of what tells the record apart, so that putting it twice is putting it once. */
function recordId(id: string, holder: string, ordinal: number): string {
  const hex = sha256(canonicalJson([id, holder, ordinal]))
  const parts = [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)]
  return parts.join('-')
}
