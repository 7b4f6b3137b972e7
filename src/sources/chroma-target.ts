/** A ChromaDB server as the place to mirror to. */
import type { Collection, Metadata } from 'chromadb'
import { type ChromaAddress, chromaFailure, openChromaClient } from './chroma-client.ts'
import type { MirrorCollection, MirrorRecord, MirrorTarget } from './mirror.ts'

/** Below the smallest limit of a server that was met (5,461), and small enough for one message. */
const BATCH = 500
const PAGE = 1_000

export function chromaTarget(address: ChromaAddress, signal: AbortSignal): MirrorTarget {
  return {
    batch: BATCH,
    open: (name, label, dimensions) =>
      told(name, address.url, dimensions, async () => {
        const client = await openChromaClient(address, signal)
        const collection = await client.getOrCreateCollection({
          name,
          metadata: { ...label },
          configuration: { hnsw: { space: 'cosine' } },
          embeddingFunction: null as never,
        })
        return collectionThere(collection, address.url, dimensions)
      }),
  }
}

function collectionThere(collection: Collection, url: string, dimensions: number): MirrorCollection {
  const call = <T>(body: () => Promise<T>): Promise<T> => told(collection.name, url, dimensions, body)
  return {
    stamps: () =>
      call(async () => {
        const stamps = new Map<string, string>()
        for (let offset = 0; ; offset += PAGE) {
          const { ids, metadatas } = await collection.get({ limit: PAGE, offset, include: ['metadatas'] })
          for (const [at, id] of ids.entries()) stamps.set(id, String(metadatas[at]?.['querent_stamp']))
          if (ids.length < PAGE) return stamps
        }
      }),
    put: records =>
      call(async () => {
        // Putting a record again would keep keys that it no longer has.
        await collection.delete({ ids: records.map(({ id }) => id) })
        const [heads, others] = [records.filter(hasDocument), records.filter(record => !hasDocument(record))]
        if (heads.length > 0) await collection.upsert({ ...asArgs(heads), documents: heads.map(head => head.document) })
        if (others.length > 0) await collection.upsert(asArgs(others))
      }),
    remove: ids => call(async () => void (await collection.delete({ ids: [...ids] }))),
  }
}

function hasDocument(record: MirrorRecord): record is MirrorRecord & { readonly document: string } {
  return record.document !== null
}

function asArgs(records: readonly MirrorRecord[]): { ids: string[]; embeddings: number[][]; metadatas: Metadata[] } {
  return {
    ids: records.map(({ id }) => id),
    embeddings: records.map(({ vector }) => [...vector]),
    metadatas: records.map(({ payload, tags }) => ({
      ...payload,
      ...Object.fromEntries(tags.map(tag => [`tag:${tag}`, true])),
    })),
  }
}

async function told<T>(name: string, url: string, dimensions: number, body: () => Promise<T>): Promise<T> {
  try {
    return await body()
  } catch (thrown) {
    throw chromaFailure(thrown, name, url, dimensions)
  }
}
