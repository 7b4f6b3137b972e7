/** Mirrors a collection to a Qdrant server. */
import type { QdrantClient } from '@qdrant/js-client-rest'
import { RecordsRefused } from './failure.ts'
import type { MirrorCollection, MirrorTarget } from './mirror.ts'
import type { MirrorRecord } from './mirror-records.ts'
import { type MirrorLabel, RECORD_KEYS, type RecordThere, recordThere } from './mirrored.ts'
import { isMissing, type QdrantAddress, QdrantClients, qdrantFailure, reasonIn } from './qdrant-client.ts'

const BATCH = 200
const PAGE = 1_000
const TIMEOUT_MS = 60_000
/** Payload fields by which searches are filtered, for each of which the server is made to keep an index. */
const INDEXED = [
  ['tags', 'keyword'],
  ['querent_date', 'integer'],
] as const

export function qdrantTarget(address: QdrantAddress): MirrorTarget {
  const { url } = address
  const clients = new QdrantClients(address)
  return {
    batch: BATCH,
    find: (name, dimensions) =>
      failuresOf(name, url, dimensions, async () => {
        const client = await clients.client(TIMEOUT_MS)
        const label = await labelOf(client, name)
        return label === null ? null : collectionThere(client, name, label, url, dimensions)
      }),
    open: (name, label, dimensions) =>
      failuresOf(name, url, dimensions, async () => {
        const client = await clients.client(TIMEOUT_MS)
        const known = await labelOf(client, name)
        if (known === null) {
          const vectors = { size: dimensions, distance: 'Cosine' } as const
          await client.createCollection(name, { vectors, metadata: { ...label } })
        }
        // The indexes are also created for an existing collection, since the run that created the collection may have been interrupted
        // before this.
        for (const [field_name, field_schema] of INDEXED) {
          await client.createPayloadIndex(name, { field_name, field_schema, wait: true })
        }
        return collectionThere(client, name, known ?? label, url, dimensions)
      }),
  }
}

/**
 * Label (metadata) of a collection in Qdrant; null: there is no such collection. Servers before version 1.16 keep no label, so there only
 * the records name the store.
 */
async function labelOf(client: QdrantClient, name: string): Promise<Partial<MirrorLabel> | null> {
  try {
    return (await client.getCollection(name)).config?.metadata ?? {}
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}

function collectionThere(
  client: QdrantClient,
  name: string,
  label: Partial<MirrorLabel>,
  url: string,
  dimensions: number,
): MirrorCollection {
  const call = <T>(body: () => Promise<T>): Promise<T> => failuresOf(name, url, dimensions, body)
  return {
    label,
    records: () =>
      call(async () => {
        const records = new Map<string, RecordThere>()
        let offset: string | number | undefined
        do {
          const page = await client.scroll(name, {
            limit: PAGE,
            with_payload: [...RECORD_KEYS],
            ...(offset === undefined ? {} : { offset }),
          })
          for (const { id, payload } of page.points) records.set(String(id), recordThere(payload ?? {}))
          const next = page.next_page_offset
          offset = typeof next === 'string' || typeof next === 'number' ? next : undefined
        } while (offset !== undefined)
        return records
      }),
    put: records => call(() => put(client, name, records)),
    remove: ids => call(async () => void (await client.delete(name, { wait: true, points: [...ids] }))),
  }
}

async function put(client: QdrantClient, name: string, records: readonly MirrorRecord[]): Promise<void> {
  const points = records.map(({ id, vector, document, tags, payload }) => ({
    id,
    vector: [...vector],
    payload: { ...payload, tags: [...tags], document },
  }))
  try {
    await client.upsert(name, { wait: true, points })
  } catch (thrown) {
    throw isRefusal(thrown) ? new RecordsRefused(reasonIn(thrown), thrown) : thrown
  }
}

/** A vector of the wrong size is no refusal of the record, since it concerns the whole collection. */
function isRefusal(thrown: unknown): boolean {
  const { status } = thrown as { readonly status?: unknown }
  return (status === 400 || status === 413 || status === 422) && !/expected dim/i.test(reasonIn(thrown))
}

async function failuresOf<T>(name: string, url: string, dimensions: number, body: () => Promise<T>): Promise<T> {
  try {
    return await body()
  } catch (thrown) {
    throw qdrantFailure(thrown, name, url, dimensions)
  }
}
