/** A Qdrant server as the place to mirror to. */
import type { QdrantClient } from '@qdrant/js-client-rest'
import type { MirrorCollection, MirrorTarget } from './mirror.ts'
import { type QdrantAddress, QdrantClients, qdrantFailure } from './qdrant-client.ts'

const BATCH = 200
const PAGE = 1_000
const TIMEOUT_MS = 60_000
/** Fields that questions narrow by, so that the server keeps an index of them. */
const INDEXED = [
  ['tags', 'keyword'],
  ['querent_date', 'integer'],
] as const

export function qdrantTarget(address: QdrantAddress): MirrorTarget {
  const clients = new QdrantClients(address)
  return {
    batch: BATCH,
    open: (name, label, dimensions) =>
      told(name, address.url, dimensions, async () => {
        const client = await clients.client(TIMEOUT_MS)
        const { exists } = await client.collectionExists(name)
        if (!exists) {
          await client.createCollection(name, {
            vectors: { size: dimensions, distance: 'Cosine' },
            metadata: { ...label },
          })
          for (const [field_name, field_schema] of INDEXED) {
            await client.createPayloadIndex(name, { field_name, field_schema, wait: true })
          }
        }
        return collectionThere(client, name, address.url, dimensions)
      }),
  }
}

function collectionThere(client: QdrantClient, name: string, url: string, dimensions: number): MirrorCollection {
  const call = <T>(body: () => Promise<T>): Promise<T> => told(name, url, dimensions, body)
  return {
    stamps: () =>
      call(async () => {
        const stamps = new Map<string, string>()
        let offset: string | number | undefined
        do {
          const page = await client.scroll(name, {
            limit: PAGE,
            with_payload: ['querent_stamp'],
            ...(offset === undefined ? {} : { offset }),
          })
          for (const { id, payload } of page.points) stamps.set(String(id), String(payload?.['querent_stamp']))
          const next = page.next_page_offset
          offset = typeof next === 'string' || typeof next === 'number' ? next : undefined
        } while (offset !== undefined)
        return stamps
      }),
    put: records =>
      call(async () => {
        const points = records.map(({ id, vector, document, tags, payload }) => ({
          id,
          vector: [...vector],
          payload: { ...payload, tags: [...tags], document },
        }))
        await client.upsert(name, { wait: true, points })
      }),
    remove: ids => call(async () => void (await client.delete(name, { wait: true, points: [...ids] }))),
  }
}

async function told<T>(name: string, url: string, dimensions: number, body: () => Promise<T>): Promise<T> {
  try {
    return await body()
  } catch (thrown) {
    throw qdrantFailure(thrown, name, url, dimensions)
  }
}
