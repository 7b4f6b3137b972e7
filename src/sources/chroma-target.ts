/** Mirrors a collection to a ChromaDB server. */
import type { Collection, Metadata } from 'chromadb'
import {
  type ChromaAddress,
  chromaFailure,
  findCollection,
  openChromaClient,
  requireDatabase,
} from './chroma-client.ts'
import { RecordsRefused } from './failure.ts'
import type { MirrorCollection, MirrorTarget } from './mirror.ts'
import type { MirrorRecord } from './mirror-records.ts'
import { type RecordThere, recordThere } from './mirrored.ts'

/**
 * Largest number of records in one request: below the smallest limit found on a ChromaDB server (5,461), and small enough for one message.
 */
const BATCH = 500
const PAGE = 1_000

export function chromaTarget(address: ChromaAddress, signal: AbortSignal): MirrorTarget {
  const { url } = address
  return {
    batch: BATCH,
    find: (name, dimensions) =>
      failuresOf(name, url, dimensions, async () => {
        const collection = await findCollection(await openChromaClient(address, signal), name)
        if (collection === null) await requireDatabase(address, name, signal)
        return collection === null ? null : collectionThere(collection, url, dimensions)
      }),
    open: (name, label, dimensions) =>
      failuresOf(name, url, dimensions, async () => {
        const client = await openChromaClient(address, signal)
        const collection = await client.getOrCreateCollection({
          name,
          metadata: { ...label },
          configuration: { hnsw: { space: 'cosine' } },
          embeddingFunction: null as never,
        })
        return collectionThere(collection, url, dimensions)
      }),
  }
}

function collectionThere(collection: Collection, url: string, dimensions: number): MirrorCollection {
  const call = <T>(body: () => Promise<T>): Promise<T> => failuresOf(collection.name, url, dimensions, body)
  return {
    label: collection.metadata ?? {},
    records: () =>
      call(async () => {
        const records = new Map<string, RecordThere>()
        for (let offset = 0; ; offset += PAGE) {
          const { ids, metadatas } = await collection.get({ limit: PAGE, offset, include: ['metadatas'] })
          for (const [at, id] of ids.entries()) records.set(id, recordThere(metadatas[at] ?? {}))
          if (ids.length < PAGE) return records
        }
      }),
    put: records => call(() => put(collection, records)),
    remove: ids => call(async () => void (await collection.delete({ ids: [...ids] }))),
  }
}

/**
 * Writes records to ChromaDB, whose update keeps old metadata keys that the new version of a record lacks. A record that lost a key is
 * therefore deleted and written again. Before that, it is updated once with an empty stamp (fingerprint), which tests whether the server
 * accepts it and marks it as incomplete.
 */
async function put(collection: Collection, records: readonly MirrorRecord[]): Promise<void> {
  const replaced = records.filter(({ replaces }) => replaces).map(({ id }) => id)
  const before = replaced.length === 0 ? null : await collection.get({ ids: replaced, include: ['metadatas'] })
  const keys = new Map(before?.ids.map((id, at) => [id, Object.keys(before.metadatas[at] ?? {})]))
  const lessened = records.filter(record => {
    const now = metadataOf(record)
    return keys.get(record.id)?.some(key => !Object.hasOwn(now, key))
  })
  const passing = lessened.map(record => ({ ...record, payload: { ...record.payload, querent_stamp: '' } }))
  await upsert(collection, [...records.filter(record => !lessened.includes(record)), ...passing])
  if (lessened.length === 0) return
  await collection.delete({ ids: lessened.map(({ id }) => id) })
  await upsert(collection, lessened)
}

async function upsert(collection: Collection, records: readonly MirrorRecord[]): Promise<void> {
  const [heads, others] = [records.filter(hasDocument), records.filter(record => !hasDocument(record))]
  try {
    if (heads.length > 0) await collection.upsert({ ...asArgs(heads), documents: heads.map(head => head.document) })
    if (others.length > 0) await collection.upsert(asArgs(others))
  } catch (thrown) {
    throw isRefusal(thrown) ? new RecordsRefused((thrown as Error).message, thrown) : thrown
  }
}

/**
 * Whether an error means that the server refuses the records themselves: HTTP status 400, 413 or 422, or an error of the client library. A
 * wrong vector size is no such refusal, since it concerns the whole collection.
 */
function isRefusal(thrown: unknown): boolean {
  if (!(thrown instanceof Error) || /dimension/i.test(thrown.message)) return false
  const { name, message } = thrown
  if (name === 'ChromaServerError') return /^413\b|too large|length limit/i.test(message)
  return ['ChromaClientError', 'ChromaValueError', 'ChromaQuotaExceededError'].includes(name)
}

function hasDocument(record: MirrorRecord): record is MirrorRecord & { readonly document: string } {
  return record.document !== null
}

function asArgs(records: readonly MirrorRecord[]): { ids: string[]; embeddings: number[][]; metadatas: Metadata[] } {
  return {
    ids: records.map(({ id }) => id),
    embeddings: records.map(({ vector }) => [...vector]),
    metadatas: records.map(metadataOf),
  }
}

function metadataOf({ payload, tags }: MirrorRecord): Metadata {
  return { ...payload, ...Object.fromEntries(tags.map(tag => [`tag:${tag}`, true])) }
}

async function failuresOf<T>(name: string, url: string, dimensions: number, body: () => Promise<T>): Promise<T> {
  try {
    return await body()
  } catch (thrown) {
    throw chromaFailure(thrown, name, url, dimensions)
  }
}
